// Values that a list's API compares exactly, such as types of products: offered as far as this tab
// has seen them, and found by the beginning of a word, in any case.

import { h, newId, replace } from "../dom.js";

const MOST_PAGES = 5; // of 100 records: they count against the key's requests per minute
const seen = new Map();
const looks = new Map();

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

// Reads the newest 100 records, then the next; each page once in the life of the tab.
// Resolves to whether there was anything new.
function look(visit, api, names) {
  if (!looks.has(api)) looks.set(api, { page: 0, pages: MOST_PAGES, now: null });
  const at = looks.get(api);
  if (at.now) return at.now;
  if (at.page >= at.pages) return Promise.resolve(false);
  const next = async () => {
    const { data } = await visit.get(api, { limit: "100", page: at.page + 1, fields: names.join(",") });
    at.page += 1;
    at.pages = Math.min(MOST_PAGES, data.pagination.totalPages);
    remember(api, names, data.data);
    return true;
  };
  at.now = next()
    .catch(() => false)
    .finally(() => (at.now = null));
  return at.now;
}

export const learn = (visit, api, names) =>
  looks.get(api)?.page ? null : look(visit, api, names);

// The known value that matches the text, or the text as a new value.
export async function meant(visit, api, names, name, typed) {
  if (among(api, name).has(typed)) return typed;
  const begun = folded(typed);
  do {
    const values = sorted(api, name);
    const found =
      values.find((each) => folded(each) === begun) ??
      values.find((each) => folded(each).includes(begun));
    if (found) return found;
  } while (await look(visit, api, names));
  return typed;
}

// The usual spelling: rain jackets → Rain Jackets.
export const titled = (text) => text.replaceAll(/(^|[\s-])\p{L}/gu, (all) => all.toUpperCase());

// For a field that offers them: its settings, and the <datalist>.
export function offering(visit, api, name) {
  const { id, node, fill } = offered(api, name);
  const onfocus = async () => {
    await learn(visit, api, [name]);
    fill();
  };
  return [{ list: id, autocomplete: "off", onfocus }, node];
}

// A <datalist>, and a function that updates it.
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
