// The first requests of docs/api.md, with a client of openapi-generator for Go.
package main

import (
	"context"

	openapi "github.com/GIT_USER_ID/GIT_REPO_ID"
)

func main() {
	ctx := context.WithValue(context.Background(), openapi.ContextAccessToken, "key")
	shop := openapi.NewAPIClient(openapi.NewConfiguration())
	product, _, err := shop.ProductsAPI.CreateProduct(ctx).CreateProduct(*openapi.NewCreateProduct("Linen shirt")).Execute()
	if err != nil {
		panic(err)
	}
	line := openapi.NewLineItemInput(2)
	line.SetVariantId(product.GetVariants()[0].GetId())
	order := openapi.NewCreateOrder([]openapi.LineItemInput{*line})
	if _, _, err := shop.OrdersAPI.CreateOrder(ctx).CreateOrder(*order).IdempotencyKey("receipt-1").Execute(); err != nil {
		panic(err)
	}
}
