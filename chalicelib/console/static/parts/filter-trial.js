// A filter next to a sample: whether an event like it would be sent. The API judges, nothing is sent.

import { h, replace } from "../dom.js";
import { EVENT_KINDS } from "../facts.js";
import { field, form } from "./form.js";

// `filter()`: the pattern as it is typed, saved or not.
export function filterTrial(visit, endpoint, path, filter) {
  const told = h.p({ role: "status" });
  const node = form({
    fields: [
      field({
        name: "event",
        label: "Event",
        value: endpoint.events[0],
        options: EVENT_KINDS.map((each) => [each, each]),
        onchange: () => {
          node.elements.data.value = "";
          replace(told);
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
    extra: told,
    async save({ event, data }) {
      replace(told);
      const sample = jsonOf(data);
      const { data: tried } = await visit.send("POST", `${path}/test`, {
        body: { event, dryRun: true, filter: filter(), ...(sample === null ? {} : { data: sample }) },
      });
      node.elements.data.value = JSON.stringify(tried.data, null, 2);
      told.className = tried.passesFilter ? "notice good" : "notice warn";
      replace(
        told,
        tried.passesFilter
          ? "Passes: an event like this is sent."
          : "Does not pass: an event like this is not sent.",
      );
    },
  });
  return node;
}

// What is written as JSON; null for nothing, and the text itself where it is none: the API says so.
export function jsonOf(text) {
  try {
    return text.trim() ? JSON.parse(text) : null;
  } catch {
    return text;
  }
}
