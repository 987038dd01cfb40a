// Reports: jobs that add up a period.

import { newKey } from "../dom.js";
import { money, plural } from "../format.js";
import { completed } from "./jobs.js";

// Resolves to the job that has added up. Each look is a new one: an old one may lack a sale, a refund or a deletion. It
// changes nothing in the shop: it is given up when `signal` aborts.
export async function reportOf(visit, asked, signal) {
  const request = { body: asked, idempotencyKey: newKey(), signal };
  const { data } = await visit.send("POST", "admin/reports", request);
  signal.throwIfAborted();
  const get = (path) => visit.get(path, {}, signal);
  return completed({ get, sleep: (pause) => visit.sleep(pause, signal) }, data.jobId);
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
