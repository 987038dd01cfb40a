// Sales, money and tax of a period: a job adds them up.

import { button, h, replace } from "../dom.js";
import { ago, called, money, number, plural, words } from "../format.js";
import { repWord } from "../parts/words.js";
import { bars, dayName, shares } from "../parts/bars.js";
import { field, optionsOf } from "../parts/form.js";
import { announce } from "../parts/notice.js";
import { card, empty, skeleton } from "../parts/page.js";
import { drawFigures } from "../parts/record-page.js";
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
  sales: "An order counts on its date, paid or not; refunds are taken off the sales of their orders. What was paid is in the report of money.",
  money: "By the day on which a payment, a refund or a void was recorded.",
  received: "By the day on which the money came; a void counts on the day of its payment.",
  tax: "Charged by the date of the order, refunded by the day of the refund.",
};
const MONEY_CLOCKS = [["recorded", "Recorded"], ["received", "Received"]];
const NONE = { product: "Custom items", salesRep: "No sales rep", paymentMethod: "No method" };
const COUNTS = ["orders", "pieces"];
const ALWAYS = ["orders", "pieces", "net"]; // columns that are there also where they are zero
const TITLES = { pieces: "Items", netWithCost: "Net with cost" };
const HEADLINES = { sales: ["orders", "pieces", "profit"], money: ["payments", "refunds", "voids"], tax: ["charged", "refunded"] };
const NO_SUM = "…";
const DAY = 86_400_000; // milliseconds
const CHARTED = 12; // rows of a chart
const CSV = [["comma", "1234.50"], ["semicolon", "1234,50"]];
const KEPT = "backroom-csv";

// The periods that one press chooses; other days are typed.
function listPeriods() {
  const today = daysAgo(0);
  const year = today.slice(0, 4);
  const month = `${today.slice(0, 7)}-01`;
  const before = new Date(month);
  before.setUTCDate(0); // the last day of the month before
  const last = before.toISOString().slice(0, 10);
  return [
    ["Last 30 days", daysAgo(29), today],
    ["Today", today, today],
    ["This month", month, today],
    ["Last month", `${last.slice(0, 7)}-01`, last],
    ["This year", `${year}-01-01`, today],
  ];
}

const countDays = ({ from, to }) => (Date.parse(to) - Date.parse(from)) / DAY + 1;

// As many days right before a period.
function periodBefore({ from, to }) {
  const shift = (date) => new Date(Date.parse(date) - countDays({ from, to }) * DAY).toISOString().slice(0, 10);
  return { from: shift(from), to: shift(to) };
}

// How files are written: as chosen last, else as this browser writes numbers.
const csvStyle = () => localStorage.getItem(KEPT) ?? CSV[(1.5).toLocaleString().includes(",") ? 1 : 0][0];

export async function show(visit) {
  const { type = "sales", by = "day", from = daysAgo(29), to = daysAgo(0) } = visit.query;
  const asked = { type: Object.hasOwn(TYPES, type) ? type : "sales", by, from, to };
  if (asked.type === "money") asked.clock = visit.query.clock === "received" ? "received" : "recorded";
  let latest = null; // the job whose sums are shown
  const result = h.div({ class: "stack" });
  const exporting = button("Export report", exportFile, { hidden: true });
  const choice = (name, label, options) =>
    field({ name, label, options, value: asked[name], onchange: changed });
  const day = (name, label) => field({ name, label, type: "date", value: asked[name], onchange: changed });
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
  const presets = h.div({ class: "picks", role: "group", "aria-label": "Period" });
  const ownDays = h.div({ class: "pair", hidden: findPeriod() !== undefined }, day("from", "From"), day("to", "To"));
  const filters = h.form(
    { class: "stack even", role: "search", onsubmit: (event) => event.preventDefault() },
    h.div({ class: "filters three" }, choice("type", "Report", optionsOf(Object.keys(TYPES))), rowsOf(), clockOf()),
    presets,
    ownDays,
  );
  drawPresets();
  visit.draw({ title: "Reports", actions: exporting }, h.div({ class: "stack even" }, filters, result));
  visit.whenBack(load);
  await load();

  function findPeriod() {
    return listPeriods().find(([, from, to]) => asked.from === from && asked.to === to);
  }

  function drawPresets() {
    const chosen = ownDays.hidden ? findPeriod()?.[0] : "Other days";
    const pick = (name, work) => button(name, work, { class: "small", "aria-pressed": String(name === chosen) });
    replace(
      presets,
      listPeriods().map(([name, from, to]) => pick(name, () => choosePeriod(name, from, to))),
      pick("Other days", chooseOwnDays),
    );
  }

  function choosePeriod(name, from, to) {
    Object.assign(asked, { from, to });
    filters.elements.from.value = from;
    filters.elements.to.value = to;
    ownDays.hidden = true;
    drawPresets();
    [...presets.children].find((each) => each.textContent === name).focus();
    visit.rewrite(asked);
    load();
  }

  function chooseOwnDays() {
    ownDays.hidden = false;
    drawPresets();
    filters.elements.from.focus();
  }

  function changed({ target }) {
    asked[target.name] = target.value;
    if (target.name === "type") {
      if (asked.type === "money") asked.clock ??= "recorded";
      else delete asked.clock;
      filters.elements.by.closest(".field").replaceWith(rowsOf());
      filters.elements.clock.closest(".field").replaceWith(clockOf());
    }
    visit.rewrite(asked);
    visit.after(300, "asked", () => load()); // a date is typed in parts
  }

  function load() {
    const mine = visit.latest("report");
    filters.querySelectorAll(".error").forEach((each) => replace(each));
    exporting.hidden = true;
    replace(result, skeleton());
    return visit.fill(result, () => addUp(mine).catch(showRefusal));
  }

  function toRequest() {
    return { ...asked, costs: asked.type === "sales" && may("STAFF"), csv: csvStyle() };
  }

  async function addUp(mine) {
    const job = await reportOf(visit, toRequest(), mine);
    latest = job;
    const isEmpty = job.report.rows.length === 0;
    exporting.hidden = isEmpty;
    announce(plural(job.report.rows.length, "row"));
    const before = h.span(NO_SUM);
    if (!isEmpty && job.about.type === "sales") showNetBefore(job.about, before, mine);
    return [
      isEmpty ? await drawNothing(job.about) : drawReport(job, before),
      h.p({ class: "soft small" }, CLOCKS[job.about.clock === "received" ? "received" : job.about.type], " Updated ", ago(job.completedAt), ". ", button("Refresh", load, { class: "small" })),
    ];
  }

  // The net of the days before, as soon as it is added up.
  function showNetBefore(about, into, mine) {
    const { from, to } = periodBefore(about);
    const show = ({ report }) => replace(into, money(report.totals.net));
    reportOf(visit, { type: "sales", by: "day", from, to }, mine).then(show, () => {}); // or no sum is shown
  }

  // A shop that has sold nothing yet needs no other days.
  async function drawNothing({ type }) {
    const { data } = await visit.get("admin/orders", { limit: 1 });
    return data.total === 0
      ? empty("No orders yet", "Reports begin with the first order.")
      : empty(`No ${type} in this period`, "Choose other days.");
  }

  function exportFile() {
    const file = h.div();
    const link = () => h.a({ class: "button main", href: latest.downloadUrl, download: "" }, "Download CSV");
    const onchange = ({ target }) => {
      localStorage.setItem(KEPT, target.value);
      visit.fill(file, async () => ((latest = await reportOf(visit, toRequest(), visit.signal)), link()));
    };
    const style = field({ name: "csv", label: "Number format", options: CSV, value: csvStyle(), onchange });
    visit.modal("Export report", [h.div({ class: "stack even" }, style, replace(file, link()))]);
  }

  function showRefusal(refusal) {
    const wrong = refusal.errors?.find((each) => filters.elements[each.field]);
    if (!wrong) throw refusal;
    replace(filters.elements[wrong.field].closest(".field").querySelector(".error"), wrong.message);
  }
}

const titleOf = (name) => TITLES[name] ?? words(name);
const formatSum = (row, name) => (COUNTS.includes(name) ? number(row[name]) : money(row[name]));

// The rows of a job's report; `about` is what was asked; `before`: where the net of the days before is shown.
function drawReport({ report, about }, before) {
  const { rows, totals, truncated } = report;
  const most = Math.max(...rows.map(({ net }) => Number(net)), 0) || 1;
  const share = (row) => {
    const [name, href] = [nameOf(row, about), leads(row.key, about)];
    return { name: h.bdi(name), href, share: row.net / most, text: money(row.net) };
  };
  return [
    drawHeadline(report, about, before),
    card(
      rows.length > CHARTED && about.by !== "day" ? `Net of the first ${CHARTED}` : "Net",
      about.by === "day"
        ? bars(days({ report, about }, (date) => leads(date, about)), `Net ${about.type}`)
        : shares(rows.slice(0, CHARTED).map(share)),
    ),
    drawSums(report, about),
    truncated && h.p({ class: "notice" }, "Not all rows are shown. The file has more of them."),
  ];
}

// The sums of the whole period in one line, and which part of it the profit covers.
function drawHeadline({ totals }, about, before) {
  const isPartial = totals.cost && totals.netWithCost !== totals.net;
  const figure = (name, is) => name in totals && totals[name] !== null && [titleOf(name), formatSum(totals, name), is];
  const count = countDays(about);
  return [
    drawFigures("Totals", [
      figure("net", "big"),
      about.type === "sales" && [count === 1 ? "The day before" : `The ${number(count)} days before`, before],
      ...HEADLINES[about.type].map((name) => figure(name)),
    ]),
    isPartial &&
      h.p(
        { class: "notice" },
        `The profit covers ${money(totals.netWithCost)} of ${money(totals.net)}: what else was sold has no known cost. `,
        h.a({ href: link("/products") }, "Add costs"),
        " for later orders.",
      ),
  ];
}

// The total comes first, then the newest day, or the most net. What is zero in all sales is left out, until it is asked for.
function drawSums(report, about) {
  const { rows, totals } = report;
  const into = h.div({ class: "stack tight" });
  const isShown = (name) =>
    about.type !== "sales" ||
    ALWAYS.includes(name) ||
    (Number(totals[name]) !== 0 && !(name === "netWithCost" && totals.netWithCost === totals.net));
  draw(report.columns.filter(isShown));
  return into;

  function draw(names) {
    const left = report.columns.filter((name) => totals[name] !== null && !names.includes(name));
    const missing = about.by === "day" && rows.length < countDays(about);
    const all = button("Show all columns", () => draw(report.columns), { class: "small" });
    replace(
      into,
      table({
        name: "Sums",
        columns: [
          { title: called(about.by), cell: (row) => (row.isTotal ? h.b("Total") : labelled(row, about)) },
          ...names.map((name) => ({
            title: titleOf(name),
            cell: (row) => (row.isTotal ? h.b(formatSum(row, name)) : formatSum(row, name)),
            class: name === "net" || name === "orders" ? "number" : "number wide",
          })),
        ],
        rows: [{ ...totals, isTotal: true }, ...(about.by === "day" ? rows.toReversed() : rows)],
      }),
      (missing || left.length > 0) &&
        h.p(
          { class: "soft small actions" },
          missing && "Days without a sum are left out. ",
          left.length > 0 && [`Not shown: ${left.map((name) => titleOf(name).toLowerCase()).join(", ")}. `, all],
        ),
    );
  }
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
