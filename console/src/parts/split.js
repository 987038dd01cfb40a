// Several payments of an order that is entered by hand, such as a part in cash.

import { button, h, replace } from "../dom.js";
import { amountOf } from "./amount.js";
import { methodField } from "./choice.js";
import { field, wrong } from "./form.js";
import { coded } from "./order.js";

// `changed`: called with how many payments there are.
export function splitPayment({ visit, changed }) {
  let rows = [];
  const node = h.div({ class: "stack even" });

  function draw() {
    const typed = rows.map(read);
    rows = typed.map(({ amount, method }, at) =>
      h.div(
        { class: "actions", role: "group", "aria-label": `Payment ${at + 1}` },
        field({ name: `payments.${at}.amount`, label: "Amount", value: amount, inputmode: "decimal" }),
        methodField(visit, { name: `payments.${at}.method`, label: "Method", value: method }),
        button("Remove", () => remove(at), { class: "small quiet", "aria-label": `Remove payment ${at + 1}` }),
      ),
    );
    const text = rows.length === 0 ? "Split the payment" : "Add a payment";
    replace(node, rows, button(text, add, { class: "small" }));
    changed(rows.length);
  }

  function read(row) {
    if (row instanceof Node === false) return row;
    const [amount, method] = row.querySelectorAll("input");
    return { amount: amount.value, method: method.value };
  }

  function add() {
    rows.push({ amount: "", method: "" });
    draw();
    rows.at(-1).querySelector("input").focus();
  }

  function remove(at) {
    rows.splice(at, 1);
    draw();
    node.lastElementChild.focus();
  }

  draw();
  return {
    node,
    kept: () => rows.map(read),
    restore(typed) {
      rows = typed;
      draw();
    },
    // As the API takes them: an error of one names its input. `isSure`: each has a method.
    read: (isSure) =>
      rows.map(read).map(({ amount, method }, at) => {
        if (isSure && !method.trim()) throw wrong(`payments.${at}.method`, "must be chosen");
        return { amount: amountOf(amount), method: coded(method) || null };
      }),
  };
}
