// The top of a page: its title, the back link, its actions. And layouts that pages share.

import { h } from "../dom.js";

export function head({ title, back, actions, badges }) {
  return h.header(
    { class: "page" },
    back && h.a({ class: "back", href: back[0] }, "← ", back[1]),
    h.div(
      { class: "title" },
      h.h1({ tabindex: "-1" }, h.bdi(title)),
      badges,
      actions && h.div({ class: "actions" }, actions),
    ),
  );
}

// Redrawing, such as after a save, keeps the focus, the cursor, and what was unfolded.
export function keepFocus(root, draw) {
  const active = root.contains(document.activeElement) ? document.activeElement : null;
  const held = active && placeOf(active);
  const cursor = active?.matches("input, textarea") && [active.selectionStart, active.selectionEnd];
  const summaries = () => [...root.querySelectorAll("details > summary")];
  const open = new Map(summaries().map((each) => [each.textContent, each.parentNode.open]));
  draw();
  for (const each of summaries())
    each.parentNode.open = open.get(each.textContent) ?? each.parentNode.open;
  if (!held) return;
  const again = [...root.querySelectorAll("button, input, select, textarea, a, summary")];
  const same = again.find((each) => placeOf(each) === held) ?? root.querySelector("h1");
  same?.focus({ preventScroll: true });
  if (cursor && cursor[0] !== null && same.selectionStart !== null) same.setSelectionRange?.(...cursor);
}

const placeOf = (control) =>
  [
    control.closest("[data-field]")?.dataset.field,
    control.name,
    control.matches("button, a, summary") && control.textContent,
  ].join();

export function card(title, ...content) {
  return h.section({ class: "card" }, title && h.h2(title), content);
}

// A number with its name, and more about it.
export const tile = (name, big, ...about) =>
  h.div(
    { class: "tile" },
    h.p(name),
    h.p({ class: "big" }, big),
    about.filter(Boolean).map((line) => h.p({ class: "soft small" }, line)),
  );

// Names and values of one record.
export function facts(pairs) {
  return h.dl(
    { class: "facts" },
    pairs.filter(Boolean).map(([name, value]) => h.div(h.dt(name), h.dd(value))),
  );
}

export function empty(title, text, action) {
  return h.div(
    { class: "empty" },
    h.p({ class: "strong" }, title),
    h.p({ class: "soft" }, text),
    action,
  );
}

// A placeholder while something loads.
export function skeleton(rows = 6) {
  return h.div(
    { class: "skeleton", "aria-hidden": "true" },
    Array.from({ length: rows }, () => h.span()),
  );
}
