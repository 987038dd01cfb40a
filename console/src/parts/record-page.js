// How the page of one record is laid out: its numbers, its cards in two columns, its text and the form behind it.

import { h } from "../dom.js";

// Cards in two columns: [place, node] each. On a phone they are one column, in the order of their places.
export function columns(left, right) {
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
export const figures = (label, list, ...more) =>
  h.section(
    { class: "card money sum", "aria-label": label },
    h.dl(list.filter(Boolean).map(([name, value, is]) => h.div({ class: is || "" }, h.dt(name), h.dd(value)))),
    more,
  );

// The form of a card that shows its values as text; it is open while something in it is not saved.
export function editFold(name, form) {
  return h.details({ class: "edit" }, h.summary({ class: "button small" }, name), form);
}

// After a save, unless more was typed meanwhile.
export function closeEdit(root, record) {
  const fold = root.querySelector("details.edit");
  if (Object.keys(record.unsaved).length > 0) return;
  fold.open = false;
  fold.firstChild.focus();
}

export const phoneLink = (phone) => h.a({ href: `tel:${phone.replaceAll(/[^\d+]/g, "")}` }, h.bdi(phone));
