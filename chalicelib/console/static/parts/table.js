// Rows of one kind. A column with `class: "wide"` is left out on a phone.

import { h } from "../dom.js";

// `columns`: [{ title, cell(row), class, sorted }]; `sorted`: ascending or descending. A link with the class `row` opens the whole row.
export function table({ name, columns, rows }) {
  return h.div(
    { class: "table", role: "region", "aria-label": name, tabindex: "0" },
    h.table(
      h.thead(
        h.tr(
          columns.map((each) =>
            h.th({ scope: "col", class: each.class, "aria-sort": each.sorted }, each.title),
          ),
        ),
      ),
      h.tbody(
        rows.map((row) => h.tr(columns.map((each) => h.td({ class: each.class }, each.cell(row))))),
      ),
    ),
  );
}
