// What a job does, as people say it: its change, and for which records.

import { called, number, plural, statusWord, words } from "../format.js";
import { repWord, valueWord } from "./words.js";

const CHANGES = {
  status: (value) => `status ${statusWord(value).toLowerCase()}`,
  published: (value) => (value ? "published" : "not published"),
  addTags: (tags) => `add tags ${tags.join(", ")}`,
  removeTags: (tags) => `remove tags ${tags.join(", ")}`,
  vendor: (name) => `vendor ${name}`,
  type: (name) => `type ${name}`,
  salesRepId: (id) => `sales rep ${repWord(id)}`,
  price: ({ set, add, percent, roundTo }) =>
    [
      set !== undefined && `price ${set}`,
      add !== undefined && `price ${add < 0 ? "" : "+"}${add}`,
      Number(percent) !== 0 && percent !== undefined && `price ${percent < 0 ? "" : "+"}${percent} %`,
      roundTo && `prices rounded to ${roundTo}`,
    ]
      .filter(Boolean)
      .join(", "),
};

// { status: "ARCHIVED", price: { percent: "10" } } → status archived, price +10 %
export const changeInWords = (change = {}) =>
  Object.entries(change)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => CHANGES[name]?.(value) ?? `${words(name)} ${value}`)
    .join("; ");

// { ids } or { filters } → 47 selected, or: all with search moss, status Active
export function recordsInWords({ ids, filters }) {
  if (ids) return `${ids.length} selected`;
  const said = (name, value) => (name === "customerId" ? "the same customer" : `${called(name).toLowerCase()} ${valueWord(name, value)}`);
  const given = Object.entries(filters ?? {}).map((each) => said(...each));
  return given.length ? `all with ${given.join(", ")}` : "all";
}

// An export's records, a report's period, or a change and its records.
export function aboutInWords({ type, about }) {
  if (!about) return "";
  if (type === "report") {
    const of = about.productId ? " of a product" : "";
    return `${words(about.type)}${of} by ${called(about.by).toLowerCase()}, ${about.from} to ${about.to}`;
  }
  const what = type === "export" ? words(about.type) : about.change && changeInWords(about.change);
  if (!what) return "";
  return about.ids || about.filters ? `${what} · ${recordsInWords(about)}` : what;
}

const COUNTED = { created: "created", updated: "changed", deleted: "deleted", unchanged: "unchanged", failed: "failed" };

// 40 created, 2 failed
export function countsInWords(job) {
  const counts = Object.keys(COUNTED).filter((name) => job[name] > 0);
  const said = counts.map((name) => `${number(job[name])} ${COUNTED[name]}`).join(", ");
  if (said) return job.dryRun ? `Would be ${said}` : said;
  return job.processed > 0 ? plural(job.processed, "record") : "";
}
