// The script of the pages of one order or customer.

import style from "./records.css" with { type: "text" };
import { addStyle } from "./parts/style.js";

export { show as customer } from "./pages/customer.js";
export { show as "new-order" } from "./pages/new-order.js";
export { show as order } from "./pages/order.js";

addStyle(style);
