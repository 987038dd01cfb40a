// Values of the API as a shop says them.

import { statusWord, words } from "../format.js";

export const paymentWord = (state) => words(state === "PENDING" ? "NOT_PAID" : state);
export const repWord = (id) => String(id ?? "").replace(/^emp_/, "");

// The value of a field of an order, a product or a filter.
export const valueWord = (name, value) => {
  const say = { status: statusWord, paymentStatus: paymentWord, salesRepId: repWord }[name.split(".").at(-1)];
  if (typeof value === "boolean") return value ? "Yes" : "No";
  return say?.(value) ?? (/^[A-Z_]{4,}$/.test(value) ? words(value) : String(value));
};
