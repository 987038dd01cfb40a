// Values that a list's API compares exactly, such as types of products: offered as far as this tab
// has seen them, and found by the beginning of a word, in any case.

import { get } from "../api.js";
import { h, newId, replace } from "../dom.js";

const seen = new Map();
const learning = new Map();

const among = (api, name) => {
  const key = `${api} ${name}`;
  if (!seen.has(key)) seen.set(key, new Set());
  return seen.get(key);
};
const sorted = (api, name) => [...among(api, name)].sort((one, other) => one.localeCompare(other));
const folded = (text) => ` ${text.toLowerCase().replaceAll(/[\s_-]+/g, " ").trim()}`;

export function remember(api, names, rows) {
  for (const name of names)
    rows.forEach((row) => typeof row[name] === "string" && among(api, name).add(row[name]));
}

// Looks at the newest records, once in the life of the tab.
export function learn(api, names) {
  if (!learning.has(api)) {
    const looked = get(api, { limit: "100" }).then(({ data }) => remember(api, names, data.data));
    learning.set(api, looked.catch(() => learning.delete(api)));
  }
  return learning.get(api);
}

// The value that was meant by what was typed, which may be one that was not seen yet.
export async function meant(api, names, name, typed) {
  if (among(api, name).has(typed)) return typed;
  await learn(api, names);
  const values = sorted(api, name);
  const begun = folded(typed);
  return (
    values.find((each) => folded(each) === begun) ??
    values.find((each) => folded(each).includes(begun)) ??
    typed
  );
}

// A <datalist>, and what brings it up to date.
export function offered(api, name) {
  const id = newId("known");
  const node = h.datalist({ id });
  const fill = () =>
    replace(
      node,
      sorted(api, name).map((value) => h.option({ value })),
    );
  fill();
  return { id, node, fill };
}
