// What of an order has left the shop, and what is still to ship.

import { button, h, replace } from "../dom.js";
import { dateTime, money, number, plural, whole } from "../format.js";
import { badge } from "./badge.js";
import { dialogForm } from "./dialog-form.js";
import { clearErrors, field, values, wrong } from "./form.js";
import { announce } from "./notice.js";
import { once } from "./once.js";
import { numbersOf } from "./order.js";
import { card } from "./page.js";
import { listenForScans } from "./scanner.js";
import { table } from "./table.js";
import { may } from "../session.js";

const SHIPPABLE = ["PAID", "IN_PRODUCTION", "PROCESSING"];
const MOST_PARCELS = 20;
const stateOf = ({ cancelledAt, deliveredAt }) => (cancelledAt ? "CANCELLED" : deliveredAt ? "DELIVERED" : "SHIPPED");

// `take`: asks for what is due; `print(what)`: prints the page as that.
export function shipmentsOf(visit, record, { take, print }) {
  const { data: order, path } = record;
  const left = order.lineItems.filter(({ toShip }) => toShip > 0);
  const counted = order.shipments.filter(({ cancelledAt }) => !cancelledAt);
  const isOpen = may("STAFF") && !order.closedAt && SHIPPABLE.includes(order.status);
  return { mayShip: isOpen && left.length > 0, ship, handOver, card: shown };

  async function send(method, rest, { body, key, success }) {
    const asked = { body, ifMatch: record.etag, idempotencyKey: key, success };
    try {
      record.take(await visit.send(method, `${path}/${rest}`, asked));
    } catch (refusal) {
      if (refusal.status !== 412) throw refusal;
      await record.load();
      throw new Error("This was not done: the order was changed meanwhile, perhaps by your last try. The page shows it as it is now.");
    }
  }

  function ship() {
    const isFirst = counted.length === 0;
    const known = isFirst ? { ...order, ...record.unsaved }.trackingNumber : "";
    const parcels = h.div({ class: "stack tight whole" });
    parcels.append(parcel(known));
    const { node } = leave(`Ship order #${order.number}`, "Ship", {
      fields: [field({ name: "carrier", maxlength: "50", list: "carriers" }), h.datalist({ id: "carriers" }), parcels],
      read: (typed) => ({
        method: "PARCEL",
        carrier: typed.carrier.trim() || null,
        parcels: numbers().map((trackingNumber) => ({ trackingNumber })),
      }),
      // What was typed in Details is saved, too. A number that was cleared is no parcel's.
      async before() {
        const isCleared = isFirst && order.trackingNumber && numbers().length === 0;
        if (isCleared || Object.keys(record.unsaved).length > 0) await record.act(isCleared ? { trackingNumber: null } : {});
      },
    });
    visit.get("admin/settings/shipping").then(({ data }) => {
      replace(node.querySelector("datalist"), data.carriers.map(({ name }) => h.option({ value: name })));
    }, () => {}); // or it is typed

    function numbers() {
      return [...parcels.querySelectorAll("input")].map((each) => each.value.trim()).filter(Boolean);
    }

    // Enter, which a scanner sends, is the next parcel.
    function parcel(value = "") {
      const at = parcels.childElementCount;
      return field({
        name: `parcels.${at}.trackingNumber`,
        label: at ? `Tracking number of parcel ${at + 1}` : "Tracking number",
        value,
        maxlength: "100",
        hint: at ? null : "Optional. Enter adds a parcel.",
        onkeydown(event) {
          if (event.key !== "Enter" || event.ctrlKey || event.metaKey) return;
          event.preventDefault();
          const last = parcels.lastElementChild.querySelector("input");
          if (last.value.trim() && parcels.childElementCount < MOST_PARCELS) parcels.append(parcel());
          parcels.lastElementChild.querySelector("input").focus();
        },
      });
    }
  }

  function handOver() {
    const due = Number(order.balanceDue) > 0 && h.div(
      { class: "notice warn actions" },
      `${money(order.balanceDue)} is due.`,
      button("Take payment", ({ target }) => (target.closest("dialog").close(), take()), { class: "small" }),
    );
    leave(`Hand over order #${order.number}`, "Hand over", { intro: due, fields: [], read: () => ({ method: "PICKUP" }) });
  }

  // A dialog with the pieces that leave: all that are left, or those that are typed or scanned.
  function leave(title, submit, { fields, read, intro = null, before = () => {} }) {
    const key = once();
    let isCounting = false;
    const outcome = h.p({ class: "strong whole", role: "status" });
    const node = dialogForm(visit, title, {
      intro,
      broad: true,
      fields: [
        left.map((line, at) =>
          field({ name: `lines.${at}.quantity`, label: `${line.title}: pieces of ${line.toShip}`, value: String(line.toShip), inputmode: "numeric", wide: true }),
        ),
        fields,
        field({ name: "note", maxlength: "500", wide: true }),
        outcome,
      ],
      submit,
      async save(typed) {
        const lines = pieces().map((quantity, at) => ({ lineItemId: left[at].id, quantity })).filter(({ quantity }) => quantity !== 0);
        if (lines.length === 0) throw wrong("lines.0.quantity", "must be at least one piece");
        const body = { ...read(typed), lines, ...(typed.note.trim() && { note: typed.note.trim() }) };
        await before();
        await send("POST", "shipments", { body, key: key(body), success: `Order #${order.number}: ${submit === "Ship" ? "shipped" : "handed over"}.` });
      },
    });
    visit.listen(node, "input", told);
    // A tracking number may be scanned into its field; any other scan counts a piece, from none on.
    listenForScans(visit, (target) => !node.isConnected || target.name?.startsWith("parcels."), count);
    told();
    return { node };

    function pieces() {
      const typed = values(node);
      return left.map((_, at) => whole(typed[`lines.${at}.quantity`].trim() || "0"));
    }

    function count(code) {
      const at = left.findIndex(({ sku }) => sku?.toLowerCase() === code.toLowerCase());
      if (at < 0) return replace(outcome, `${code} is not on this order, or has been shipped.`);
      const inputs = left.map((_, place) => node.elements[`lines.${place}.quantity`]);
      if (!isCounting) inputs.forEach((each) => (each.value = "0"));
      isCounting = true;
      inputs[at].value = String(Number(inputs[at].value) + 1);
      announce(`${left[at].title}: ${inputs[at].value}.`);
      return told();
    }

    function told() {
      clearErrors(node);
      const rest = left.reduce((sum, { toShip }, at) => sum + toShip - Number(pieces()[at]), 0);
      replace(outcome, rest > 0 ? `${plural(rest, "piece stays", "pieces stay")} to be shipped later.` : rest === 0 && `This ${submit === "Ship" ? "ships" : "hands over"} the whole order.`);
    }
  }

  function shown() {
    if (order.shipments.length === 0) return null;
    const act = (name, work, of) => button(name, visit.once(work), { class: "small quiet", "aria-label": `${name}: ${of}` });
    return card(
      "Shipments",
      order.shipments.map((one, at) => {
        const state = stateOf(one);
        const what = one.lines.map(({ lineItemId, quantity }) => `${number(quantity)} × ${lineOf(lineItemId).title}`).join(", ");
        const name = `shipment ${at + 1}`;
        return h.div(
          { class: "stack tight shipment" },
          h.div(badge(state), " ", dateTime(one.shippedAt), one.carrier && [" · ", h.bdi(one.carrier)], one.method === "PICKUP" && " · picked up"),
          h.div({ class: "soft small" }, h.bdi(what)),
          numbersOf(one),
          one.note && h.div({ class: "soft small" }, h.bdi(one.note)),
          h.div(
            { class: "actions" },
            act("Packing slip", () => printSlip(one, at), name),
            one.method === "PARCEL" && order.shippingAddress && act("Address label", () => print("shippingAddress"), name),
            may("STAFF") && state === "SHIPPED" && act("Delivered", () => deliver(one), name),
            isOpen && state !== "CANCELLED" && act("Cancel", () => cancel(one), name),
          ),
        );
      }),
    );
  }

  function lineOf(id) {
    return order.lineItems.find((line) => line.id === id) ?? { title: "Removed item", toShip: 0 };
  }

  // On paper only: what is in this shipment, what was shipped before, and what is still to come.
  function printSlip(shipment, at) {
    const sent = (id, some) =>
      some.filter(({ cancelledAt }) => !cancelledAt).flatMap(({ lines }) => lines).reduce((sum, one) => sum + (one.lineItemId === id ? one.quantity : 0), 0);
    const before = ({ lineItemId }) => sent(lineItemId, order.shipments.slice(0, at));
    const after = ({ lineItemId }) => lineOf(lineItemId).toShip + sent(lineItemId, order.shipments.slice(at + 1));
    const count = (title, of) => ({ title, cell: (line) => number(of(line)), class: "number" });
    visit.root.querySelector(".slip")?.remove();
    visit.root.append(
      h.section(
        { class: "slip" },
        table({
          name: "Packing slip",
          columns: [
            { title: "Product", cell: ({ lineItemId }) => h.bdi(lineOf(lineItemId).title) },
            count("In this shipment", ({ quantity }) => quantity),
            count("Shipped before", before),
            count("Still to come", after),
          ],
          rows: shipment.lines,
        }),
      ),
    );
    print("shipment");
  }

  function deliver({ id }) {
    return send("PATCH", `shipments/${id}`, { body: { deliveredAt: new Date().toISOString() }, success: "Delivered." });
  }

  function cancel({ id }) {
    const key = once();
    dialogForm(visit, "Cancel this shipment?", {
      intro: h.p("For a parcel that never left. Its pieces are to be shipped again."),
      fields: field({ name: "reason", maxlength: "500", wide: true }),
      submit: "Cancel shipment",
      async save({ reason }) {
        const body = reason.trim() ? { reason: reason.trim() } : {};
        await send("POST", `shipments/${id}/cancel`, { body, key: key(body), success: "Shipment cancelled." });
      },
    });
  }
}
