// The first requests of docs/api.md, with a client of openapi-generator for Java.
package org.openapitools.client;

import org.openapitools.client.api.OrdersApi;
import org.openapitools.client.api.ProductsApi;
import org.openapitools.client.model.CreateOrder;
import org.openapitools.client.model.CreateProduct;
import org.openapitools.client.model.LineItemInput;
import org.openapitools.client.model.Product;

public class PlaceOrder {
    public static void main(String[] arguments) throws ApiException {
        ApiClient shop = Configuration.getDefaultApiClient();
        shop.setBearerToken("key");
        Product product =
            new ProductsApi(shop).createProduct(new CreateProduct().name("Linen shirt"), null);
        String variant = product.getVariants().get(0).getId();
        LineItemInput line = new LineItemInput().variantId(variant).quantity(2);
        new OrdersApi(shop).createOrder(new CreateOrder().addLineItemsItem(line), "receipt-1");
    }
}
