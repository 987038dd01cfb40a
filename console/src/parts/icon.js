// Small icons next to words; decorative only.

import { h } from "../dom.js";

const PATHS = {
  home: "M3 9.5 10 4l7 5.5V16a1 1 0 0 1-1 1h-4v-4H8v4H4a1 1 0 0 1-1-1z",
  tag: "M3 3h7l7 7-7 7-7-7zM6.8 6.8h.01",
  upload: "M10 13V4m0 0L6.5 7.5M10 4l3.5 3.5M3 13v3a1 1 0 0 0 1 1h12a1 1 0 0 0 1-1v-3",
  box: "M3 6.5 10 3l7 3.5v7L10 17l-7-3.5zM3 6.5l7 3.5 7-3.5M10 10v7",
  made: "M3.5 16.500 9 11M8 3.500l3.500-.5 5.500 5.500-2.500 2.500-7-7M9 5.500 6.500 8 12 13.500l2.500-2.500",
  people:
    "M7.5 9.5a3 3 0 1 0 0-6 3 3 0 0 0 0 6M2 17c0-3 2.2-5 5.5-5s5.5 2 5.5 5M13 4a2.8 2.8 0 0 1 0 5.2M15 12.4c2 .7 3 2.3 3 4.6",
  chart: "M4 16V9m4 7V4m4 12v-5m4 5V7M2.5 17h15",
  hook: "M10 3v8.5a3.5 3.5 0 1 1-7 0V11l2 2M10 3h4a3 3 0 0 1 3 3",
  send: "M3 10 17 3l-4.5 14-3-5.5zM9.5 11.5 17 3",
  key: "M12.5 11.5a4 4 0 1 0-3.7-2.5L3 14.8V17h3v-2h2v-2l1.3-1.3a4 4 0 0 0 3.200-.2M13.5 6.5h.01",
  book: "M10 5.5C8.5 4 6 3.5 3 3.7v11.5c3-.2 5.5.3 7 1.8 1.5-1.5 4-2 7-1.8V3.7c-3-.2-5.5.3-7 1.8m0 0V17",
  search: "M9 15a6 6 0 1 0 0-12 6 6 0 0 0 0 12m4.500-1.500L17 17",
  remove: "M5.5 5.5l9 9m0-9-9 9",
  clock: "M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14M10 6v4l2.500 1.500",
  menu: "M3 6h14M3 10h14M3 14h14",
};

export function icon(name) {
  return h.svg(
    { class: "icon", viewBox: "0 0 20 20", "aria-hidden": "true", focusable: "false" },
    h.path({ d: PATHS[name] }),
  );
}
