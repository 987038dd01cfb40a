// Somebody else changed what is being edited: what was it, what is it now, what would it become.

import { h } from "../dom.js";
import { modal } from "./dialog.js";
import { table } from "./table.js";

const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

// The names of the fields that differ.
export const differing = (one, other) =>
  Object.keys(other).filter((name) => !same(one[name], other[name]));

// Resolves to "mine" (save over it), "theirs" (drop what I typed) or null (go on editing).
export function whichStays({ was, now, mine, what }) {
  const theirs = differing(was, now);
  const own = differing(was, mine);
  const rows = theirs.map((name) => ({ name, both: own.includes(name) }));
  return new Promise((decided) => {
    let choice = null;
    const choose = (value) => () => {
      choice = value;
      dialog.close();
    };
    const dialog = modal(`The ${what} was changed while you edited it`, [
      h.p(
        rows.some(({ both }) => both)
          ? "Both of you changed the same. Nothing is saved yet."
          : "Your changes are about something else. Nothing is saved yet.",
      ),
      table({
        name: "What changed",
        columns: [
          { title: "Field", cell: ({ name }) => h.b(name) },
          { title: "It was", cell: ({ name }) => told(was[name]) },
          { title: "It is now", cell: ({ name }) => told(now[name]) },
          {
            title: "Yours",
            cell: ({ name, both }) =>
              both ? told(mine[name]) : h.span({ class: "soft" }, "as it is now"),
          },
        ],
        rows,
      }),
      h.div(
        { class: "actions" },
        h.button(
          { type: "button", class: "main", onclick: choose("mine") },
          "Save my changes over it",
        ),
        h.button({ type: "button", onclick: choose("theirs") }, "Drop mine"),
        h.button({ type: "button", class: "quiet", onclick: choose(null) }, "Keep editing"),
      ),
    ]);
    dialog.classList.add("broad");
    dialog.addEventListener("close", () => decided(choice));
  });
}

function told(value) {
  if (value === null || value === undefined || value === "")
    return h.span({ class: "soft" }, "nothing");
  if (Array.isArray(value))
    return value.length ? value.map((each) => h.div(told(each))) : told(null);
  if (typeof value === "object") {
    return Object.entries(value)
      .filter(([name, each]) => name !== "id" && each !== null && each !== "")
      .map(([name, each]) => `${name} ${each}`)
      .join(", ");
  }
  return String(value);
}
