// Rows that can be added and removed: the variants and questions of a product, carriers. Many of them are found by a filter, and
// drawn a page at a time.

import { button, h, replace } from "../dom.js";
import { plural } from "../format.js";
import { field } from "./form.js";
import { icon } from "./icon.js";

const FEW = 20; // rows that are shown without being asked for

// `columns`: those of `field`, named as in a row of the API. Errors such as `variants.2.price`
// find their row, because the fields are renamed whenever a row is added or removed.
// `mayRemove(row)` resolves to whether a row may go. `down`: columns whose first text a press copies to all rows below;
// `extra`: more buttons.
export function rows({ name, columns, add, what, widths, start = [], down = [], extra = null, changed = () => {}, mayRemove = () => true }) {
  let shown = FEW;
  const body = h.div({ class: "rows" });
  const search = field({ name: `find ${name}`, label: `Filter ${name}`, type: "search", oninput: () => showing(FEW) });
  const wanted = search.querySelector("input");
  const more = button("", () => showing(shown + 5 * FEW), { class: "small more" });
  const node = h.div(
    { class: "rows", style: { "--line-columns": widths }, "data-field": name },
    search,
    h.div(
      { class: "line head", "aria-hidden": "true" },
      columns.map(({ label }) => h.span(label)),
    ),
    body,
    h.p({ class: "error" }),
    h.div(
      { class: "actions" },
      button(add, another, { class: "small add" }),
      extra,
      down.map((each) => button(`Copy ${each} down`, () => copyDown(each), { class: "small down" })),
      more,
    ),
  );

  function copyDown(column) {
    const [first, ...below] = [...body.children].map((line) => line.querySelector(`[name="${column}"]`));
    below.forEach((input) => (input.value = first.value));
    node.dispatchEvent(new Event("input", { bubbles: true }));
  }

  function showing(many) {
    shown = many;
    fit();
  }

  function another() {
    const line = append({});
    line.hidden = false;
    line.querySelector("input").focus();
  }

  function append(row) {
    const line = h.div(
      { class: "line" },
      columns.map((each) => field({ ...each, value: row[each.name] ?? "" })),
      button([icon("remove"), h.span({ class: "narrow" }, "Remove")], () => remove(line), { class: "quiet" }),
    );
    line.row = row;
    body.append(line);
    number(line);
    return line;
  }

  async function remove(line) {
    if (!(await mayRemove(line.row))) return;
    const next = line.nextElementSibling ?? line.previousElementSibling;
    line.remove();
    number();
    (next?.querySelector("input") ?? node.querySelector(".add")).focus();
    node.dispatchEvent(new Event("input", { bubbles: true })); // it is an edit of the form
    changed();
  }

  function number(only = null) {
    [...body.children].forEach((line, at) => {
      if (only && line !== only) return;
      line.querySelectorAll(".field").forEach((each, column) => {
        each.dataset.field = `${name}.${at}.${columns[column].name}`;
        each.querySelector("label").textContent = `${columns[column].label} of ${what} ${at + 1}`;
      });
      line.querySelector("button").setAttribute("aria-label", `Remove ${what} ${at + 1}`);
    });
    if (!starting) fit();
  }

  // Shows the rows that match the filter, up to the number asked for.
  function fit() {
    const lines = [...body.children];
    const words = wanted.value.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = lines.filter((line) => {
      if (words.length === 0) return true;
      const text = [...line.querySelectorAll("input")].map((each) => each.value).join(" ");
      return words.every((word) => text.toLowerCase().includes(word));
    });
    const visible = new Set(fits.slice(0, shown));
    lines.forEach((line) => (line.hidden = !visible.has(line)));
    const left = fits.length - visible.size;
    more.hidden = left === 0;
    replace(more, `Show more (${plural(left, what)} hidden)`);
    search.hidden = lines.length <= FEW;
    node.querySelector(".head").hidden = visible.size === 0;
    node.querySelectorAll(".down").forEach((each) => (each.hidden = lines.length < 2));
    changed();
  }

  let starting = true;
  start.forEach(append);
  starting = false;
  number();

  // The current rows: for each, its node, the row it was made from and the texts in its fields.
  const read = () =>
    [...body.children].map((line) => ({
      line,
      row: line.row,
      typed: Object.fromEntries(
        [...line.querySelectorAll("[name]")].map((each) => [each.name, each.value.trim()]),
      ),
    }));

  const keyOf = (row) => row.id ?? JSON.stringify(row);

  // What differs from the rows it began with: the keys of those that are gone, and the texts that were typed.
  function edits() {
    const lines = read();
    const left = new Set(lines.map(({ row }) => keyOf(row)));
    const gone = start.map(keyOf).filter((key) => !left.has(key));
    const isNew = (row) => !start.includes(row);
    const texts = ({ row, typed }) => Object.entries(typed).filter(([name, text]) => text !== String(row[name] ?? ""));
    const typed = lines
      .map((line) => ({ key: isNew(line.row) ? null : keyOf(line.row), texts: texts(line) }))
      .filter(({ key, texts }) => key === null || texts.length > 0);
    return { gone, typed };
  }

  function restore({ gone, typed }) {
    const lines = new Map([...body.children].map((line) => [keyOf(line.row), line]));
    gone.forEach((key) => lines.get(key)?.remove());
    for (const { key, texts } of typed) {
      const line = key === null ? append({}) : lines.get(key);
      texts.forEach(([name, text]) => line && (line.querySelector(`[name="${name}"]`).value = text));
    }
    number();
    node.dispatchEvent(new Event("input", { bubbles: true }));
  }

  // Goes to a row, by its id.
  function reveal(id, control) {
    const line = [...body.children].find((each) => each.row.id === id);
    if (!line) return;
    line.hidden = false;
    const input = line.querySelector(`[name="${control}"]`);
    input.scrollIntoView({ block: "center" });
    input.focus();
    input.select();
  }
  return { name, node, read, append, reveal, edits, restore };
}
