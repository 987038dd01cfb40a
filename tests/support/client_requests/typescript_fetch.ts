// The first requests of docs/api.md, with a client of openapi-generator's typescript-fetch.
import { Configuration, OrdersApi, ProductsApi } from "./typescript-fetch";

export async function placeOrder(address: string, key: string) {
  const shop = new Configuration({ basePath: address, accessToken: key });
  const product = await new ProductsApi(shop).createProduct({
    createProduct: { name: "Linen shirt", price: "49.90" },
  });
  await new ProductsApi(shop).createProducts({
    createProductsInner: [{ name: "Cup" }],
    mode: "upsert",
  });
  return new OrdersApi(shop).createOrder({
    createOrder: { lineItems: [{ variantId: product.variants[0]?.id, quantity: 2 }] },
    idempotencyKey: "receipt-1",
  });
}
