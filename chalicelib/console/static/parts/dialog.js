// Questions and small forms above a page. The browser's own <dialog> keeps the focus inside and
// returns it. A dialog closes with the page that opened it, by the page's `signal`.

import { button, h, newId } from "../dom.js";

export function modal(title, content, { stays = false, broad = false, signal } = {}) {
  const id = newId("dialog");
  const dialog = h.dialog(
    { "aria-labelledby": id, class: broad ? "broad" : null },
    h.h2({ id }, title),
    content,
  );
  const close = () => dialog.close();
  if (stays) dialog.addEventListener("cancel", (event) => event.preventDefault());
  dialog.addEventListener("close", () => {
    signal?.removeEventListener("abort", close);
    dialog.remove();
  });
  signal?.addEventListener("abort", close);
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

// Resolves to whether the answer was yes.
export function ask({ title, text, yes, no = "Cancel", bad = false }, signal) {
  return new Promise((answer) => {
    let is = false;
    const choose = (value) => () => {
      is = value;
      dialog.close();
    };
    const dialog = modal(
      title,
      [
        typeof text === "string" ? h.p(text) : text,
        h.div(
          { class: "actions" },
          button(yes, choose(true), { class: bad ? "bad" : "main" }),
          button(no, choose(false)),
        ),
      ],
      { signal },
    );
    dialog.addEventListener("close", () => answer(is));
  });
}
