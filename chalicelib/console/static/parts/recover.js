// After an outage: resends all failed deliveries, after showing how many.

import { h } from "../dom.js";
import { TIMEZONE } from "../facts.js";
import { dateTime, number, plural } from "../format.js";
import { field, form } from "./form.js";
import { toast } from "./notice.js";
import { local, momentOf } from "./zone.js";

export function recoverForm(visit, endpoint, path, again) {
  const last = endpoint.recovery;
  return h.div(
    { class: "stack tight" },
    h.p({ class: "soft" }, "Sends what ran out of retries, and what waits for a later attempt, at once: at most 100 a second."),
    last &&
      h.div(
        h.progress({ max: String(last.count || 1), value: last.sent, "aria-label": "Recovery" }),
        h.p(
          { class: "soft small" },
          `${number(last.sent)} of ${number(last.count)} `,
          last.completedAt ? ["resent, finished ", dateTime(last.completedAt)] : "resent",
        ),
      ),
    form({
      fields: [
        field({
          name: "since",
          label: "Failed since",
          type: "datetime-local",
          value: local(Date.now() - 24 * 3600 * 1000),
          hint: `Time zone: ${TIMEZONE}`,
        }),
      ],
      submit: "Check",
      async save({ since }) {
        const asked = { since: since ? momentOf(since) : "" };
        const { data } = await visit.send("POST", `${path}/recover`, {
          body: { ...asked, dryRun: true },
        });
        if (data.count === 0) return toast("Nothing failed since then, and nothing waits.");
        const all = plural(data.count, "delivery", "deliveries");
        if (
          !(await visit.ask({
            title: `Resend ${all}?`,
            text: "They keep their delivery IDs, so your receiver can recognize repeats.",
            yes: `Resend ${all}`,
          }))
        )
          return undefined;
        await visit.send("POST", `${path}/recover`, {
          body: { ...asked, dryRun: false },
          success: `Resending ${all}.`,
        });
        return again(await visit.get(path));
      },
    }),
  );
}
