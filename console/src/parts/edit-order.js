// Editing the items and amounts of an order. What the API says would change is shown before it is done.

import { h } from "../dom.js";
import { amountOf, decimal } from "./amount.js";
import { money, whole } from "../format.js";
import { previewed } from "./dialog-form.js";
import { field, values } from "./form.js";
import { madeFields } from "./made.js";
import { once } from "./once.js";
import { discountOf, orderLines } from "./order-lines.js";
import { shortage } from "./shortage.js";

// `left`: pieces that were scanned while the edit before this one was saved.
export function editItems(visit, record, left = []) {
  const { data: order, path, etag } = record;
  const key = once();
  const amount = (name, value, more) => field({ name, value, inputmode: "decimal", ...more });
  const off = order.discount;
  const had = off ? (off.percent === null ? off.amount : `${off.percent} %`) : "";
  const added = orderLines(visit, { label: "Add a product", changed: () => later() });
  const { find } = added;
  const made = order.lineItems.map((line, at) => madeFields({ line, name: (each) => `change.${at}.${each}`, of: line.title, oninput: () => later() }));
  // Offered when the workshop has begun.
  const unlock = field({ name: "unlock", label: "The workshop has begun: change it anyway", type: "checkbox", wide: true });
  unlock.hidden = true;
  const { node, later } = previewed(visit, `Edit order #${order.number}`, {
    hint: "Change an item or an amount.",
    fields: [
      order.lineItems.map(({ title, quantity, price }, at) =>
        h.div(
          { class: "whole fields" },
          field({
            name: `change.${at}.quantity`,
            label: `Quantity of ${title}`,
            value: String(quantity),
            inputmode: "numeric",
            hint: "0 removes it.",
          }),
          amount(`change.${at}.price`, price, { label: `Price of ${title}` }),
          h.div({ class: "whole" }, made[at].open, made[at].node),
        ),
      ),
      h.div({ class: "whole" }, added.nodes),
      amount("discount", had, { placeholder: "5.00 or 10 %", inputmode: "text" }),
      amount("shipping", order.shipping),
      amount("tax", "", { hint: `${money(order.tax)} now.` }),
      field({ name: "reason", wide: true, required: true }),
      unlock,
    ],
    submit: "Save changes",
    asked,
    isBlank: (body) => Object.keys(body).every((name) => ["reason", "unlock"].includes(name)),
    async ready() {
      await find.settled();
      if (find.missed()) throw new Error("A product that was searched for is not added. Add or dismiss it first.");
    },
    trial: (body) => post({ ...body, reason: body.reason || "Preview", dryRun: true }),
    inWords,
    because({ body, message }) {
      return body?.proposed ? `Enter the tax: in proportion it is ${money(body.proposed)}.` : message;
    },
    async act(body) {
      const before = added.pieces();
      record.take(await post(body, { idempotencyKey: key(body), success: "Order changed." }));
      await find.settled();
      const since = added.since(before);
      if (since.length > 0) editItems(visit, record, since);
    },
  });
  for (const { piece, more } of left) added.add(piece).quantity.value = String(more);
  // Only what differs from the order.
  function asked() {
    const typed = values(node);
    const change = order.lineItems
      .map(({ id, quantity, price }, at) => {
        const pieces = whole(typed[`change.${at}.quantity`].trim());
        const cost = amountOf(typed[`change.${at}.price`]);
        return {
          lineItemId: id,
          ...(pieces !== quantity && { quantity: pieces }),
          ...(cost && cost !== price && { price: cost }),
          ...made[at].changes(),
        };
      })
      .filter((line) => Object.keys(line).length > 1);
    const add = added.read();
    const less = typed.discount.trim();
    const discount = Number(decimal(less)) === 0 ? null : { ...discountOf(less), reason: off?.reason ?? null };
    const shipping = amountOf(typed.shipping) || amountOf("0");
    return {
      ...(change.length > 0 && { change }),
      ...(add.length > 0 && { add }),
      ...(less !== had && { discount }),
      ...(shipping !== order.shipping && { shipping }),
      ...(typed.tax.trim() && { tax: amountOf(typed.tax) }),
      ...(typed.unlock && { unlock: true }),
      reason: typed.reason.trim(),
    };
  }

  // The fields of the dialog have the names of the order's lines, and of new ones.
  async function post(body, more = {}) {
    try {
      return await visit.send("POST", `${path}/edit`, { body, ifMatch: etag, ...more });
    } catch (refusal) {
      if (refusal.status === 412) {
        await record.load();
        throw new Error("This order was changed meanwhile. Nothing was saved: close this, and look at it again.");
      }
      if (refusal.code === "spec_locked") {
        unlock.hidden = false;
        refusal.message = "The workshop has begun to make this.";
      }
      if (refusal.code === "tax_required")
        refusal.errors = [{ field: "tax", message: `is required. In proportion it is ${refusal.body.proposed}` }];
      const whole = (line) => order.lineItems.findIndex(({ id }) => id === line);
      const changed = ({ variantId }) =>
        order.lineItems.findIndex((line) => line.variantId === variantId && body.change?.some((each) => each.lineItemId === line.id));
      const short = (line) => (changed(line) < 0 ? added.fieldOf(line) : `change.${changed(line)}.quantity`);
      refusal.errors = shortage(refusal, short) ?? refusal.errors?.map((error) => {
        const [, place, rest] = /^change\.(\d+)\.(.+)$/.exec(error.field) ?? [];
        if (place === undefined) return { ...error, field: error.field.replace(/^add\./, "lineItems.") };
        return { ...error, field: `change.${whole(body.change[place].lineItemId)}.${rest}` };
      });
      throw refusal;
    }
  }

  function inWords({ before, after }) {
    const balance = Number(after.balanceDue);
    const rest = money(after.balanceDue.replace("-", ""));
    return [
      before.total === after.total ? `Total ${money(after.total)}` : `Total ${money(before.total)} → ${money(after.total)}`,
      balance > 0 ? `${rest} to pay` : balance < 0 ? `${rest} to refund` : "nothing to pay",
    ].join(" · ");
  }
}
