// A list whose state is in its address: search as you type, filters, pages; restored on return.

import { isLeft } from "../api.js";
import { button, h, replace } from "../dom.js";
import { called, number, plural } from "../format.js";
import { link } from "../router.js";
import { choice, meant } from "./choice.js";
import { withDialogs } from "./dialogs.js";
import { field } from "./form.js";
import { matching } from "./matching.js";
import { announce, problem } from "./notice.js";
import { skeleton } from "./page.js";
import { table } from "./table.js";
import { views } from "./views.js";

const PAUSE = 220; // milliseconds without a key before the search is made
const LIMIT = "50";
const given = (query, but = []) =>
  Object.fromEntries(
    Object.entries(query).filter(([name, value]) => value && !["page", ...but].includes(name)),
  );

// `top`: of the page, as `visit.draw` takes it; `intro`: what stands above the list.
// `filters`: those of `field`, named as in the address; `more`: after a click; `used`: it offers the values in use; `not`: the filters that
// it replaces.
// `toQuery` makes the API's query from them.
// `cards`: as of `table`; `fold(records)`: its rows, if those are not the records. `choose(selection, done)` draws the actions for { size, which, rows }. `reads`: the fields of each record that the API
// returns; all if absent. `exports`: the API's name for the records in an export. Resolves when the first page is drawn.
export async function list(visit, spec) {
  const { api, columns, none, name, filters: own = [], toQuery = (asked) => asked, choose, reads } = spec;
  const { path } = visit;
  const fields = own.map((each) => ({ label: called(each.name), ...each }));
  const asked = Object.fromEntries(
    Object.entries(visit.query).filter(
      ([each]) => each === "page" || fields.some((filter) => filter.name === each),
    ),
  );
  const chosen = new Map(); // id → row
  let isAll = false; // all that match, on every page
  let total = 0;
  let shownRows = 0;
  let shown = ""; // the rows that are drawn
  let filters = {};
  const count = h.p({ class: "count soft", "aria-hidden": "true" });
  const chosenBar = h.div({ class: "chosen", hidden: true });
  const exporting = visit.once(() =>
    withDialogs((dialogs) => dialogs.exportDialog(visit, { type: spec.exports, name, filters, total })),
  );
  const exportButton = button("Export", exporting, { class: "quiet", hidden: true });
  const results = h.div({ class: "results" }, skeleton());

  const of = (each) => [api.replace("admin/", ""), each];
  const knowns = fields.filter(({ used }) => used).map(({ name }) => name);
  const exact = new Map(); // what was typed → the value that it means
  const drawn = ({ used, more: _, not: __, ...each }) => {
    const value = asked[each.name] ?? "";
    const settings = { ...each, value: used?.shown?.(value) ?? value, oninput: typed };
    return used ? choice(visit, of(each.name), { ...settings, ...used }) : field(settings);
  };
  const rest = fields.filter(({ more }) => more);
  const [first, ...others] = fields.filter(({ more }) => !more).map(drawn);
  // On a phone the list begins on the first screen: its filters are folded.
  const fold = button("Filters", () => fold.setAttribute("aria-expanded", String(!bar.classList.toggle("folded"))), {
    class: "narrow",
    "aria-expanded": "false",
  });
  const bar = h.form(
    { class: "filters folded", role: "search", onsubmit: (event) => event.preventDefault() },
    first,
    others.length > 0 && fold,
    others,
    rest.length > 0 &&
      h.details(
        { class: "more", open: rest.some(({ name }) => asked[name]) },
        h.summary("More filters"),
        h.div({ class: "filters even" }, rest.map(drawn)),
      ),
  );
  const chips = h.div({ class: "chips" });
  // An address may have what its fields cannot hold, such as `?period=x`.
  for (const name of Object.keys(asked)) if (bar.elements[name]?.value === "") delete asked[name];

  // The active filters, each with a button that removes it; and the views.
  function drawChips() {
    replace(
      chips,
      views(visit, given(asked), drawChips),
      fields
        .filter(({ name, type }) => asked[name] && type !== "search")
        .map(({ name, label, options, used }) => {
          const value = options?.find(([option]) => option === asked[name])?.[1] ?? used?.shown?.(asked[name]) ?? asked[name];
          return h.span(
            { class: "chip" },
            `${label}: ${value}`,
            button("×", () => clear(bar.elements[name]), { class: "quiet small", "aria-label": `Clear ${label}` }),
          );
        }),
    );
  }

  function clear(control) {
    control.value = "";
    typed({ target: control });
    control.focus();
  }

  function typed({ target }) {
    asked[target.name] = target.value;
    delete asked.page;
    for (const other of target.value ? (fields.find(({ name }) => name === target.name).not ?? []) : []) {
      delete asked[other];
      bar.elements[other].value = "";
    }
    visit.rewrite(asked);
    drawChips();
    visit.after(target.tagName === "SELECT" ? 0 : PAUSE, "typed", load);
  }

  async function meaning(each, mine) {
    const text = asked[each].trim();
    const key = `${each} ${text}`;
    if (!exact.has(key)) {
      const { code = String } = fields.find(({ name: its }) => its === each).used;
      const { same, first } = await meant(visit, of(each), code(text), mine);
      if (first) exact.set(key, same ?? first);
    }
    return [each, exact.get(key) ?? text];
  }

  // Rows may be selected before the last list of a search is there: those that are still listed stay selected.
  async function load() {
    const mine = visit.latest("list");
    results.setAttribute("aria-busy", "true");
    try {
      const typedIn = knowns.filter((each) => asked[each]?.trim());
      const found = Object.fromEntries(await Promise.all(typedIn.map((each) => meaning(each, mine))));
      mine.throwIfAborted();
      // Blanks around a text, such as after a word that is being typed, are no part of it.
      const said = Object.fromEntries(Object.entries(asked).map(([each, text]) => [each, text.trim()]));
      const wanted = toQuery({ ...said, ...found });
      const query = { limit: LIMIT, fields: reads, ...wanted };
      const { data } = await visit.get(api, query, mine);
      const kept = isAll ? [] : data.data.filter(({ id }) => chosen.has(id));
      if (kept.length < chosen.size) shown = ""; // drawn again without the other ticks
      chosen.clear();
      kept.forEach((row) => chosen.set(row.id, row));
      isAll = false;
      total = data.total;
      shownRows = data.data.length;
      filters = given(wanted, ["sort"]);
      draw(data, found);
      announce(`${plural(data.total, name)} found.`);
    } catch (refusal) {
      if (isLeft(refusal)) return;
      shown = "";
      replace(count);
      const first = asked.page && [link(path, { ...asked, page: "" }), "Go to the first page"];
      replace(results, problem(refusal, load, first));
    }
    results.removeAttribute("aria-busy");
  }

  function draw({ data, pagination }, found) {
    const filtered = fields.some((each) => asked[each.name]);
    const limits = Object.entries(found)
      .map(([each, value]) => [fields.find((one) => one.name === each), value])
      .filter(([{ name: its, used }, value]) => ![value, used.shown?.(value)].includes(asked[its]))
      .map(([{ label, used }, value]) => ` · ${label}: ${used.shown?.(value) ?? value}`);
    replace(count, pagination.total > 0 && [plural(pagination.total, name), limits]);
    exportButton.hidden = !spec.exports || total === 0;
    // Unchanged rows are not redrawn, because the user may be clicking on one.
    const rows = JSON.stringify([data, pagination, pagination.totalPages > 1 && asked]);
    if (rows === shown) return;
    drawChosen();
    shown = data.length > 0 ? rows : "";
    bar.hidden = data.length === 0 && pagination.total === 0 && !filtered; // nothing to filter
    if (data.length === 0) {
      const past = pagination.total > 0;
      const clear = h.a(
        { class: "button", href: link(path) },
        past ? "Go to the first page" : "Clear filters",
      );
      const title = past ? "There is nothing on this page" : `No ${name}s match`;
      replace(
        results,
        filtered || past ? h.div({ class: "empty" }, h.p({ class: "strong" }, title), clear) : none,
      );
      return;
    }
    const rowsDrawn = table({
      name: `${name}s`,
      cards: spec.cards,
      columns: [choose && tick(data), ...columns.map(sortable)].filter(Boolean),
      rows: spec.fold?.(data) ?? data,
    });
    replace(results, rowsDrawn, pager(pagination));
  }

  // A column with `sorts`, the values of the filter `sort`: its heading goes from one to the next.
  function sortable({ sorts, ...column }) {
    if (!sorts) return column;
    const at = sorts.indexOf(asked.sort ?? "");
    const next = sorts[at + 1] ?? "";
    const onclick = () => {
      bar.elements.sort.value = next;
      typed({ target: bar.elements.sort });
    };
    const isDown = sorts[at]?.startsWith("-") || sorts[at] === "";
    return {
      ...column,
      sorted: at >= 0 ? (isDown ? "descending" : "ascending") : null,
      title: button([column.title, at >= 0 && h.span({ "aria-hidden": "true" }, isDown ? " ↓" : " ↑")], onclick, {
        class: "quiet small sort",
      }),
    };
  }

  function tick(rows) {
    let last = null; // the box that was clicked last: with Shift, those between follow it
    const all = h.input({
      type: "checkbox",
      checked: chosen.size === rows.length,
      indeterminate: chosen.size > 0 && chosen.size < rows.length,
      "aria-label": `Select all ${name}s on this page`,
      onchange: () => {
        isAll = false;
        rows.forEach((row) => (all.checked ? chosen.set(row.id, row) : chosen.delete(row.id)));
        results.querySelectorAll("td.tick input").forEach((each) => (each.checked = all.checked));
        drawChosen();
      },
    });
    return {
      title: all,
      class: "tick",
      cell: (row) =>
        h.input({
          type: "checkbox",
          checked: chosen.has(row.id),
          "aria-label": `Select ${row.name ?? `#${row.number}`}`,
          onclick: (event) => {
            const boxes = [...results.querySelectorAll("td.tick input")];
            const ends = [boxes.indexOf(last), boxes.indexOf(event.target)].toSorted((a, b) => a - b);
            last = event.target;
            if (!event.shiftKey || ends[0] < 0) return;
            rows.slice(ends[0], ends[1] + 1).forEach((each, at) => {
              boxes[ends[0] + at].checked = last.checked;
              last.checked ? chosen.set(each.id, each) : chosen.delete(each.id);
            });
          },
          onchange: ({ target }) => {
            isAll = false;
            target.checked ? chosen.set(row.id, row) : chosen.delete(row.id);
            all.indeterminate = chosen.size > 0 && chosen.size < rows.length;
            all.checked = chosen.size === rows.length;
            drawChosen();
          },
        }),
    };
  }

  // The selection: { ids }, { filters } or { all: true }, as bulk edits take it.
  function drawChosen() {
    chosenBar.hidden = chosen.size === 0;
    count.hidden = chosen.size > 0;
    if (chosen.size === 0) return replace(chosenBar);
    const size = isAll ? total : chosen.size;
    const which = isAll ? matching(filters) : { ids: [...chosen.keys()] };
    const more = !isAll && chosen.size === shownRows && total > shownRows;
    return replace(
      chosenBar,
      h.b(`${number(size)} selected`),
      more &&
        button(`Select all ${plural(total, name)} that match`, () => drawChosen((isAll = true)), { class: "quiet" }),
      choose({ size, which, rows: [...chosen.values()] }, done),
    );
  }

  // After an action: nothing is selected any more.
  function done() {
    chosen.clear();
    isAll = false;
    shown = ""; // drawn again without the ticks
    drawChosen();
    return load();
  }

  function pager({ page, limit, total, totalPages }) {
    if (totalPages < 2) return null;
    const first = (page - 1) * limit + 1;
    const to = (other, text) =>
      other >= 1 && other <= totalPages
        ? h.a(
            { class: "button", href: link(path, { ...asked, page: other === 1 ? "" : other }) },
            text,
          )
        : h.span({ class: "button off", "aria-hidden": "true" }, text);
    return h.nav(
      { class: "pager", "aria-label": "Pages" },
      to(page - 1, "← Previous"),
      h.span(
        { class: "soft" },
        `${number(first)}–${number(Math.min(first + limit - 1, total))} of ${number(total)}`,
      ),
      to(page + 1, "Next →"),
    );
  }

  drawChips();
  visit.draw(spec.top, spec.intro, h.div(bar, chips, h.div({ class: "above" }, count, chosenBar, exportButton), results));
  await load();
  visit.whenBack(() => chosen.size === 0 && load());
  return { load };
}
