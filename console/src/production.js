// The script of what is made to order: the board, what is due; and the part of an order's page.

import style from "./board.css" with { type: "text" };
import { addStyle } from "./parts/style.js";

export { drawWork } from "./parts/work.js";
export { show as due } from "./pages/due.js";
export { show as production } from "./pages/production.js";

addStyle(style);
