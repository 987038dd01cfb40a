// A chart of days. The pointer or the arrow keys choose one; a table has the same values.

import { h, replace } from "../dom.js";
import { TIMEZONE } from "../facts.js";
import { words } from "../format.js";
import { table } from "./table.js";

const HEIGHT = 120;
const STEP = 20;
const day = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric", timeZone: "UTC" });
const KEYS = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, Home: -1e9, End: 1e9 };

export const dayName = (date) => day.format(new Date(`${date}T00:00:00Z`));

const nameOf = ({ label, date }) => label ?? dayName(date);

// `days`: [{ date: "2026-11-20", value, text, about, href }], oldest first; or hours, each with a
// `label`. `bad`: the part of the value that is in red. `column`: the title of the values in the table;
// without it, the page has a table of its own.
export function bars(days, name, column, unit = "day") {
  const most = Math.max(...days.map(({ value }) => value), 0) || 1;
  const top = days.find(({ value }) => value === most);
  const last = days.length - 1;
  let chosen = null;
  const bar = (value, at, tone) => {
    const height = value > 0 ? Math.max(2, (value / most) * HEIGHT) : 1;
    const place = { x: at * STEP + 3, y: HEIGHT - height, width: STEP - 6, height, rx: 2 };
    return h.rect({ class: `bar ${tone}`, ...place });
  };
  const drawn = days.map(({ value }, at) => bar(value, at, value > 0 ? "" : "none"));
  const wrong = days.map(({ bad }, at) => bad > 0 && bar(bad, at, "bad"));
  const said = h.p({ class: "soft small" });
  const plot = h.div(
    {
      class: "plot",
      role: "slider",
      tabindex: "0",
      "aria-label": `${name}: choose ${unit === "hour" ? "an" : "a"} ${unit}`,
      "aria-valuemin": "1",
      "aria-valuemax": days.length,
      onpointermove: (event) => say(under(event)),
      onpointerleave: () => say(chosen),
      onclick: (event) => say((chosen = under(event))),
      onkeydown: (event) => {
        if (!(event.key in KEYS)) return;
        event.preventDefault();
        chosen = Math.max(0, Math.min(last, (chosen ?? last + 1) + KEYS[event.key]));
        say(chosen);
      },
    },
    h.svg(
      {
        class: "bars",
        viewBox: `0 0 ${days.length * STEP} ${HEIGHT}`,
        preserveAspectRatio: "none",
        "aria-hidden": "true",
      },
      h.line({ class: "half", x1: 0, x2: days.length * STEP, y1: HEIGHT / 2, y2: HEIGHT / 2 }),
      drawn,
      wrong,
    ),
  );
  const under = ({ clientX }) => {
    const box = plot.getBoundingClientRect();
    return Math.max(0, Math.min(last, Math.floor(((clientX - box.left) / box.width) * days.length)));
  };
  const say = (at) => {
    drawn.forEach((bar, place) => bar.classList.toggle("on", place === at));
    const { text, about, href } = days[at] ?? {};
    const peak = top ? `; highest on ${nameOf(top)}: ${top.text}` : "";
    const range = `${nameOf(days[0])} to ${nameOf(days[last])}, ${unit}s in ${TIMEZONE}${peak}`;
    const more = about && [", ", leading(href, about)];
    replace(said, text ? [`${nameOf(days[at])}: ${text}`, more] : range);
    plot.setAttribute("aria-valuenow", (at ?? last) + 1);
    plot.setAttribute("aria-valuetext", said.textContent);
  };
  say(null);
  return h.figure(
    top && h.p({ class: "most soft small", "aria-hidden": "true" }, top.text),
    plot,
    h.p(
      { class: "days soft small", "aria-hidden": "true" },
      [0, last >> 1, last].map((at) => h.span(nameOf(days[at]))),
    ),
    said,
    column &&
      h.details(
        h.summary({ class: "small soft" }, "Show as table"),
        table({
          name,
          columns: [
            { title: words(unit), cell: nameOf },
            { title: column, cell: ({ text }) => text, class: "number" },
            unit === "day" && { title: "Orders", cell: ({ href, about }) => leading(href, about) },
          ].filter(Boolean),
          rows: days.toReversed(),
        }),
      ),
  );
}

const leading = (href, about) => (href ? h.a({ href }, about) : about);

// Names with a bar and a number each. `rows`: [{ name, href, share (of the largest), text }].
export const shares = (rows) =>
  h.ul(
    { class: "shares" },
    rows.map(({ name, href, share, text }) =>
      h.li(
        href ? h.a({ href }, name) : h.span(name),
        h.span(
          { class: "timing", "aria-hidden": "true" },
          h.span({ style: { width: `${100 * Math.max(0, share || 0)}%` } }),
        ),
        h.b(text),
      ),
    ),
  );
