// The script of the pages about stock.

export { show as count } from "./pages/count.js";
export { show as counts } from "./pages/counts.js";
export { show as "low-stock" } from "./pages/low-stock.js";
export { show as receive } from "./pages/receive.js";
