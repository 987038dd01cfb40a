// The script of the lists that are opened most.

export { show as customers } from "./pages/customers.js";
export { show as orders } from "./pages/orders.js";
export { show as products } from "./pages/products.js";
