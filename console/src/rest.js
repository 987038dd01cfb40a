// The script of all other pages.

import style from "./rest.css" with { type: "text" };
import { addStyle } from "./parts/style.js";

export { show as deliveries } from "./pages/deliveries.js";
export { show as delivery } from "./pages/delivery.js";
export { show as imports } from "./pages/imports.js";
export { show as job } from "./pages/job.js";
export { show as jobs } from "./pages/jobs.js";
export { show as keys } from "./pages/keys.js";
export { show as nowhere } from "./pages/nowhere.js";
export { show as shipments } from "./pages/shipments.js";
export { show as webhook } from "./pages/webhook.js";
export { show as webhooks } from "./pages/webhooks.js";

addStyle(style);
