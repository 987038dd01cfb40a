// The result of a dry run: products as they are and as they would be.

import { h } from "../dom.js";
import { words } from "../format.js";
import { card } from "./page.js";
import { table } from "./table.js";

const TITLES = { created: "New", updated: "Updated" };

export function previewTable(preview) {
  return card(
    "Preview",
    h.p({ class: "soft" }, "The first products that would change."),
    table({
      name: "Preview",
      columns: [
        {
          title: "Product",
          cell: ({ name, slug, outcome }) => [
            h.b(h.bdi(name || slug)),
            h.div({ class: "soft small" }, TITLES[outcome] ?? words(outcome)),
          ],
        },
        {
          title: "Changes",
          cell: ({ before, after }) =>
            Object.entries(after).map(([name, value]) =>
              h.div(
                { class: "cut" },
                h.span({ class: "soft" }, `${name}: `),
                before && [h.del(shown(before[name])), " → "],
                h.span(shown(value)),
              ),
            ),
        },
      ],
      rows: preview,
    }),
  );
}

function shown(value) {
  if (value === null || value === undefined || value === "") return "none";
  if (Array.isArray(value)) return value.map(shown).join("; ") || "none";
  if (typeof value !== "object") return String(value);
  return Object.entries(value)
    .filter(([name, each]) => name !== "id" && each !== null && each !== "")
    .map(([name, each]) => `${name} ${shown(each)}`)
    .join(", ");
}
