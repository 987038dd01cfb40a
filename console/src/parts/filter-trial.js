// Tries a filter on a sample event: the API says whether it would be sent; nothing is sent.

import { h, replace } from "../dom.js";
import { EVENT_KINDS } from "../facts.js";
import { field, form } from "./form.js";

const named = (kind) => [kind, kind];
export const eventField = ({ events }, more) =>
  field({ name: "event", value: events[0], options: EVENT_KINDS.map(named), ...more });

// `filter()`: the pattern as it is typed, saved or not.
export function filterTrial(visit, endpoint, path, filter) {
  const result = h.p({ role: "status" });
  const node = form({
    fields: [
      eventField(endpoint, {
        onchange: () => {
          node.elements.data.value = "";
          replace(result);
        },
      }),
      field({
        name: "data",
        label: "Sample",
        rows: 10,
        wide: true,
        spellcheck: "false",
        hint: "The event's data as JSON, to be edited. Leave blank for sample data.",
      }),
    ],
    submit: "Try the filter",
    kind: "",
    extra: result,
    async save({ event, data }) {
      replace(result);
      const sample = jsonOf(data);
      const { data: tried } = await visit.send("POST", `${path}/test`, {
        body: { event, dryRun: true, filter: filter(), ...(sample === null ? {} : { data: sample }) },
      });
      node.elements.data.value = JSON.stringify(tried.data, null, 2);
      result.className = tried.passesFilter ? "notice good" : "notice warn";
      replace(
        result,
        tried.passesFilter
          ? "Matches: an event like this is sent."
          : "Does not match: an event like this is not sent.",
      );
    },
  });
  return node;
}

// The text parsed as JSON; null if blank, and the text itself if it is invalid: the API reports that.
export function jsonOf(text) {
  try {
    return text.trim() ? JSON.parse(text) : null;
  } catch {
    return text;
  }
}
