// After an outage: sends again what failed and what waits, after showing how many.

import { h } from "../dom.js";
import { TIMEZONE } from "../facts.js";
import { dateTime, number, plural } from "../format.js";
import { dialogForm } from "./dialog-form.js";
import { field } from "./form.js";
import { toast } from "./notice.js";
import { local, momentOf } from "./zone.js";

export const LONGEST = 60 * 24 * 3_600_000; // milliseconds that events are kept
const DAY = 24 * 3_600_000;

// How far the newest recovery is.
export const recovered = ({ count, sent, completedAt }) =>
  h.div(
    h.progress({ max: String(count || 1), value: sent, "aria-label": "Recovery" }),
    h.p(
      { class: "soft small" },
      `${number(sent)} of ${number(count)} `,
      completedAt ? ["resent, finished ", dateTime(completedAt)] : "resent",
    ),
  );

// Resolves to whether it was begun.
export async function resend(visit, path, since) {
  const { data } = await visit.send("POST", `${path}/recover`, { body: { since, dryRun: true } });
  if (data.count === 0) return toast("Nothing failed since then, and nothing waits.");
  const all = plural(data.count, "delivery", "deliveries");
  const yes = await visit.ask({
    title: `Resend ${all}?`,
    text: "They keep their delivery IDs, so your receiver can recognize repeats. At most 100 a second are sent.",
    yes: `Resend ${all}`,
  });
  if (!yes) return false;
  const body = { since, dryRun: false };
  await visit.send("POST", `${path}/recover`, { body, success: `Resending ${all}.` });
  return true;
}

export function recoverDialog(visit, path, begun) {
  dialogForm(visit, "Resend failed deliveries", {
    intro: h.p("Sends now what ran out of retries, and what waits for a later attempt."),
    fields: field({
      name: "since",
      label: "Failed since",
      type: "datetime-local",
      value: local(Date.now() - DAY),
      hint: `Time zone: ${TIMEZONE}`,
    }),
    submit: "Check",
    async save({ since }) {
      if (!(await resend(visit, path, since ? momentOf(since) : ""))) return false;
      return begun();
    },
  });
}
