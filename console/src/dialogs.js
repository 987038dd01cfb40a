// The script of dialogs that most visits do not open.

export { bulkEdit, bulkForm } from "./parts/bulk-edit.js";
export { exportDialog } from "./parts/export.js";
export { paymentDialogs } from "./parts/payment-dialogs.js";
