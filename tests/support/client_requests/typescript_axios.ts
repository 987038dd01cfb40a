// The first requests of docs/api.md, with a client of openapi-generator's typescript-axios.
import { Configuration, OrdersApi, ProductsApi } from "./typescript-axios";

export async function placeOrder(address: string, key: string) {
  const shop = new Configuration({ basePath: address, accessToken: key });
  const product = await new ProductsApi(shop).createProduct({ name: "Linen shirt", price: "49.90" });
  await new ProductsApi(shop).createProducts([{ name: "Cup" }], "upsert");
  const lineItems = [{ variantId: product.data.variants[0]?.id, quantity: 2 }];
  return new OrdersApi(shop).createOrder({ lineItems }, "receipt-1");
}
