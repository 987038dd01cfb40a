// How an import ended, as a badge says it.

import { plural } from "../format.js";

// Completed with rows that failed is not simply good.
export const outcome = ({ status, failed }) =>
  status === "COMPLETED" && failed > 0
    ? ["PARTLY", `Completed with ${plural(failed, "error")}`]
    : [status];
