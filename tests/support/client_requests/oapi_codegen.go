// The first requests of docs/api.md, with a client of oapi-codegen.
package main

import (
	"context"
	"net/http"

	"example.org/shop/api"
)

func main() {
	authorize := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer key")
		return nil
	}
	shop, err := api.NewClientWithResponses("https://shop.example.org/api", api.WithRequestEditorFn(authorize))
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	product, err := shop.CreateProductWithResponse(ctx, nil, api.CreateProduct{Name: "Linen shirt"})
	if err != nil || product.JSON201 == nil {
		panic(err)
	}
	order := api.CreateOrder{
		LineItems: []api.LineItemInput{{VariantId: &product.JSON201.Variants[0].Id, Quantity: 2}},
	}
	if _, err := shop.CreateOrderWithResponse(ctx, nil, order); err != nil {
		panic(err)
	}
}
