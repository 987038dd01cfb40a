// Reports: jobs that add up a period. One that was asked for lately is shown again.

import { newKey } from "../dom.js";
import { money, plural } from "../format.js";
import { completed } from "./jobs.js";

const LOOKED = 50; // at the newest jobs
const RECENT = 3_600_000; // milliseconds in which a report is shown again

// The job of the same question that was asked lately, also if it has not ended.
async function known(visit, asked, signal) {
  const { data } = await visit.get("admin/jobs", { limit: LOOKED }, signal);
  const names = ["productId", ...Object.keys(asked)];
  const isSame = (about) => names.every((name) => (about[name] ?? null) === (asked[name] ?? null));
  const isRecent = ({ createdAt }) => Date.now() - Date.parse(createdAt) < RECENT;
  const isGone = ({ status }) => ["FAILED", "CANCELLED"].includes(status);
  return data.data.find((job) => job.type === "report" && isSame(job.about) && isRecent(job) && !isGone(job))?.id;
}

// Resolves to the job that has answered. `isNew`: it is added up again. It changes nothing in the shop: it is given up
// when `signal` aborts.
export async function reportOf(visit, asked, signal, isNew = false) {
  const request = { body: asked, idempotencyKey: newKey(), signal };
  const ask = async () => (await visit.send("POST", "admin/reports", request)).data.jobId;
  const id = (!isNew && (await known(visit, asked, signal))) || (await ask());
  signal.throwIfAborted();
  const get = (path) => visit.get(path, {}, signal);
  return completed({ get, sleep: (pause) => visit.sleep(pause, signal) }, id);
}

// Every day of a report's period as `bars` takes it: those without a row, too. `leads(date)`: where a day's orders are.
export function days({ report, about }, leads) {
  const known = Object.fromEntries(report.rows.map((row) => [row.key, row]));
  const found = [];
  const last = new Date(about.to);
  for (let at = new Date(about.from); at <= last; at.setUTCDate(at.getUTCDate() + 1)) {
    const date = at.toISOString().slice(0, 10);
    const { net = "0", orders } = known[date] ?? {};
    found.push({
      date,
      value: Number(net),
      text: money(net),
      about: orders !== undefined && plural(orders, "order"),
      href: leads(date),
    });
  }
  return found;
}
