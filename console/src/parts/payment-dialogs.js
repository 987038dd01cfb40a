// What is done with the money of an order: each act is a dialog.

import { h, replace } from "../dom.js";
import { amountOf, decimal } from "./amount.js";
import { TIMEZONE } from "../facts.js";
import { money, plural, statusWord, whole, words } from "../format.js";
import { dialogForm, previewed } from "./dialog-form.js";
import { field, optionsOf, values, wrong } from "./form.js";
import { isCash, methodPicks } from "./method.js";
import { once } from "./once.js";
import { coded, METHODS, mayClose, NOT_SHIPPED } from "./order.js";
import { shortage } from "./shortage.js";
import { momentOf } from "./zone.js";

const PAUSE = 250; // milliseconds without a key before the change is asked for
const REASONS = ["RETURNED", "DAMAGED", "GOODWILL", "OTHER"];
const balanceInWords = (balance) =>
  Number(balance) < 0 ? `${money(balance.replace("-", ""))} owed to the customer` : `${money(balance)} due`;
// The events that connected systems get, in a shop's words.
const EVENT_WORDS = { "order.updated": "order changed", "refund.created": "refund made" };
const eventWords = (event) => EVENT_WORDS[event] ?? event.replaceAll(".", " ");

export function paymentDialogs(visit, record) {
  const { data: order, path } = record;
  const due = Number(order.balanceDue);
  const net = Number((Number(order.amountPaid) - Number(order.amountRefunded)).toFixed(4));
  const { deposit } = order;
  const isBegun = Number(order.amountPaid) > 0;
  return { take, keep, undoPayment, correct, close, giveBack };

  async function send(rest, { body, success, key }) {
    const asked = { body, ifMatch: record.etag, idempotencyKey: key, success };
    try {
      record.take(await visit.send("POST", `${path}/${rest}`, asked));
    } catch (refusal) {
      if (refusal.status !== 412) throw refusal;
      await record.load();
      const { amountPaid, amountRefunded, balanceDue } = record.data;
      throw new Error(
        "This was not recorded: the order was changed meanwhile, perhaps by your last try. " +
          `Now ${money(amountPaid)} is paid, ${money(amountRefunded)} refunded and ${balanceInWords(balanceDue)}.`,
      );
    }
  }

  function take() {
    const key = once();
    const isDeposit = deposit && !isBegun && Number(deposit.amount) < due; // an edit may lower the total
    const first = isDeposit ? deposit.amount : order.balanceDue;
    const change = h.p({ class: "strong", role: "status" });
    const over = field({ name: "allowOverpayment", label: "Take more than is due", type: "checkbox" });
    const given = field({ name: "tendered", label: "Cash received", inputmode: "decimal", hint: "Shows the change." });
    over.hidden = given.hidden = true;
    let most = due;
    const node = dialogForm(visit, `Take payment · ${money(first)} ${isDeposit ? "deposit" : "due"}`, {
      fields: [
        field({ name: "amount", value: first, inputmode: "decimal" }),
        methodPicks(visit, { name: "method", wide: true }),
        given,
        field({ name: "receivedAt", label: "Received", type: "datetime-local", hint: `Blank: now. Time zone: ${TIMEZONE}.` }),
        field({ name: "reference", placeholder: "Receipt or transfer" }),
        over,
        change,
      ],
      submit: "Take payment",
      async save(typed) {
        const method = coded(typed.method);
        if (!method) throw wrong("method", "must be chosen");
        const body = {
          amount: amountOf(typed.amount) || first,
          method,
          ...(isCash(method) && typed.tendered.trim() && { tendered: amountOf(typed.tendered) }),
          ...(typed.receivedAt && { receivedAt: momentOf(typed.receivedAt) }),
          ...(typed.reference.trim() && { reference: typed.reference.trim() }),
          ...(typed.allowOverpayment && { allowOverpayment: true }),
        };
        await send("payments", { body, key: key(body), success: receipt }).catch(explain);
      },
    });
    visit.listen(node, "input", () => {
      const { amount, method } = values(node);
      given.hidden = !isCash(method);
      over.hidden = !(Number(decimal(amount) || first) > most);
      if (over.hidden) node.elements.allowOverpayment.checked = false;
      visit.after(PAUSE, "change", showChange);
    });
    node.elements.amount.select();

    // As the API says it. Nothing while the cash is less than the amount.
    async function showChange() {
      const { amount, tendered, method } = values(node);
      const mine = visit.latest("change");
      if (!isCash(method) || !tendered.trim()) return replace(change);
      const cash = { method: "CASH", amount: amountOf(amount) || first, tendered: amountOf(tendered) };
      const body = { ...cash, allowOverpayment: true, dryRun: true };
      try {
        const { data } = await visit.send("POST", `${path}/payments`, { body, signal: mine });
        return replace(change, `Change ${money(data.payments[0].change)}`);
      } catch {
        return mine.aborted || replace(change);
      }
    }

    function receipt({ payments }) {
      const { amount, change: back } = payments.at(-1);
      return `${money(amount)} received${Number(back) > 0 ? `, ${money(back)} change` : ""}.`;
    }

    function explain(refusal) {
      if (refusal.code !== "overpaid") throw refusal;
      most = Number(refusal.body.balanceDue);
      over.hidden = false;
      throw new Error(`This is too much: ${balanceInWords(refusal.body.balanceDue)}. Check the amount, or take more than is due.`);
    }
  }

  // Of a cancelled order: what is not given back.
  function keep() {
    const amount = Number(order.retained) > 0 ? order.retained : (order.deposit?.amount ?? "");
    dialogForm(visit, `Keep a deposit · ${money(String(net))} paid and not refunded`, {
      fields: field({
        name: "retained",
        label: "Amount to keep",
        value: amount,
        inputmode: "decimal",
        hint: "The rest is then owed to the customer. 0 keeps nothing.",
      }),
      submit: "Save",
      async save({ retained }) {
        await record.change({ retained: amountOf(retained) }, "The amount to keep was saved.");
      },
    });
  }

  function undoPayment(payment) {
    const key = once();
    dialogForm(visit, `Void ${money(payment.amount)}?`, {
      intro: h.p("For money that never came. To give money back, refund it."),
      fields: field({ name: "reason", wide: true }),
      submit: "Void payment",
      async save({ reason }) {
        const body = reason.trim() ? { reason: reason.trim() } : {};
        const rest = `payments/${encodeURIComponent(payment.id)}/void`;
        await send(rest, { body, key: key(body), success: "Payment voided." });
      },
      then: offerClosing,
    });
  }

  function correct({ id, amount, method: before }) {
    const key = once();
    dialogForm(visit, `How ${money(amount)} came`, {
      intro: h.p(`It is recorded as ${words(before).toLowerCase()}.`),
      fields: methodPicks(visit, { name: "method", wide: true }),
      submit: "Correct method",
      async save({ method }) {
        const body = { method: coded(method) };
        if (!body.method) throw wrong("method", "must be chosen");
        const rest = `payments/${encodeURIComponent(id)}/correct`;
        await send(rest, { body, key: key(body), success: "Method corrected." });
      },
    });
  }

  // The order that a payment confirmed stands without it.
  async function offerClosing() {
    const { status, balanceDue, deposit: agreed } = record.data;
    if (status === "PENDING" || agreed?.isReached || !(Number(balanceDue) > 0) || !mayClose(record.data)) return;
    const text = `It is ${statusWord(status).toLowerCase()}, and ${money(balanceDue)} is due again.`;
    if (await visit.ask({ title: "Close this order?", text, yes: "Close order", no: "Keep it open" }))
      paymentDialogs(visit, record).close();
  }

  // Ends the order. What is kept, what goes back and what returns is shown before it is done.
  function close() {
    const key = once();
    const methods = order.payments.filter(({ voidedAt }) => !voidedAt).map(({ method }) => method);
    const ways = [...new Set([...methods, ...METHODS])];
    const isShipped = !NOT_SHIPPED.includes(order.status);
    const post = (body, more) => visit.send("POST", `${path}/close`, { body, ...more });
    const { node, later } = previewed(visit, `Close order #${order.number}`, {
      hint: "What happens is shown here.",
      fields: [
        net > 0 && field({ name: "keep", label: "Amount to keep", value: order.kept ?? "0", inputmode: "decimal", hint: `Of ${money(String(net))}. The rest goes back.` }),
        net > 0 && field({ name: "method", label: "Goes back by", options: [["", "As it was paid"], ...optionsOf(ways)] }),
        field({ name: "reason", wide: true, required: true }),
        !isShipped && field({ name: "restock", label: "Put the pieces back in stock", type: "checkbox", value: true }),
      ],
      submit: "Close order",
      asked() {
        const { keep = "", method, reason, restock = false } = values(node);
        return {
          ...(keep.trim() && { keep: amountOf(keep) }),
          ...(method && { method }),
          reason: reason.trim(),
          restock,
        };
      },
      isBlank: () => false,
      trial: (body) => post({ ...body, reason: body.reason || "Preview", dryRun: true }),
      inWords({ refunds, kept, restocks, work, statusAfter, events }) {
        const back = refunds.map(({ amount, method }) => `${money(amount)} back by ${words(method).toLowerCase()}`);
        const pieces = restocks.reduce((all, { quantity }) => all + quantity, 0);
        const ends = refunds.length > 0 ? `Refund ${refunds.map(({ amount }) => money(amount)).join(" and ")}, and close` : "Close order";
        replace(node.querySelector("button.main"), ends);
        return [
          Number(kept) > 0 && `${money(kept)} kept`,
          ...back,
          pieces > 0 && `${plural(pieces, "piece")} to the stock`,
          work?.length > 0 && `${plural(work.length, "piece")} of work stopped`,
          statusAfter === order.status ? `stays ${statusWord(order.status).toLowerCase()}, closed` : statusWord(statusAfter),
          `connected systems are told: ${events.map(eventWords).join(", ")}`,
        ]
          .filter(Boolean)
          .join(" · ");
      },
      act: async (body) => {
        if (!body.reason) throw wrong("reason", "is required");
        await send("close", { body, key: key(body), success: "Order closed." });
      },
    });
    later();
  }

  // What the API says it would do is shown before it is done, and is what is sent.
  function giveBack() {
    const key = once();
    const left = order.lineItems.filter((line) => line.quantity > (line.refundedQuantity ?? 0));
    const counted = order.payments.filter(({ voidedAt }) => !voidedAt);
    const methods = [...new Set(counted.map(({ method }) => method))];
    const { node } = previewed(visit, `Refund order #${order.number}`, {
      hint: "Choose items, or enter an amount.",
      fields: [
        left.map((line, at) =>
          field({
            name: `lines.${at}.quantity`,
            label: `${line.title}: pieces of ${line.quantity - (line.refundedQuantity ?? 0)}`,
            value: "0",
            inputmode: "numeric",
            wide: true,
          }),
        ),
        field({ name: "restock", label: "Put the pieces back in stock", type: "checkbox", value: NOT_SHIPPED.includes(order.status) }),
        field({ name: "amount", inputmode: "decimal", hint: "Leave blank for what the items cost." }),
        field({ name: "method", label: "Payment method", options: optionsOf(methods) }),
        field({ name: "reason", options: optionsOf(REASONS) }),
        field({ name: "note" }),
      ],
      submit: "Refund",
      asked,
      isBlank: (body) => !body.lines && !body.amount,
      trial: (body) => placed(body, visit.send("POST", `${path}/refunds`, { body: { ...body, dryRun: true } })),
      inWords({ amount, tax, restocks, balanceAfter }) {
        const pieces = restocks.reduce((all, { quantity }) => all + quantity, 0);
        replace(node.querySelector("button.main"), `Refund ${money(amount)}`);
        return [
          `${money(amount)} goes back`,
          Number(tax) > 0 && `of it ${money(tax)} tax`,
          pieces > 0 && `${plural(pieces, "piece")} to the stock`,
          `${balanceInWords(balanceAfter)} afterwards`,
        ]
          .filter(Boolean)
          .join(" · ");
      },
      act: (body) => placed(body, send("refunds", { body, key: key(body), success: refunded })),
    });

    const refunded = ({ refunds }) => `${money(refunds.at(-1).amount)} refunded.`;

    // An error names a line of those that are sent; the fields are of all that are left.
    async function placed({ lines }, answer) {
      try {
        return await answer;
      } catch (refusal) {
        const at = ({ lineItemId }) => left.findIndex(({ id }) => id === lineItemId);
        const own = (name) => name.replace(/(?<=^lines\.)\d+/, (place) => at(lines[place]));
        const few = shortage(refusal, (line) => `lines.${at(line)}.quantity`, "left");
        refusal.errors = few ?? refusal.errors?.map((error) => ({ ...error, field: own(error.field) }));
        throw refusal;
      }
    }

    function asked() {
      const typed = values(node);
      const pieces = (at) => decimal(typed[`lines.${at}.quantity`]);
      const lines = left
        .map(({ id }, at) => ({ lineItemId: id, quantity: whole(pieces(at)), restock: typed.restock }))
        .filter(({ quantity }) => quantity !== 0 && quantity !== "");
      return {
        ...(lines.length > 0 && { lines }),
        ...(typed.amount.trim() && { amount: amountOf(typed.amount) }),
        method: typed.method,
        reason: typed.reason,
        ...(typed.note.trim() && { note: typed.note.trim() }),
      };
    }
  }
}
