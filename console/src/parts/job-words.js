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

const are = (count, what) => `${plural(count, what)} ${count === 1 ? "is" : "are"}`;
const left = ({ failed }, why) => failed > 0 && `${are(failed, "record")} left as before: ${why}.`;
export const TO_DO = {
  undo: "Correct these by hand where that is wanted.",
  stock_count: "Count these again, or correct their stock on the page of the product.",
};

// Of each type: what it did, and what is left to do; of a job that has completed.
const DONE = {
  undo(job) {
    const undone = job.created + job.updated + (job.deleted ?? 0);
    const kept = job.unchanged + job.failed;
    const rest = `${plural(kept, "record")} stayed as now: changed by somebody since, or as before already.`;
    if (undone > 0) return [`${are(undone, "record")} as before the job.`, kept > 0 && rest];
    return ["Nothing was undone.", kept > 0 ? rest : "The job had changed nothing."];
  },
  stock_count: (job) => [
    job.updated > 0 ? `The stock of ${plural(job.updated, "variant")} was corrected.` : "No stock was changed.",
    job.unchanged > 0 && `${are(job.unchanged, "variant")} as counted already.`,
    left(job, "they are named on the job's page"),
  ],
  bulk_edit: (job) => [
    job.updated > 0 ? `${plural(job.updated, "record")} changed.` : "Nothing was changed.",
    job.unchanged > 0 && `${plural(job.unchanged, "record")} had these values already.`,
    left(job, "the reasons are on the job's page"),
  ],
  export: ({ processed }) => [`${are(processed, "record")} in the file.`],
  report: ({ processed }) => [`${plural(processed, "record")} added up.`],
  customer_merge: () => ["Orders, totals and addresses are at the other customer. Nothing is left to do."],
  customer_erasure: () => [
    "Name, email, phone, addresses and notes are removed. Events, deliveries and files end by themselves within 30 days.",
  ],
  reindex: ({ processed }) => [`${are(processed, "record")} indexed again.`],
};

// What a job did, in its own words; null while it runs, and of an import, which has its own page.
export const doneInWords = (job) =>
  job.status === "COMPLETED" && !job.dryRun && DONE[job.type] ? DONE[job.type](job).filter(Boolean).join(" ") : null;

const COUNTED = { created: "created", updated: "changed", deleted: "deleted", unchanged: "unchanged", failed: "failed" };

// 40 created, 2 failed
export function countsInWords(job) {
  const counts = Object.keys(COUNTED).filter((name) => job[name] > 0);
  const said = counts.map((name) => `${number(job[name])} ${COUNTED[name]}`).join(", ");
  if (said) return job.dryRun ? `Would be ${said}` : said;
  return job.processed > 0 ? plural(job.processed, "record") : "";
}
