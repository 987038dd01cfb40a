// A form in a dialog, which closes once it is saved.

import { h } from "../dom.js";
import { form } from "./form.js";

// `intro`: what stands above it; `save(typed)` resolves to false to stay open.
export function dialogForm(visit, title, { intro = null, broad = false, save, ...its }) {
  const node = form({
    ...its,
    cancel: h.button({ type: "button", onclick: () => dialog.close() }, "Cancel"),
    async save(typed) {
      if ((await save(typed)) !== false) dialog.close();
    },
  });
  const dialog = visit.modal(title, [intro, node], { broad });
  return node;
}
