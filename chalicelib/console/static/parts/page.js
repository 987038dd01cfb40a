// The top of a page: its name, the way back, what can be done.

import { h, replace } from "../dom.js";

// Drawn again, such as after a save, it leaves the keyboard where it was.
export function draw(main, { title, back, actions, beside }, ...content) {
  document.title = `${title} · Backroom`;
  const held = main.contains(document.activeElement) && placeOf(document.activeElement);
  replace(
    main,
    h.header(
      { class: "page" },
      back && h.a({ class: "back", href: back[0] }, "← ", back[1]),
      h.div(
        { class: "title" },
        h.h1({ tabindex: "-1" }, title),
        beside,
        actions && h.div({ class: "actions" }, actions),
      ),
    ),
    content,
  );
  if (!held) return;
  const again = [...main.querySelectorAll("button, input, select, textarea, a, summary")];
  const same = again.find((each) => placeOf(each) === held) ?? main.querySelector("h1");
  same.focus({ preventScroll: true });
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

// Names and values of one thing.
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
