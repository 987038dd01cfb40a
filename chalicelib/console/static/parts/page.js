// The top of a page: its name, the way back, what can be done.

import { h, replace } from "../dom.js";

export function draw(main, { title, back, actions, beside }, ...content) {
  document.title = `${title} · Backroom`;
  return replace(
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
}

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
