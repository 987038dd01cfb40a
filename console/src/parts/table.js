// Rows of one kind. A column with `class: "wide"` is left out on a phone.

import { h } from "../dom.js";

// `columns`: [{ title, cell(row), class, sorted }]; `sorted`: ascending or descending. A link with the class `row` opens the whole row.
// `cards`: on a phone each row is two lines, of the cells whose class is first, under, beside, top, state or last.
export function table({ name, columns, rows, cards }) {
  const is = (role) => cards && role; // which a browser forgets when a style makes it another box
  return h.div(
    { class: `table ${cards ? "cards" : ""}`, role: "region", "aria-label": name, tabindex: "0" },
    h.table(
      { role: is("table") },
      h.thead(
        { role: is("rowgroup") },
        h.tr(
          { role: is("row") },
          columns.map((each) =>
            h.th({ scope: "col", role: is("columnheader"), class: each.class, "aria-sort": each.sorted }, each.title),
          ),
        ),
      ),
      h.tbody(
        { role: is("rowgroup") },
        rows.map((row) =>
          h.tr(
            { role: is("row") },
            columns.map((each) => h.td({ role: is("cell"), class: each.class }, each.cell(row))),
          ),
        ),
      ),
    ),
  );
}
