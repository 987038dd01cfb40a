// The form of a record on its page: it is behind one button, while the page shows the values as text.

import { h } from "../dom.js";
import { form, values } from "./form.js";

// The form of a card that shows its values as text; it is open while something in it is not saved.
export function editFold(name, form) {
  return h.details({ class: "edit" }, h.summary({ class: "button small" }, name), form);
}

// That form, and what opens it with the draft of this tab once the page is drawn. `read(typed)`: the record's values.
export function recordForm({ root }, record, fields, read) {
  const isUnsaved = () => Object.keys(record.unsaved).length > 0;
  const node = form({
    fields,
    submit: "Save",
    async save() {
      if (!(await record.save()) || isUnsaved()) return; // more was typed meanwhile
      const fold = root.querySelector("details.edit");
      fold.open = false;
      fold.firstChild.focus();
    },
  });
  record.edits(node, () => read(values(node)));
  const restore = record.draft(node);
  const showDraft = () => {
    restore();
    if (isUnsaved()) node.closest("details").open = true;
  };
  return [node, showDraft];
}
