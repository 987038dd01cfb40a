// After an outage: send again all that gave up, once its number is known.

import { get, post } from "../api.js";
import { h } from "../dom.js";
import { dateTime, number, plural } from "../format.js";
import { ask } from "./dialog.js";
import { field, form } from "./form.js";
import { toast } from "./notice.js";

export function recoverForm(endpoint, path, again) {
  const last = endpoint.recovery;
  return h.div(
    { class: "stack tight" },
    h.p({ class: "soft" }, "Sends again what gave up, 100 a second at most."),
    last &&
      h.div(
        h.progress({ max: String(last.count || 1), value: last.sent, "aria-label": "Recovery" }),
        h.p(
          { class: "soft small" },
          `${number(last.sent)} of ${number(last.count)} `,
          last.completedAt ? ["sent, done ", dateTime(last.completedAt)] : "sent",
        ),
      ),
    form({
      fields: [
        field({
          name: "since",
          label: "Failed since",
          type: "datetime-local",
          value: local(Date.now() - 24 * 3600 * 1000),
        }),
      ],
      submit: "Count",
      async save({ since }) {
        const asked = { since: since ? new Date(since).toISOString() : "" };
        const { data } = await post(`${path}/recover`, { ...asked, dryRun: true });
        if (data.count === 0) return toast("Nothing gave up since then.");
        const all = plural(data.count, "delivery", "deliveries");
        if (
          !(await ask({
            title: `Send ${all} again?`,
            text: "They keep their ids; a receiver that saw one before can tell.",
            yes: `Send ${all}`,
          }))
        )
          return undefined;
        await post(`${path}/recover`, { ...asked, dryRun: false });
        toast(`${all} are on their way.`);
        return again(await get(path));
      },
    }),
  );
}

// What an input of type datetime-local wants: the reader's own time, without a zone.
function local(moment) {
  const date = new Date(moment);
  return new Date(moment - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
