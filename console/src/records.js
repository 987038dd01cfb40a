// The script of the pages of one order, product or customer.

export { show as customer } from "./pages/customer.js";
export { show as "new-order" } from "./pages/new-order.js";
export { show as order } from "./pages/order.js";
export { show as product } from "./pages/product.js";
