// The script of the pages about products and their stock, and of others that have rows to fill in.

import style from "./stock.css" with { type: "text" };
import { addStyle } from "./parts/style.js";

export { show as carriers } from "./pages/carriers.js";
export { show as count } from "./pages/count.js";
export { show as counts } from "./pages/counts.js";
export { show as "low-stock" } from "./pages/low-stock.js";
export { show as product } from "./pages/product.js";
export { show as receive } from "./pages/receive.js";
export { show as stages } from "./pages/stages.js";

addStyle(style);
