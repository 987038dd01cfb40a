// Values of the API as a shop says them.

import { statusWord, words } from "../format.js";
import { who } from "../session.js";
import { repOf } from "./order.js";

export const paymentWord = (state) => words({ PENDING: "NOT_PAID", PARTIALLY_PAID: "PARTLY_PAID" }[state] ?? state);
// A rep is the name of a key, as far as an id has it: emp_Ann-Lee → Ann Lee.
export const repWord = (id) => (id && id === repOf(who().name) ? who().name : String(id ?? "").replace(/^emp_/, "").replaceAll("-", " "));

// The value of a field of an order, a product or a filter.
export const valueWord = (name, value) => {
  const say = { status: statusWord, paymentStatus: paymentWord, salesRepId: repWord }[name.split(".").at(-1)];
  if (typeof value === "boolean") return value ? "Yes" : "No";
  return say?.(value) ?? (/^[A-Z_]{4,}$/.test(value) ? words(value) : String(value));
};
