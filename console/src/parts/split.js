// The payments of an order that is entered by hand: several methods, and a deposit.

import { button, h, replace } from "../dom.js";
import { amountOf, decimal } from "./amount.js";
import { methodField } from "./choice.js";
import { field } from "./form.js";
import { coded } from "./order.js";

// `changed`: called with how many payments there are.
export function splitPayment({ visit, changed }) {
  let rows = [];
  const node = h.div({ class: "stack even" });
  const deposit = field({
    name: "deposit",
    label: "Deposit",
    inputmode: "decimal",
    hint: "An amount, or a share such as 30 %. The order begins when it is paid.",
  });

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
    node: h.div({ class: "stack even" }, node, deposit),
    // The fields of the order: an error of one names its input.
    read(typed) {
      const text = typed.deposit.trim();
      const share = /^(.*)%$/.exec(text);
      const payments = rows.map(read).map(({ amount, method }) => ({
        amount: amountOf(amount),
        method: coded(method) || null,
      }));
      return {
        ...(payments.length > 0 && { payments }),
        ...(text && { deposit: share ? { percent: decimal(share[1]) } : { amount: amountOf(text) } }),
      };
    },
  };
}
