// Sales, money and tax of a period: a job adds them up.

import { button, h, replace } from "../dom.js";
import { TIMEZONE } from "../facts.js";
import { ago, called, money, number, plural, words } from "../format.js";
import { repWord } from "../parts/words.js";
import { bars, dayName } from "../parts/bars.js";
import { field, optionsOf } from "../parts/form.js";
import { announce } from "../parts/notice.js";
import { card, empty, skeleton } from "../parts/page.js";
import { days, reportOf } from "../parts/report.js";
import { table } from "../parts/table.js";
import { daysAgo } from "../parts/zone.js";
import { link } from "../router.js";

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

export async function show(visit) {
  const { type = "sales", by = "day", from = daysAgo(29), to = daysAgo(0) } = visit.query;
  const asked = { type: Object.hasOwn(TYPES, type) ? type : "sales", by, from, to };
  if (asked.type === "money") asked.clock = visit.query.clock === "received" ? "received" : "recorded";
  const result = h.div({ class: "stack" });
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
  visit.draw({ title: "Reports" }, h.div({ class: "stack even" }, filters, result));
  await load();

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

  function load(event) {
    const mine = visit.latest("report");
    filters.querySelectorAll(".error").forEach((each) => replace(each));
    replace(result, skeleton());
    return visit.fill(result, () => sums(event, mine).catch(refused));
  }

  async function sums(event, mine) {
    const job = await reportOf(visit, { ...asked }, mine, Boolean(event));
    announce(plural(job.report.rows.length, "row"));
    const again = button("Add up again", load, { class: "small" });
    return [
      h.p({ class: "soft" }, CLOCKS[job.about.clock === "received" ? "received" : job.about.type]),
      drawn(job),
      h.p({ class: "soft" }, "Added up ", ago(job.completedAt), ". ", again),
    ];
  }

  function refused(refusal) {
    const wrong = refusal.errors?.find((each) => filters.elements[each.field]);
    if (!wrong) throw refusal;
    replace(filters.elements[wrong.field].closest(".field").querySelector(".error"), wrong.message);
  }
}

// The rows of a job's report; `about` is what was asked.
function drawn(job) {
  const { report, about, downloadUrl } = job;
  const { columns, rows, totals, truncated } = report;
  if (rows.length === 0) return empty("Nothing in this period", "Choose other days.");
  const most = Math.max(...rows.map(({ net }) => Number(net)), 0) || 1;
  const shown = (row, name) => (COUNTS.includes(name) ? number(row[name]) : money(row[name]));
  const bar = ({ net }) =>
    h.span(
      { class: "timing", "aria-hidden": "true" },
      h.span({ style: { width: `${(100 * Math.max(0, net)) / most}%` } }),
    );
  return [
    about.by === "day" && card("Net", bars(days(job, (date) => leads(date, about)), `Net ${about.type}`)),
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
        { title: "Share", class: "wide", cell: (row) => !row.isTotal && bar(row) },
      ],
      rows: [...rows, { ...totals, isTotal: true }],
    }),
    truncated && h.p({ class: "notice" }, "Not all rows are shown. The file has more of them."),
    h.p(h.a({ class: "button", href: downloadUrl, download: "" }, "Download as CSV")),
  ];
}

function labelled({ key, label }, about) {
  if (key === null) return NONE[about.by];
  const isName = ["source", "paymentMethod"].includes(about.by);
  const text = about.by === "day" ? dayName(key) : isName ? words(key) : about.by === "salesRep" ? repWord(key) : label;
  const href = leads(key, about);
  return href ? h.a({ href }, h.bdi(text)) : h.bdi(text);
}

// Where a row's orders are.
function leads(key, { type, by, from, to }) {
  if (type !== "sales") return null;
  if (by === "day") return link("/orders", { from: key, to: key });
  if (by === "product") return link(`/products/${key}`);
  const filter = { source: "source", salesRep: "salesRepId" }[by];
  return filter ? link("/orders", { [filter]: key, from, to }) : null;
}
