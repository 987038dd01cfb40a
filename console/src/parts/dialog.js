// Questions and small forms above a page. The browser's own <dialog> keeps the focus inside and
// returns it. A dialog closes with the page that opened it, by the page's `signal`.

import { button, h, newId } from "../dom.js";

export function modal(title, content, { stays = false, broad = false, signal } = {}) {
  const id = newId("dialog");
  const dialog = h.dialog(
    { "aria-labelledby": id, class: broad ? "broad" : null, closedby: stays ? "none" : null },
    h.h2({ id }, title),
    content,
  );
  const close = () => dialog.close();
  if (stays) dialog.addEventListener("cancel", (event) => event.preventDefault());
  dialog.addEventListener("close", () => {
    signal?.removeEventListener("abort", close);
    dialog.remove();
    // What opened it may have been drawn again.
    if (document.activeElement === document.body) document.querySelector("h1")?.focus({ preventScroll: true });
  });
  signal?.addEventListener("abort", close);
  document.body.append(dialog);
  document.querySelector(":popover-open")?.hidePopover(); // what opened it has the focus afterwards, not an item of its menu
  dialog.showModal();
  return dialog;
}

// `answers`: [value, name, class]. Resolves to the value that was chosen; without a choice, to that of the last.
export function decide(title, content, answers, options) {
  return new Promise((decided) => {
    let [chosen] = answers.at(-1);
    const choose = (value) => {
      chosen = value;
      dialog.close();
    };
    const buttons = answers.map(([value, name, kind]) => button(name, () => choose(value), { class: kind }));
    const dialog = modal(title, [content, h.div({ class: "actions" }, buttons)], options);
    dialog.addEventListener("close", () => decided(chosen));
  });
}

// Resolves to whether the answer was yes.
export function ask({ title, text, yes, no = "Cancel", bad = false }, signal) {
  const content = typeof text === "string" ? h.p(text) : text;
  return decide(title, content, [[true, yes, bad ? "bad" : "main"], [false, no]], { signal });
}
