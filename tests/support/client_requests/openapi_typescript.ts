// The first requests of docs/api.md, with the types of openapi-typescript.
import type { components, paths } from "./api";

type Body<Path extends keyof paths> = paths[Path] extends {
  post: { requestBody: { content: { "application/json": infer Sent } } };
}
  ? Sent
  : never;

const product: Body<"/api/admin/products"> = {
  name: "Linen shirt",
  price: "49.90",
  variants: [{ title: "S", sku: "LIN-S", stock: 12 }],
};
const order: Body<"/api/admin/orders"> = {
  customer: { email: "ada@example.com" },
  lineItems: [{ variantId: "var_1", quantity: 2 }],
};
const rows: Body<"/api/admin/products/bulk"> = [product, { externalId: "4711", price: 5 }];
const webhook: Body<"/api/admin/webhooks"> = {
  url: "https://erp.example.com/hook",
  events: ["order.paid"],
};
const answered: components["schemas"]["Order"]["status"][] = ["PAID"];

export { answered, order, product, rows, webhook };
