// Someone else changed the record that is being edited: its old, current and edited values.

import { h } from "../dom.js";
import { called } from "../format.js";
import { shown } from "./changes.js";
import { decide } from "./dialog.js";
import { table } from "./table.js";

const same = (one, other) => JSON.stringify(one ?? null) === JSON.stringify(other ?? null);

// Whether a record has what was sent. The API adds ids, and has an order of members of its own.
export const has = (theirs, mine) =>
  mine === null || typeof mine !== "object"
    ? theirs === mine
    : (!Array.isArray(mine) || theirs?.length === mine.length) &&
      Object.entries(mine).every(([name, each]) => has(theirs?.[name] ?? null, each));

// New rows with the ids of those that are there by now: of an answer that was lost, or somebody else's.
export function claimed(rows, was, now) {
  const taken = new Set(was.map(({ id }) => id));
  return rows.map((row) => {
    const isIt = ({ id, title, sku }) =>
      !taken.has(id) && title === (row.title ?? row.sku) && sku === (row.sku ?? null);
    const id = row.id ?? now.find(isIt)?.id;
    taken.add(id);
    return id ? { ...row, id } : row;
  });
}

// The names of the fields that differ.
export const differing = (one, other) =>
  Object.keys(other).filter((name) => !same(one[name], other[name]));

// The values of `now` that differ from what was before.
export const pickChanges = (was, now) => Object.fromEntries(differing(was, now).map((name) => [name, now[name]]));

// The record with what the user changed in its form. `first`: what the form held unchanged, which may
// differ from the record: a tag with a comma is read back as two tags.
export const edited = (was, first, typed) => ({ ...was, ...pickChanges(first, typed) });

// A record as single values: rows with an id, such as variants, are compared separately, so that a
// price changed by one user and a stock changed by the other do not conflict.
function values(record) {
  const found = new Map();
  for (const [name, value] of Object.entries(record)) {
    const rows = name === "variants" ? (value ?? []) : null;
    if (!rows) found.set(name, { name, value });
    rows?.forEach((row, at) => {
      for (const [part, each] of Object.entries(row))
        if (part !== "id")
          found.set(`${row.id ?? `new ${at}`} ${part}`, {
            name: part,
            of: row.title ?? `Variant ${at + 1}`,
            value: each,
          });
    });
  }
  return found;
}

// The other user's changes: [{ name, of, was, now, mine, both }].
export function overlap({ was, now, mine }) {
  const variants = mine.variants && claimed(mine.variants, was.variants, now.variants);
  const [before, theirs, own] = [was, now, { ...mine, variants }].map(values);
  const keys = new Set([...before.keys(), ...theirs.keys()]);
  return [...keys]
    .filter((key) => !same(before.get(key)?.value, theirs.get(key)?.value))
    .map((key) => ({
      ...(theirs.get(key) ?? before.get(key)),
      was: before.get(key)?.value,
      now: theirs.get(key)?.value,
      mine: own.get(key)?.value,
      both: !same(before.get(key)?.value, own.get(key)?.value),
    }));
}

// Resolves to "mine" (overwrite), "theirs" (discard my input) or null (continue editing).
export function whichStays({ signal }, { was, now, mine, what }) {
  const rows = overlap({ was, now, mine });
  const own = (row) => (row.both ? h.bdi(shown(row.mine, row.name)) : h.span({ class: "soft" }, "not changed"));
  const content = [
    h.p("You and someone else changed the same fields. Nothing has been saved yet."),
    table({
      name: "Changes",
      columns: [
        { title: "Field", cell: ({ name, of }) => h.b(of ? [h.bdi(of), " · "] : null, called(name)) },
        { title: "Before", cell: (row) => h.bdi(shown(row.was, row.name)) },
        { title: "Now", cell: (row) => h.bdi(shown(row.now, row.name)) },
        { title: "Yours", cell: own },
      ],
      rows,
    }),
  ];
  const answers = [
    ["mine", "Save my version", "main"],
    ["theirs", "Discard my changes"],
    [null, "Keep editing", "quiet"],
  ];
  return decide(`This ${what} was changed while you were editing`, content, answers, { broad: true, signal });
}
