// Questions and small forms above a page. The browser's own <dialog> keeps the focus inside and
// gives it back.

import { h, newId } from "../dom.js";

export function modal(title, content, { stays = false } = {}) {
  const id = newId("dialog");
  const dialog = h.dialog({ "aria-labelledby": id }, h.h2({ id }, title), content);
  if (stays) dialog.addEventListener("cancel", (event) => event.preventDefault());
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

// Resolves to whether the answer was yes.
export function ask({ title, text, yes, no = "Cancel", bad = false }) {
  return new Promise((answer) => {
    let is = false;
    const choose = (value) => () => {
      is = value;
      dialog.close();
    };
    const dialog = modal(title, [
      h.p(text),
      h.div(
        { class: "actions" },
        h.button({ type: "button", class: bad ? "bad" : "main", onclick: choose(true) }, yes),
        h.button({ type: "button", onclick: choose(false) }, no),
      ),
    ]);
    dialog.addEventListener("close", () => answer(is));
  });
}
