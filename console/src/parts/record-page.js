// How the page of one record is laid out: its numbers, and its cards in two columns.

import { h } from "../dom.js";

// Cards in two columns: [place, node] each. On a phone they are one column, in the order of their places.
export function drawColumns(left, right) {
  const side = (cards) =>
    h.div(
      cards.map(([place, node]) => {
        node?.style?.setProperty("order", place);
        return node;
      }),
    );
  return h.div({ class: "columns" }, side(left), side(right));
}

// The numbers of a record in one line. A figure: [name, value, class].
export const drawFigures = (label, list, ...more) =>
  h.section(
    { class: "card money sum", "aria-label": label },
    h.dl(list.filter(Boolean).map(([name, value, is]) => h.div({ class: is || "" }, h.dt(name), h.dd(value)))),
    more,
  );

export const phoneLink = (phone) => h.a({ href: `tel:${phone.replaceAll(/[^\d+]/g, "")}` }, h.bdi(phone));
