// The form that edits a record on its page. The page shows the values as text; a button opens the form.

import { h } from "../dom.js";
import { form, values } from "./form.js";

// The button that opens the form of a card, and the form. It is open while something in it is not saved.
export function editFold(name, form) {
  return h.details({ class: "edit" }, h.summary({ class: "button small" }, name), form);
}

// Returns the form, and a function that restores this tab's draft and opens the form for it: call it once the page is drawn.
// `read(typed)`: the record's values.
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
