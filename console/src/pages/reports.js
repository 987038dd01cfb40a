// Sales, money and tax of a period: a job adds them up.

import { button, h, replace } from "../dom.js";
import { TIMEZONE } from "../facts.js";
import { ago, called, money, number, plural, words } from "../format.js";
import { repWord } from "../parts/words.js";
import { bars, dayName, shares } from "../parts/bars.js";
import { field, optionsOf } from "../parts/form.js";
import { announce } from "../parts/notice.js";
import { card, empty, skeleton } from "../parts/page.js";
import { days, reportOf } from "../parts/report.js";
import { table } from "../parts/table.js";
import { daysAgo } from "../parts/zone.js";
import { link } from "../router.js";
import { may } from "../session.js";

// Which rows each report may have.
const TYPES = {
  sales: ["day", "product", "source", "salesRep", "paymentMethod"],
  money: ["day", "paymentMethod"],
  tax: ["day"],
};
const CLOCKS = {
  sales: "By the date of the order; refunds are taken off the sales of their orders.",
  money: "By the day on which a payment, a refund or a void was recorded.",
  received: "By the day on which the money came; a void counts on the day of its payment.",
  tax: "Charged by the date of the order, refunded by the day of the refund.",
};
const MONEY_CLOCKS = [["recorded", "Recorded"], ["received", "Received"]];
const NONE = { product: "Custom items", salesRep: "No sales rep", paymentMethod: "No method" };
const COUNTS = ["orders", "pieces"];
const RARE = ["shipping", "kept"]; // no column of zeros, so that the profit is in sight
const CHARTED = 12; // rows of a chart
const CSV = [["comma", "1234.50, between commas"], ["semicolon", "1234,50, between semicolons"]];
const KEPT = "backroom-csv";

// The periods that one press chooses.
function periods() {
  const today = daysAgo(0);
  const year = today.slice(0, 4);
  const month = `${today.slice(0, 7)}-01`;
  const before = new Date(month);
  before.setUTCDate(0); // the last day of the month before
  const last = before.toISOString().slice(0, 10);
  return [
    ["Today", today, today],
    ["This month", month, today],
    ["Last month", `${last.slice(0, 7)}-01`, last],
    ["This year", `${year}-01-01`, today],
  ];
}

// How files are written: as chosen last, else as this browser writes numbers.
const csvStyle = () => localStorage.getItem(KEPT) ?? CSV[(1.5).toLocaleString().includes(",") ? 1 : 0][0];

export async function show(visit) {
  const { type = "sales", by = "day", from = daysAgo(29), to = daysAgo(0) } = visit.query;
  const asked = { type: Object.hasOwn(TYPES, type) ? type : "sales", by, from, to };
  if (asked.type === "money") asked.clock = visit.query.clock === "received" ? "received" : "recorded";
  const result = h.div({ class: "stack" });
  const presets = h.div({ class: "picks", role: "group", "aria-label": "Period" });
  const drawPresets = () => replace(presets, periods().map(preset));
  const preset = ([name, from, to]) =>
    button(name, () => choosePeriod(from, to), { class: "small", "aria-pressed": String(asked.from === from && asked.to === to) });
  const choice = (name, label, options) =>
    field({ name, label, options, value: asked[name], onchange: changed });
  const day = (name, label) =>
    field({ name, label: `${label} (${TIMEZONE})`, type: "date", value: asked[name], onchange: changed });
  const rowsOf = () => {
    const possible = TYPES[asked.type];
    if (!possible.includes(asked.by)) asked.by = "day";
    return choice("by", "By", possible.map((each) => [each, called(each)]));
  };
  const clockOf = () => {
    const chosen = choice("clock", "Counted when", MONEY_CLOCKS);
    chosen.hidden = asked.type !== "money";
    return chosen;
  };
  const filters = h.form(
    { class: "filters even", role: "search", onsubmit: (event) => event.preventDefault() },
    choice("type", "Report", optionsOf(Object.keys(TYPES))),
    rowsOf(),
    clockOf(),
    day("from", "From"),
    day("to", "To"),
  );
  drawPresets();
  visit.draw({ title: "Reports" }, h.div({ class: "stack even" }, filters, presets, result));
  visit.whenBack(load);
  await load();

  function choosePeriod(from, to) {
    Object.assign(asked, { from, to });
    filters.elements.from.value = from;
    filters.elements.to.value = to;
    const name = document.activeElement?.textContent;
    drawPresets();
    [...presets.children].find((each) => each.textContent === name)?.focus();
    visit.rewrite(asked);
    load();
  }

  function changed({ target }) {
    asked[target.name] = target.value;
    if (target.name === "type") {
      if (asked.type === "money") asked.clock ??= "recorded";
      else delete asked.clock;
      filters.elements.by.closest(".field").replaceWith(rowsOf());
      filters.elements.clock.closest(".field").replaceWith(clockOf());
    }
    drawPresets();
    visit.rewrite(asked);
    visit.after(300, "asked", () => load()); // a date is typed in parts
  }

  function load() {
    const mine = visit.latest("report");
    filters.querySelectorAll(".error").forEach((each) => replace(each));
    replace(result, skeleton());
    return visit.fill(result, () => sums(mine).catch(refused));
  }

  async function sums(mine) {
    const costs = asked.type === "sales" && may("STAFF");
    const job = await reportOf(visit, { ...asked, costs, csv: csvStyle() }, mine);
    announce(plural(job.report.rows.length, "row"));
    const again = button("Add up again", load, { class: "small" });
    return [
      h.p({ class: "soft" }, CLOCKS[job.about.clock === "received" ? "received" : job.about.type]),
      drawn(job),
      job.report.rows.length > 0 && h.div({ class: "actions" }, h.a({ class: "button", href: job.downloadUrl, download: "" }, "Download as CSV"), style()),
      h.p({ class: "soft" }, "Added up ", ago(job.completedAt), ". ", again),
    ];
  }

  function style() {
    const onchange = ({ target }) => {
      localStorage.setItem(KEPT, target.value);
      load();
    };
    return field({ name: "csv", label: "Numbers in the file", options: CSV, value: csvStyle(), onchange });
  }

  function refused(refusal) {
    const wrong = refusal.errors?.find((each) => filters.elements[each.field]);
    if (!wrong) throw refusal;
    replace(filters.elements[wrong.field].closest(".field").querySelector(".error"), wrong.message);
  }
}

// The rows of a job's report; `about` is what was asked.
function drawn({ report, about }) {
  const { rows, totals, truncated } = report;
  const columns = report.columns.filter((name) => totals[name] !== null && (!RARE.includes(name) || Number(totals[name]) !== 0));
  if (rows.length === 0) return empty("Nothing in this period", "Choose other days.");
  const most = Math.max(...rows.map(({ net }) => Number(net)), 0) || 1;
  const shown = (row, name) => (COUNTS.includes(name) ? number(row[name]) : money(row[name]));
  const share = (row) => {
    const [name, href] = [nameOf(row, about), leads(row.key, about)];
    return { name: h.bdi(name), href, share: row.net / most, text: money(row.net) };
  };
  return [
    card(
      rows.length > CHARTED && about.by !== "day" ? `Net of the first ${CHARTED}` : "Net",
      about.by === "day"
        ? bars(days({ report, about }, (date) => leads(date, about)), `Net ${about.type}`)
        : shares(rows.slice(0, CHARTED).map(share)),
    ),
    table({
      name: "Sums",
      columns: [
        {
          title: called(about.by),
          cell: (row) => (row.isTotal ? h.b("Total") : labelled(row, about)),
        },
        ...columns.map((name) => ({
          title: words(name),
          cell: (row) => (row.isTotal ? h.b(shown(row, name)) : shown(row, name)),
          class: name === "net" || name === "orders" ? "number" : "number wide",
        })),
      ],
      rows: [...rows, { ...totals, isTotal: true }],
    }),
    truncated && h.p({ class: "notice" }, "Not all rows are shown. The file has more of them."),
  ];
}

function nameOf({ key, label }, { by }) {
  if (key === null) return NONE[by];
  if (by === "day") return dayName(key);
  if (by === "salesRep") return repWord(key);
  return by === "product" ? label : words(key);
}

function labelled(row, about) {
  const href = leads(row.key, about);
  return href ? h.a({ href }, h.bdi(nameOf(row, about))) : h.bdi(nameOf(row, about));
}

// Where a row's orders are.
function leads(key, { type, by, from, to }) {
  if (type !== "sales" || key === null) return null;
  if (by === "day") return link("/orders", { from: key, to: key });
  if (by === "product") return link(`/products/${key}`);
  const filter = { source: "source", salesRep: "salesRepId" }[by];
  return filter ? link("/orders", { [filter]: key, from, to }) : null;
}
