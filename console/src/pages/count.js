// One count: each scan adds a piece; the differences are looked at, then applied.

import { isLeft } from "../api.js";
import { button, h, newKey, replace } from "../dom.js";
import { number, plural } from "../format.js";
import { badge } from "../parts/badge.js";
import { field } from "../parts/form.js";
import { undo, watch } from "../parts/jobs.js";
import { announce, problem, tell, toast } from "../parts/notice.js";
import { keepFocus } from "../parts/page.js";
import { pieceCount } from "../parts/pieces.js";
import { table } from "../parts/table.js";
import { variantFinder, variantName } from "../parts/variants.js";
import { again, link } from "../router.js";
import { may } from "../session.js";

const LIMIT = 100;
const MOST = 500; // lines of a request
const FOLLOWS = 20_000; // milliseconds, after which what others counted is read
const STATES = [
  ["COUNTED", "Counted"],
  ["DIFFERENT", "Different"],
  ["UNCOUNTED", "Not counted"],
];

export async function show(visit) {
  const path = `admin/stock/counts/${encodeURIComponent(visit.params.id)}`;
  let { data: count } = await visit.get(path);
  const isOpen = count.status === "OPEN" && may("STAFF");
  let rows = [];
  let page = 1;
  let isMore = false;
  let waiting = []; // lines that were entered and not sent yet
  let batch = null; // what is being sent: the same again after a failure
  const wrong = new Map(); // of a variant: the text that was not saved, and why
  const sum = h.p({ class: "strong", role: "status" });
  const notice = h.div();
  const results = h.div();
  const state = field({ label: "Show", name: "state", options: STATES, onchange: () => load(1) });
  const isUnsaved = () => batch !== null || waiting.length > 0 || wrong.size > 0;
  const find = variantFinder(visit, {
    hint: "Each scan counts one piece.",
    chosen: (piece) => enter({ variantId: piece.variant.id, counted: 1, add: true, name: variantName(piece) }),
  });
  const actions = [
    button("Apply", visit.once(() => apply().catch(closed)), { class: "main" }),
    button("Cancel count", visit.once(() => cancel().catch(closed)), { class: "bad" }),
  ];
  const job = count.jobId && h.a({ class: "button", href: link(`/jobs/${count.jobId}`) }, "View the job");
  const top = { title: count.name, back: [link("/products/counts"), "Counts"], badges: badge(count.status) };
  const parts = [isOpen && find.node, notice, sum, state, results];
  visit.draw({ ...top, actions: isOpen ? actions : job }, h.div({ class: "stack tight" }, parts));
  if (isOpen) find.focus();
  visit.guard("count", isUnsaved, "What you counted last has not been saved.");
  await load(1);
  if (isOpen) follow();

  // What others count is shown within half a minute.
  async function follow() {
    try {
      for (;;) {
        await visit.sleep(FOLLOWS);
        if (batch !== null || waiting.length > 0) continue;
        const { data } = await visit.get(path);
        if (data.status !== count.status) return void again();
        count = data;
        await load(page);
      }
    } catch (refusal) {
      if (!isLeft(refusal)) follow(); // it is read again when there is a connection
    }
  }

  // The first pages, again.
  async function load(pages) {
    const signal = visit.latest("lines");
    const found = [];
    let total = 0;
    try {
      for (let wanted = 1; wanted <= pages; wanted++) {
        const asked = { state: state.querySelector("select").value, limit: LIMIT, page: wanted };
        const { data } = await visit.get(`${path}/lines`, asked, signal);
        found.push(...data.data);
        total = data.total;
      }
      [page, rows, isMore] = [pages, found, found.length < total];
      draw();
    } catch (refusal) {
      if (!isLeft(refusal)) replace(notice, problem(refusal, () => load(pages)));
    }
  }

  function draw() {
    const { counted, variants, different } = count;
    replace(sum, `${number(counted)} of ${plural(variants, "variant")} counted, ${number(different)} different`);
    const more = button("Show more", visit.once(() => load(page + 1)), { class: "quiet" });
    const none = h.p({ class: "soft" }, "None");
    const typing = results.querySelector("input:focus");
    keepFocus(results, () => {
      replace(results, rows.length > 0 ? lineTable(rows, isOpen && { typed, wrong }) : none, isMore && more);
      const same = typing && results.querySelector(`[name="${typing.name}"]`);
      if (!same || typing.value === typing.dataset.shown) return;
      same.value = typing.value; // it was typed over what was shown then
      same.dataset.shown = typing.dataset.shown;
    });
  }

  function typed({ variantId, title }, { value: text, dataset }) {
    const isNumber = /^\d+$/.test(text.trim());
    refuse(variantId, text, isNumber ? null : "Type a whole number.");
    const before = withOwn(variantId, dataset.shown === "" ? null : Number(dataset.shown));
    if (isNumber && Number(text) !== before) enter({ variantId, counted: Number(text), before, name: title });
  }

  // What is counted of a variant when that which this page has entered is saved.
  function withOwn(variantId, counted, lines = [...(batch?.lines ?? []), ...waiting]) {
    const own = lines.filter((line) => line.variantId === variantId);
    return own.reduce((sum, line) => (line.add ? (sum ?? 0) + line.counted : line.counted), counted);
  }

  // Not drawn again: the focus may be on its way to the next field.
  function refuse(variantId, text, message) {
    if (message) wrong.set(variantId, { text, message });
    else wrong.delete(variantId);
    const place = results.querySelector(`[data-field="${variantId}"]`);
    if (!place) return;
    place.querySelector("input").value = text;
    replace(place.querySelector(".error"), message);
  }

  function enter(line) {
    waiting.push(line);
    if (batch === null) send();
  }

  // What is scanned while a request is under way goes with the next one.
  async function send() {
    try {
      while (batch !== null || waiting.length > 0) {
        batch ??= { lines: waiting.splice(0, MOST), key: newKey() };
        const lines = batch.lines.map(({ name: _, ...line }) => line);
        const { data } = await visit.send("PUT", `${path}/lines`, { body: { lines }, idempotencyKey: batch.key });
        data.lines.forEach((line) => followField(line, batch.lines));
        batch = null;
        const kept = new Map(data.lines.map((line) => [line.variantId, line]));
        rows.forEach((row) => Object.assign(row, kept.get(row.variantId))); // until they are read again
        replace(notice);
        announce(data.lines.map(({ title, counted }) => `${title}: ${counted}.`).join(" "));
      }
      ({ data: count } = await visit.get(path));
      await load(1);
    } catch (refusal) {
      if (isLeft(refusal)) return;
      if (refusal.code === "count_closed") return void closed(refusal);
      if (refusal.code === "count_changed") return overlapped(refusal.body.lines);
      const refused = new Map(refusal.errors?.map(({ field: name, message }) => [Number(name.split(".")[1]), message]));
      if (batch === null || refused.size === 0) replace(notice, problem(refusal, send));
      else {
        // None was kept: the others are sent again.
        for (const [at, message] of refused) {
          const { variantId, counted, add, name } = batch.lines[at];
          if (add) toast(`${name} ${message}.`, "bad");
          else refuse(variantId, String(counted), message);
        }
        waiting.unshift(...batch.lines.filter((_, at) => !refused.has(at)));
        batch = null;
        await send();
      }
    }
  }

  // What is being typed over the page's own scan replaces that, and not what somebody else has added.
  function followField({ variantId, counted }, lines) {
    const place = results.querySelector(`[data-field="${variantId}"] input`);
    if (!place || place.value === place.dataset.shown) return;
    const shown = place.dataset.shown === "" ? null : Number(place.dataset.shown);
    if (withOwn(variantId, shown, lines) === counted) place.dataset.shown = counted;
  }

  // Somebody else counted what a number was typed over: both are shown. None of the batch was kept: the rest is sent again.
  async function overlapped(lines) {
    const { lines: tried } = batch;
    const now = new Map(lines.map((line) => [line.variantId, line]));
    const isOver = ({ variantId, before }) => before !== undefined && now.has(variantId);
    waiting.unshift(...tried.filter((line) => !isOver(line)));
    batch = null;
    for (const mine of tried.filter(isOver)) ask(mine, now.get(mine.variantId));
    draw();
    await send();
  }

  function ask(mine, { variantId, counted, countedBy }) {
    const act = (text, work) => {
      const press = () => {
        wrong.delete(variantId);
        work();
        draw();
        results.querySelector(`[data-field="${variantId}"] input`)?.focus();
      };
      return button(text, press, { class: "small" });
    };
    const row = rows.find((each) => each.variantId === variantId);
    if (row) row.counted = counted;
    const save = () => enter({ ...mine, before: withOwn(variantId, counted) });
    const message = [`${countedBy} counted ${number(counted)} meanwhile. `, act(`Save ${number(mine.counted)}`, save), " ", act(`Keep ${number(counted)}`, () => {})];
    wrong.set(variantId, { text: String(mine.counted), message });
    announce(`${mine.name}: ${countedBy} counted ${number(counted)} meanwhile. Yours is ${number(mine.counted)}.`);
  }

  // Somebody else has applied or cancelled it: what was counted since is in no count.
  function closed(refusal) {
    if (refusal.code !== "count_closed") throw refusal;
    [batch, waiting] = [null, []];
    wrong.clear();
    tell(refusal);
    again();
  }

  async function apply() {
    await find.settled();
    if (isUnsaved()) throw new Error("What you counted last has not been saved yet.");
    const { data } = await visit.get(`${path}/lines`, { state: "DIFFERENT", limit: LIMIT });
    const first = data.total > LIMIT && h.p({ class: "soft small" }, `The last ${LIMIT} of ${number(data.total)}.`);
    const yes = await visit.ask({
      title: `Change the stock of ${plural(data.total, "variant")}?`,
      text: h.div(lineTable(data.data, null), first, h.p({ class: "soft" }, "What was sold since stays sold.")),
      yes: "Apply",
    });
    if (!yes) return;
    const { data: started } = await visit.send("POST", `${path}/apply`, { idempotencyKey: newKey() });
    const { updated, failed, errors } = await watch(visit, started.jobId);
    const back = ["Undo", () => undo(started.jobId).catch(tell)];
    const said = failed > 0 ? ` ${number(failed)} failed: ${errors[0].message}` : "";
    toast(`${plural(updated, "variant")} changed.${said}`, failed > 0 ? "bad" : "", updated > 0 ? back : null);
    again();
  }

  async function cancel() {
    const text = "No stock changes, and nothing more can be counted in it.";
    if (!(await visit.ask({ title: "Cancel this count?", text, yes: "Cancel count", no: "Back", bad: true }))) return;
    await visit.send("POST", `${path}/cancel`, { success: `${count.name} cancelled.` });
    again();
  }
}

// `{ typed(line, text), wrong }`: where the numbers can be typed.
const lineTable = (rows, entry) =>
  table({
    name: "Lines",
    columns: [
      {
        title: "Item",
        cell: ({ title, sku, productId }) => [
          h.a({ href: link(`/products/${productId}`) }, h.bdi(title ?? "Deleted")),
          h.div({ class: "soft small" }, sku),
        ],
      },
      { title: "Expected", cell: ({ expected }) => expected ?? "", class: "number wide" },
      { title: "Counted", cell: (line) => (entry ? input(line, entry) : (line.counted ?? "")), class: "number" },
      { title: "Difference", cell: ({ difference: by }) => (by > 0 ? `+${by}` : (by ?? "")), class: "number" },
    ],
    rows,
  });

function input(line, { typed, wrong }) {
  const { text = line.counted ?? "", message } = wrong.get(line.variantId) ?? {};
  const onchange = ({ target }) => typed(line, target);
  const label = `Counted of ${line.title}`;
  return pieceCount({ key: line.variantId, label, message, value: text, onchange, "data-shown": line.counted ?? "" });
}
