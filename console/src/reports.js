// The script of reports.

import style from "./reports.css" with { type: "text" };
import { addStyle } from "./parts/style.js";

export { show as reports } from "./pages/reports.js";

addStyle(style);
