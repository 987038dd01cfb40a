// Confirms an action that cannot be undone: the user types the name of its target.

import { h } from "../dom.js";
import { dialogForm } from "./dialog-form.js";
import { field, wrong } from "./form.js";

// `run()` does it, while the dialog waits.
export function typedConfirm(visit, { title, text, word, yes, more = [], run }) {
  dialogForm(visit, title, {
    intro: [text].flat().map((line) => h.p(line)),
    fields: [more, field({ name: "confirm", label: `Type ${word} to confirm`, wide: true })],
    submit: yes,
    async save(typed) {
      // Blanks of a name are shown as one.
      const spoken = (text) => text.trim().replaceAll(/\s+/g, " ");
      if (spoken(typed.confirm) !== spoken(word)) throw wrong("confirm", `This is not ${word}.`);
      await run(typed);
    },
  });
}
