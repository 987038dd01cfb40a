// Rows that can be added and removed: variants, images, lines of an order.

import { h } from "../dom.js";
import { field } from "./form.js";
import { icon } from "./icon.js";
import "./work.js";

// `columns`: those of `field`, named as in a row of the API. Errors such as `variants.2.price`
// find their row, because the fields are named anew whenever rows come or go.
export function rows({ name, columns, add, what, widths, start = [], changed = () => {} }) {
  const body = h.div({ class: "rows" });
  const node = h.div(
    { class: "rows", style: { "--line-columns": widths }, "data-field": name },
    h.div(
      { class: "line head", "aria-hidden": "true" },
      columns.map(({ label }) => h.span(label)),
    ),
    body,
    h.p({ class: "error" }),
    h.div(
      h.button(
        {
          type: "button",
          class: "small",
          onclick: () => append({}).querySelector("input").focus(),
        },
        add,
      ),
    ),
  );

  function append(row) {
    const line = h.div(
      { class: "line" },
      columns.map((each) => field({ ...each, value: row[each.name] ?? "" })),
      h.button(
        { type: "button", class: "quiet", onclick: () => remove(line) },
        icon("remove"),
        h.span({ class: "narrow" }, "Remove"),
      ),
    );
    line.row = row;
    body.append(line);
    number();
    return line;
  }

  function remove(line) {
    const next = line.nextElementSibling ?? line.previousElementSibling;
    line.remove();
    number();
    (next?.querySelector("input") ?? node.querySelector(":scope > div:last-child button")).focus();
    changed();
  }

  function number() {
    [...body.children].forEach((line, at) => {
      line.querySelectorAll(".field").forEach((each, column) => {
        each.dataset.field = `${name}.${at}.${columns[column].name}`;
        each.querySelector("label").textContent = `${columns[column].label} of ${what} ${at + 1}`;
      });
      line.querySelector("button").setAttribute("aria-label", `Remove ${what} ${at + 1}`);
    });
    node.querySelector(".head").hidden = body.children.length === 0;
    changed();
  }

  start.forEach(append);
  number();

  // What stands there now: the row it was made of, and the texts in its fields.
  const read = () =>
    [...body.children].map((line) => ({
      row: line.row,
      typed: Object.fromEntries(
        [...line.querySelectorAll("[name]")].map((each) => [each.name, each.value.trim()]),
      ),
    }));
  return { node, read, append };
}
