// A list whose address says what it shows: searched as one types, filtered, paged, and the same
// again when one comes back.

import { get } from "../api.js";
import { h, replace } from "../dom.js";
import { number, plural } from "../format.js";
import { link, rewrite } from "../router.js";
import { field } from "./form.js";
import { learn, meant, offered, remember, titled } from "./known.js";
import { announce, problem } from "./notice.js";
import { table } from "./table.js";

const PAUSE = 220; // milliseconds without a key before the search is made
const LIMIT = "50";

// `filters`: those of `field`, named as in the address; `known`: it offers the values seen so far.
// `toQuery` makes the API's query of them.
// `choose(ids, done)` draws what can be done with chosen rows. Resolves when the first page stands.
export async function list(spec) {
  const {
    api,
    path,
    query,
    signal,
    filters,
    columns,
    none,
    name,
    toQuery = (asked) => asked,
    choose,
  } = spec;
  const asked = { ...query };
  const chosen = new Set();
  const count = h.p({ class: "count soft", "aria-hidden": "true" });
  const chosenBar = h.div({ class: "chosen", hidden: true });
  const results = h.div({ class: "results" });
  let loading = new AbortController();
  let pause = 0;
  signal.addEventListener("abort", () => loading.abort());

  const knowns = filters.filter(({ known }) => known).map(({ name }) => name);
  const offers = new Map(knowns.map((each) => [each, offered(api, each)]));
  const bar = h.form(
    { class: "filters", role: "search", onsubmit: (event) => event.preventDefault() },
    filters.map(({ known, ...each }) =>
      field({
        ...each,
        ...(known && { list: offers.get(each.name).id, onfocus: offer, autocomplete: "off" }),
        value: asked[each.name] ?? "",
        oninput: typed,
      }),
    ),
    [...offers.values()].map(({ node }) => node),
  );

  async function offer() {
    await learn(api, knowns);
    offers.forEach(({ fill }) => fill());
  }

  function typed({ target }) {
    asked[target.name] = target.value;
    delete asked.page;
    rewrite(path, asked);
    clearTimeout(pause);
    pause = setTimeout(load, target.tagName === "SELECT" ? 0 : PAUSE);
  }

  const answer = async (found, mine) =>
    (await get(api, { limit: LIMIT, ...toQuery({ ...asked, ...found }) }, mine)).data;

  async function load() {
    loading.abort();
    loading = new AbortController();
    const mine = loading.signal;
    results.setAttribute("aria-busy", "true");
    try {
      let found = {};
      for (const each of knowns.filter((each) => asked[each]?.trim()))
        found[each] = await meant(api, knowns, each, asked[each].trim());
      if (mine.aborted) return;
      let data = await answer(found, mine);
      const otherwise = Object.fromEntries(
        Object.entries(found).map(([each, value]) => [each, titled(value)]),
      );
      if (data.total === 0 && JSON.stringify(otherwise) !== JSON.stringify(found)) {
        const again = await answer(otherwise, mine);
        if (again.total > 0) [data, found] = [again, otherwise];
      }
      if (mine.aborted) return;
      remember(api, knowns, data.data);
      offers.forEach(({ fill }) => fill());
      chosen.clear();
      draw(data, found);
      announce(`${plural(data.total, name)} found.`);
    } catch (refusal) {
      if (mine.aborted) return;
      replace(count);
      replace(results, problem(refusal, load));
    }
    results.removeAttribute("aria-busy");
  }

  function draw({ data, pagination }, found) {
    const filtered = filters.some((each) => asked[each.name]);
    const limits = Object.entries(found)
      .filter(([each, value]) => value !== asked[each])
      .map(([each, value]) => ` · ${filters.find((one) => one.name === each).label}: ${value}`);
    replace(count, pagination.total > 0 && [plural(pagination.total, name), limits]);
    drawChosen();
    if (data.length === 0) {
      const past = pagination.total > 0;
      const clear = h.a(
        { class: "button", href: link(path) },
        past ? "To the first page" : "Clear the filters",
      );
      const told = past ? "This page is past the end" : `No ${name} fits`;
      replace(
        results,
        filtered || past ? h.div({ class: "empty" }, h.p({ class: "strong" }, told), clear) : none,
      );
      return;
    }
    const drawn = table({
      name: `${name}s`,
      columns: choose ? [tick(data), ...columns] : columns,
      rows: data,
    });
    replace(results, drawn, pager(pagination));
  }

  function tick(rows) {
    const all = h.input({
      type: "checkbox",
      "aria-label": `Choose all ${name}s on this page`,
      onchange: () => {
        rows.forEach(({ id }) => (all.checked ? chosen.add(id) : chosen.delete(id)));
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
          "aria-label": `Choose ${row.name ?? row.number}`,
          onchange: ({ target }) => {
            target.checked ? chosen.add(row.id) : chosen.delete(row.id);
            all.indeterminate = chosen.size > 0 && chosen.size < rows.length;
            all.checked = chosen.size === rows.length;
            drawChosen();
          },
        }),
    };
  }

  function drawChosen() {
    chosenBar.hidden = chosen.size === 0;
    count.hidden = chosen.size > 0;
    if (chosen.size > 0)
      replace(chosenBar, h.b(`${number(chosen.size)} chosen`), choose([...chosen], load));
    else replace(chosenBar);
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
      to(page - 1, "← Newer"),
      h.span(
        { class: "soft" },
        `${number(first)}–${number(Math.min(first + limit - 1, total))} of ${number(total)}`,
      ),
      to(page + 1, "Older →"),
    );
  }

  replace(spec.into, bar, h.div({ class: "above" }, count, chosenBar), results);
  await load();
  return { load };
}
