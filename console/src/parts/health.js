// How the deliveries to a webhook went in each of the last 24 hours.

import { h } from "../dom.js";
import { TIMEZONE } from "../facts.js";
import { ago, number, plural } from "../format.js";
import { link } from "../router.js";
import { bars } from "./bars.js";
import { met } from "./deliveries.js";

const HOURS = 24;
const HOUR = 3_600_000;
const PAGES = 3; // of the newest deliveries
const hourOf = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", timeZone: TIMEZONE });
const hasFailed = ({ status }) => ["RETRYING", "FAILED"].includes(status);

// Resolves to the content of a card.
export async function health(visit, path) {
  const first = Math.floor(Date.now() / HOUR) * HOUR - (HOURS - 1) * HOUR;
  const found = [];
  let cursor = "";
  for (let page = 0; page < PAGES && cursor !== null; page++) {
    const asked = { since: new Date(first).toISOString(), limit: 100, cursor };
    const { data } = await visit.get(`${path}/deliveries`, asked);
    found.push(...data.data);
    cursor = data.nextCursor;
  }
  const done = found.filter((each) => each.status === "DELIVERED");
  const failed = found.filter(hasFailed);
  const count = done.length + failed.length;
  if (count === 0) return h.p({ class: "soft" }, "Nothing was sent in the last 24 hours.");
  const answered = [...done, ...failed].filter((each) => each.lastStatus);
  const took = answered.map((each) => each.lastDurationMs ?? 0).sort((a, b) => a - b);
  const [last] = failed;
  const hours = Array.from({ length: HOURS }, (_, at) => {
    const within = ({ createdAt }) => Math.floor((Date.parse(createdAt) - first) / HOUR) === at;
    const bad = failed.filter(within).length;
    const good = done.filter(within).length;
    const label = hourOf.format(first + at * HOUR);
    return { label, value: good + bad, bad, text: `${number(good)} delivered, ${number(bad)} failed` };
  });
  return [
    h.p(
      h.b(`${number(Math.floor((100 * done.length) / count))} % delivered`),
      `: ${number(done.length)} of ${number(count)}. `,
      took.length > 0 && `95 % of the answers came within ${number(took[Math.ceil(0.95 * took.length) - 1])} ms.`,
    ),
    last &&
      h.p(
        "Last error: ",
        h.a({ href: link(`/settings/developer/deliveries/${last.id}`) }, met(last)),
        ", ",
        ago(last.updatedAt),
      ),
    bars(hours, "Deliveries by hour", "Deliveries", "hour"),
    cursor !== null && h.p({ class: "soft small" }, `Of the newest ${plural(found.length, "delivery", "deliveries")}.`),
  ];
}
