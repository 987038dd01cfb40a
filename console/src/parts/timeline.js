// What happened to a record: the newest first, with when and by whom.

import { h } from "../dom.js";
import { dateTime, plural } from "../format.js";

const SHOWN = 10; // events before the earlier ones are folded

// `events`: [{ at, by, lines }]; a line is a node, text, or what is falsy.
export function timeline(events) {
  const rows = events
    .toSorted((one, other) => other.at.localeCompare(one.at))
    .map(({ at, by, lines }) =>
      h.li(
        lines.filter(Boolean).map((line) => h.div(line)),
        h.div({ class: "soft small" }, dateTime(at), by && [" · ", h.bdi(by)]),
      ),
    );
  const list = (some) => h.ol({ class: "history" }, some);
  const earlier = rows.slice(SHOWN);
  return [
    list(rows.slice(0, SHOWN)),
    earlier.length > 0 && h.details(h.summary(`Earlier: ${plural(earlier.length, "event")}`), list(earlier)),
  ];
}
