// One count: each scan adds a piece; the differences are looked at, then applied.

import { isLeft } from "../api.js";
import { h, newKey, replace } from "../dom.js";
import { number, plural } from "../format.js";
import { badge } from "../parts/badge.js";
import { field } from "../parts/form.js";
import { finder } from "../parts/finder.js";
import { undo, watch } from "../parts/jobs.js";
import { announce, problem, toast } from "../parts/notice.js";
import { keepFocus } from "../parts/page.js";
import { listenForScans } from "../parts/scanner.js";
import { table } from "../parts/table.js";
import { variantName, variantSearch } from "../parts/variants.js";
import { again, link } from "../router.js";
import { may } from "../session.js";

const LIMIT = 100;
const MOST = 500; // lines of a request
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
  let waiting = []; // lines that were entered and not sent yet
  let batch = null; // what is being sent: the same again after a failure
  const sum = h.p({ class: "strong", role: "status" });
  const notice = h.div();
  const results = h.div();
  const state = field({ label: "Show", name: "state", options: STATES, onchange: () => load(1) });
  const find = finder({
    visit,
    label: "Find a product",
    placeholder: "SKU, barcode or name",
    hint: "Each scan counts one piece.",
    codes: "SKU or barcode",
    search: variantSearch(visit),
    chosen: (piece) => {
      enter({ variantId: piece.variant.id, counted: 1, add: true, name: variantName(piece) });
      find.focus();
    },
  });
  const actions = [
    h.button({ type: "button", class: "main", onclick: visit.once(apply) }, "Apply"),
    h.button({ type: "button", class: "bad", onclick: visit.once(cancel) }, "Cancel count"),
  ];
  const job = count.jobId && h.a({ class: "button", href: link(`/jobs/${count.jobId}`) }, "View the job");
  const top = { title: count.name, back: [link("/products/counts"), "Counts"], badges: badge(count.status) };
  visit.draw({ ...top, actions: isOpen ? actions : job }, isOpen && find.node, notice, sum, state, results);
  if (isOpen) {
    listenForScans(
      visit,
      (target) => find.node.contains(target),
      (code) => {
        find.focus();
        find.scan(code);
      },
    );
    find.focus();
  }
  visit.guard("count", () => batch !== null || waiting.length > 0, "What you counted last has not been saved.");
  await load(1);

  async function load(wanted) {
    const asked = { state: state.querySelector("select").value, limit: LIMIT, page: wanted };
    try {
      const { data } = await visit.get(`${path}/lines`, asked, visit.latest("lines"));
      page = wanted;
      rows = wanted === 1 ? data.data : [...rows, ...data.data];
      draw(rows.length < data.total);
    } catch (refusal) {
      if (!isLeft(refusal)) replace(notice, problem(refusal, () => load(wanted)));
    }
  }

  function draw(isMore) {
    const { counted, variants, different } = count;
    replace(sum, `${number(counted)} of ${plural(variants, "variant")} counted, ${number(different)} different`);
    const more = h.button({ type: "button", class: "quiet", onclick: visit.once(() => load(page + 1)) }, "Show more");
    const none = h.p({ class: "soft" }, "None");
    keepFocus(results, () => replace(results, rows.length > 0 ? lineTable(rows, isOpen && typed) : none, isMore && more));
  }

  function typed({ variantId, title, counted }, text) {
    if (!/^\d+$/.test(text.trim())) return toast(`${title}: type a whole number.`, "bad");
    const now = Number(text);
    return now === counted ? null : enter({ variantId, counted: now, name: title });
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
        batch = null;
        replace(notice);
        announce(data.lines.map(({ title, counted }) => `${title}: ${counted}.`).join(" "));
      }
      ({ data: count } = await visit.get(path));
      await load(1);
    } catch (refusal) {
      if (isLeft(refusal)) return;
      const wrong = new Map(refusal.errors?.map(({ field: name, message }) => [Number(name.split(".")[1]), message]));
      if (batch === null || wrong.size === 0) replace(notice, problem(refusal, send));
      else {
        // None was kept: the others are sent again.
        for (const [at, message] of wrong) toast(`${batch.lines[at].name} ${message}.`, "bad");
        waiting.unshift(...batch.lines.filter((_, at) => !wrong.has(at)));
        batch = null;
        await send();
      }
    }
  }

  async function apply() {
    await find.settled();
    if (batch !== null || waiting.length > 0) throw new Error("What you counted last has not been saved yet.");
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
    const back = ["Undo", () => undo(started.jobId).catch((refusal) => toast(refusal.message, "bad"))];
    const said = failed > 0 ? ` ${number(failed)} failed: ${errors[0].message}` : "";
    toast(`${plural(updated, "variant")} changed.${said}`, failed > 0 ? "bad" : "", updated > 0 ? back : null);
    again();
  }

  async function cancel() {
    const text = "It changes nothing, and takes no more lines.";
    if (!(await visit.ask({ title: "Cancel this count?", text, yes: "Cancel count", no: "Back", bad: true }))) return;
    await visit.send("POST", `${path}/cancel`, { success: `${count.name} cancelled.` });
    again();
  }
}

// `typed(line, text)`: where the numbers can be typed.
const lineTable = (rows, typed) =>
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
      { title: "Counted", cell: (line) => (typed ? input(line, typed) : (line.counted ?? "")), class: "number" },
      { title: "Difference", cell: ({ difference: by }) => (by > 0 ? `+${by}` : (by ?? "")), class: "number" },
    ],
    rows,
  });

const input = (line, typed) =>
  h.input({
    name: line.variantId,
    value: line.counted ?? "",
    inputmode: "numeric",
    autocomplete: "off",
    "aria-label": `Counted of ${line.title}`,
    onchange: ({ target }) => typed(line, target.value),
  });
