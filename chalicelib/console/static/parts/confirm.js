// Confirms an action that cannot be undone: the user types the name of its target.

import { h } from "../dom.js";
import { field, form } from "./form.js";

// `run()` does it, while the dialog waits; it closes the dialog by itself when it succeeds.
export function typedConfirm(visit, { title, text, word, yes, more = [], run }) {
  const dialog = visit.modal(title, [
    [text].flat().map((line) => h.p(line)),
    form({
      fields: [more, field({ name: "confirm", label: `Type ${word} to confirm`, wide: true, autocomplete: "off" })],
      submit: yes,
      cancel: h.button({ type: "button", onclick: () => dialog.close() }, "Cancel"),
      async save(typed) {
        if (typed.confirm.trim() !== word) {
          const message = `This is not ${word}.`;
          throw Object.assign(new Error(message), { errors: [{ field: "confirm", message }] });
        }
        await run(typed);
        dialog.close();
      },
    }),
  ]);
  return dialog;
}
