// Goods that arrive: each scan is a piece; all are added to the stock together.

import { isLeft } from "../api.js";
import { button, h, newKey, replace } from "../dom.js";
import { plural } from "../format.js";
import { begunNotice, keepDraft, loadDraft } from "../parts/draft.js";
import { problem, toast } from "../parts/notice.js";
import { empty, keepFocus } from "../parts/page.js";
import { picture } from "../parts/picture.js";
import { pieceCount } from "../parts/pieces.js";
import { table } from "../parts/table.js";
import { variantFinder, variantName } from "../parts/variants.js";
import { link } from "../router.js";

export async function show(visit) {
  const lines = new Map(); // variant id → { piece, text: the quantity as it is typed, message }
  let batches = []; // of one product each, sent and not answered: the same again after a failure
  let sending = null;
  const notice = h.div();
  const results = h.div();
  const find = variantFinder(visit, { hint: "Each scan is one piece.", chosen: (piece) => put(piece, 1) });
  const add = button("Add to stock", visit.once(receive), { class: "main" });
  visit.draw(
    { title: "Receive", back: [link("/products"), "Products"], actions: add },
    h.div({ class: "stack even" }, find.node, notice, results),
  );
  visit.guard("received", () => lines.size + batches.length > 0, "What you received has not been added to the stock.");
  const draft = loadDraft(visit);
  draft?.lines.forEach(([id, line]) => lines.set(id, line));
  batches = draft?.batches ?? [];
  if (draft) replace(notice, begunNotice(visit));
  draw();
  find.focus();
  // What was sent, and whose answer was lost, is sent again: it is added once.
  if (batches.length > 0) send();

  // In this tab, over a reload.
  function keep() {
    const isBlank = lines.size + batches.length === 0;
    keepDraft(visit, isBlank ? null : { lines: [...lines], batches });
  }

  function put(piece, pieces) {
    const before = lines.get(piece.variant.id);
    const known = before && isQuantity(before.text) ? Number(before.text) : 0;
    lines.set(piece.variant.id, { piece, text: String(known + pieces) });
    draw();
  }

  function draw() {
    const none = empty("Nothing yet", "Scan or find what arrived, and correct the quantities.");
    keepFocus(results, () => replace(results, lines.size > 0 ? lineTable() : none));
    keep();
  }

  function lineTable() {
    return table({
      name: "Received",
      columns: [
        {
          title: "Item",
          cell: ({ piece }) =>
            h.div(
              { class: "named" },
              picture(piece.product.images[0]),
              h.div(h.b(h.bdi(variantName(piece))), h.div({ class: "soft small" }, piece.variant.sku)),
            ),
        },
        { title: "In stock", cell: ({ piece }) => piece.variant.stock ?? "not tracked", class: "number wide" },
        { title: "Received", cell: quantity, class: "number" },
        {
          title: h.span({ class: "unseen" }, "Remove"),
          cell: ({ piece }) => {
            const label = `Remove ${variantName(piece)}`;
            return button("Remove", () => drop(piece), { class: "quiet small", "aria-label": label });
          },
        },
      ],
      rows: [...lines.values()].toReversed(),
    });
  }

  function quantity(line) {
    const { piece, text, message } = line;
    const oninput = ({ target }) => ((line.text = target.value), keep());
    const label = `Received of ${variantName(piece)}`;
    return pieceCount({ key: piece.variant.id, label, message, value: text, oninput });
  }

  function drop({ variant }) {
    lines.delete(variant.id);
    draw();
    find.focus();
  }

  async function receive() {
    await find.settled();
    for (const line of lines.values()) line.message = isQuantity(line.text) ? null : "Type a whole number.";
    const wrong = [...lines.values()].find(({ message }) => message);
    if (!wrong) {
      const products = Object.groupBy(lines.values(), ({ piece }) => piece.product.id);
      batches.push(...Object.entries(products).map(([id, sent]) => ({ id, sent, key: newKey() })));
      lines.clear();
    }
    draw();
    if (wrong) results.querySelector(`[data-field="${wrong.piece.variant.id}"] input`).focus();
    else await send();
  }

  // Each batch is sent by one at a time: what is received meanwhile goes with it.
  function send() {
    sending ??= sendAll().finally(() => (sending = null));
    return sending;
  }

  async function sendAll() {
    let pieces = 0;
    replace(notice);
    while (batches.length > 0) {
      const [{ id, sent, key }] = batches;
      const moves = sent.map(({ piece, text }) => ({ variantId: piece.variant.id, by: Number(text), reason: "RECEIVED" }));
      try {
        const { data } = await visit.send("POST", `admin/products/${id}/stock`, { body: { moves }, idempotencyKey: key });
        const stored = new Map(data.variants.map((variant) => [variant.id, variant]));
        sent.forEach(({ piece: { variant } }) => Object.assign(variant, stored.get(variant.id))); // it may be scanned again
        draw();
        pieces += moves.reduce((sum, { by }) => sum + by, 0);
      } catch (refusal) {
        if (isLeft(refusal)) return null;
        // Of anything else it is not known whether they were added.
        if (![404, 422].includes(refusal.status)) return replace(notice, problem(refusal, () => send()));
        back(sent, refusal);
      }
      batches = batches.slice(1);
      keep();
    }
    if (pieces > 0) toast(`${plural(pieces, "piece")} added to the stock.`);
    return find.focus();
  }

  // None of this product was added: its lines are shown again, with the reason.
  function back(sent, refusal) {
    for (const { piece, text } of sent) put(piece, Number(text));
    sent.forEach(({ piece }, at) => {
      const own = refusal.errors?.find(({ field }) => field.startsWith(`moves.${at}.`));
      lines.get(piece.variant.id).message = own?.message ?? (refusal.errors?.length ? null : refusal.message);
    });
    draw();
  }
}

const isQuantity = (text) => /^\d+$/.test(text.trim()) && Number(text) > 0;
