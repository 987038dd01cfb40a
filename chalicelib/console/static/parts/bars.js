// A small chart of days. A table has the same values, for screen readers.

import { h } from "../dom.js";
import { TIMEZONE } from "../facts.js";

const HEIGHT = 120;
const STEP = 20;
const day = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric", timeZone: "UTC" });

// `days`: [{ date: "2026-11-20", value, text, about }], oldest first.
export function bars(days, name) {
  const most = Math.max(...days.map(({ value }) => value), 0) || 1;
  const width = days.length * STEP;
  const shown = (date) => day.format(new Date(`${date}T00:00:00Z`));
  const top = days.find(({ value }) => value === most);
  const peak = top ? `; highest on ${shown(top.date)}: ${top.text}` : "";
  const bar = ({ value }, at) => {
    const height = value ? Math.max(2, (value / most) * HEIGHT) : 1;
    return h.rect({
      class: value ? "bar" : "bar none",
      x: at * STEP + 3,
      y: HEIGHT - height,
      width: STEP - 6,
      height,
      rx: 2,
    });
  };
  const said = h.p({ class: "soft small", "aria-hidden": "true" });
  const chart = h.svg(
    {
      class: "bars",
      viewBox: `0 0 ${width} ${HEIGHT}`,
      preserveAspectRatio: "none",
      role: "img",
      "aria-label": name,
    },
    days.map(bar),
  );
  const say = (at) =>
    (said.textContent = days[at]
      ? `${shown(days[at].date)}: ${days[at].text}, ${days[at].about}`
      : `${shown(days[0].date)} to ${shown(days.at(-1).date)}, days in ${TIMEZONE}${peak}`);
  chart.onpointermove = ({ clientX }) => {
    const box = chart.getBoundingClientRect();
    say(Math.min(days.length - 1, Math.floor(((clientX - box.left) / box.width) * days.length)));
  };
  chart.onpointerleave = () => say(-1);
  say(-1);
  return h.figure(
    chart,
    said,
    h.details(
      h.summary({ class: "small soft" }, "Show as table"),
      h.table(
        h.thead(
          h.tr(
            h.th({ scope: "col" }, "Day"),
            h.th({ scope: "col", class: "number" }, "Revenue"),
            h.th({ scope: "col" }, "Orders"),
          ),
        ),
        h.tbody(
          days
            .toReversed()
            .map(({ date, text, about }) =>
              h.tr(h.td(shown(date)), h.td({ class: "number" }, text), h.td(about)),
            ),
        ),
      ),
    ),
  );
}
