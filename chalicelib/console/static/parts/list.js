// A list whose state is in its address: search as you type, filters, pages; restored on return.

import { isLeft } from "../api.js";
import { h, replace } from "../dom.js";
import { number, plural } from "../format.js";
import { link } from "../router.js";
import { exportDialog, matching } from "./export.js";
import { field } from "./form.js";
import { learn, meant, offered, remember, titled } from "./known.js";
import { announce, problem } from "./notice.js";
import { skeleton } from "./page.js";
import { table } from "./table.js";
import { views } from "./views.js";
import "./work.js";

const PAUSE = 220; // milliseconds without a key before the search is made
const LIMIT = "50";
const given = (query, but = []) =>
  Object.fromEntries(
    Object.entries(query).filter(([name, value]) => value && !["page", ...but].includes(name)),
  );

// `filters`: those of `field`, named as in the address; `more`: after a click; `known`: it offers the values seen so far.
// `toQuery` makes the API's query from them.
// `choose(selection, done)` draws the actions for { size, which, rows }. `reads`: the fields of each record that the API
// returns; all if absent. `exports`: the API's name for the records in an export. Resolves when the first page is drawn.
export async function list(visit, spec) {
  const { api, filters: fields, columns, none, name, toQuery = (asked) => asked, choose, reads } = spec;
  const { path } = visit;
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
  const exportButton = h.button(
    {
      type: "button",
      class: "quiet",
      hidden: true,
      onclick: () => exportDialog(visit, { type: spec.exports, name, filters, total }),
    },
    "Export",
  );
  const results = h.div({ class: "results" }, skeleton());

  const knowns = fields.filter(({ known }) => known).map(({ name }) => name);
  const offers = new Map(knowns.map((each) => [each, offered(api, each)]));
  const drawn = ({ known, more: _, ...each }) =>
    field({
      ...each,
      ...(known && { list: offers.get(each.name).id, onfocus: offer, autocomplete: "off" }),
      value: asked[each.name] ?? "",
      oninput: typed,
    });
  const rest = fields.filter(({ more }) => more);
  const bar = h.form(
    { class: "filters", role: "search", onsubmit: (event) => event.preventDefault() },
    fields.filter(({ more }) => !more).map(drawn),
    [...offers.values()].map(({ node }) => node),
    rest.length > 0 &&
      h.details(
        { class: "more", open: rest.some(({ name }) => asked[name]) },
        h.summary("More filters"),
        h.div({ class: "filters even" }, rest.map(drawn)),
      ),
  );
  const chips = h.div({ class: "chips" });

  // The active filters, each with a button that removes it; and the views.
  function drawChips() {
    replace(
      chips,
      views(visit, given(asked), drawChips),
      fields
        .filter(({ name, type }) => asked[name] && type !== "search")
        .map(({ name, label, options }) => {
          const value = options?.find(([option]) => option === asked[name])?.[1] ?? asked[name];
          return h.span(
            { class: "chip" },
            `${label}: ${value}`,
            h.button(
              {
                type: "button",
                class: "quiet small",
                "aria-label": `Clear ${label}`,
                onclick: () => {
                  const control = bar.elements[name];
                  control.value = "";
                  typed({ target: control });
                  control.focus();
                },
              },
              "×",
            ),
          );
        }),
    );
  }

  async function offer() {
    await learn(visit, api, knowns);
    offers.forEach(({ fill }) => fill());
  }

  function typed({ target }) {
    asked[target.name] = target.value;
    delete asked.page;
    visit.rewrite(asked);
    drawChips();
    visit.after(target.tagName === "SELECT" ? 0 : PAUSE, "typed", load);
  }

  const answer = async (found, mine) =>
    (await visit.get(api, { limit: LIMIT, fields: reads, ...toQuery({ ...asked, ...found }) }, mine)).data;

  async function load() {
    const mine = visit.latest("list");
    results.setAttribute("aria-busy", "true");
    try {
      let found = {};
      for (const each of knowns.filter((each) => asked[each]?.trim()))
        found[each] = await meant(visit, api, knowns, each, asked[each].trim());
      mine.throwIfAborted();
      let data = await answer(found, mine);
      const otherwise = Object.fromEntries(
        Object.entries(found).map(([each, value]) => [each, titled(value)]),
      );
      if (data.total === 0 && JSON.stringify(otherwise) !== JSON.stringify(found)) {
        const again = await answer(otherwise, mine);
        if (again.total > 0) [data, found] = [again, otherwise];
      }
      remember(api, knowns, data.data);
      offers.forEach(({ fill }) => fill());
      if (chosen.size > 0) shown = ""; // drawn again without the ticks
      chosen.clear();
      isAll = false;
      total = data.total;
      shownRows = data.data.length;
      filters = given(toQuery({ ...asked, ...found }), ["sort"]);
      draw(data, found);
      announce(`${plural(data.total, name)} found.`);
    } catch (refusal) {
      if (isLeft(refusal)) return;
      shown = "";
      replace(count);
      replace(results, problem(refusal, load));
    }
    results.removeAttribute("aria-busy");
  }

  function draw({ data, pagination }, found) {
    const filtered = fields.some((each) => asked[each.name]);
    const limits = Object.entries(found)
      .filter(([each, value]) => value !== asked[each])
      .map(([each, value]) => ` · ${fields.find((one) => one.name === each).label}: ${value}`);
    replace(count, pagination.total > 0 && [plural(pagination.total, name), limits]);
    exportButton.hidden = !spec.exports || total === 0;
    drawChosen();
    // Unchanged rows are not redrawn, because the user may be clicking on one.
    const rows = JSON.stringify([data, pagination, pagination.totalPages > 1 && asked]);
    if (rows === shown) return;
    shown = data.length > 0 ? rows : "";
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
      columns: choose ? [tick(data), ...columns] : columns,
      rows: data,
    });
    replace(results, rowsDrawn, pager(pagination));
  }

  function tick(rows) {
    let last = null; // the box that was clicked last: with Shift, those between follow it
    const all = h.input({
      type: "checkbox",
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
        h.button(
          { type: "button", class: "quiet", onclick: () => drawChosen((isAll = true)) },
          `Select all ${plural(total, name)} that match`,
        ),
      choose({ size, which, rows: [...chosen.values()] }, load),
    );
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
  replace(spec.into, bar, chips, h.div({ class: "above" }, count, chosenBar, exportButton), results);
  await load();
  visit.whenBack(() => chosen.size === 0 && load());
  return { load };
}
