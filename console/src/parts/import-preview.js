// The result of a dry run: products as they are and as they would be.

import { h } from "../dom.js";
import { words } from "../format.js";
import { changesOf, newInWords } from "./changes.js";
import { card } from "./page.js";
import { picture } from "./picture.js";
import { table } from "./table.js";

const TITLES = { created: "New", updated: "Changed" };

export const previewTable = (preview) =>
  card(
    "Preview",
    h.p({ class: "soft" }, "The first products that would change."),
    table({
      name: "Preview",
      columns: [
        {
          title: "Product",
          cell: ({ name, slug, image, outcome }) =>
            h.div(
              { class: "named" },
              picture({ url: image }),
              h.div(
                h.b(h.bdi(name || slug)),
                h.div({ class: "soft small" }, TITLES[outcome] ?? words(outcome)),
              ),
            ),
        },
        {
          title: "Changes",
          cell: ({ before, after }) => (before ? changesOf(before, after) : newInWords(after)),
        },
      ],
      rows: preview,
    }),
  );
