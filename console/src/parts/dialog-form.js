// Forms in a dialog.

import { isLeft } from "../api.js";
import { button, h, replace } from "../dom.js";
import { form } from "./form.js";

const PAUSE = 250; // milliseconds without a key before the outcome is asked for

// One that closes once it is saved, unless `save(typed)` resolves to false. `then(answer)`: what follows, with what that
// resolved to. `intro`: what stands above it.
export function dialogForm(visit, title, { intro = null, broad = false, save, then = () => {}, ...its }) {
  const node = form({
    ...its,
    cancel: button("Cancel", () => dialog.close()),
    async save(typed) {
      // Text that is typed now would be on no record when the dialog closes.
      const texts = [...node.querySelectorAll("input:not([type=search]), textarea")];
      texts.forEach((each) => (each.readOnly = true));
      let answer;
      try {
        answer = await save(typed);
      } catch (refusal) {
        if (refusal.code === "idempotency_key_reused")
          refusal.message = "This was already created, before your last changes. Close this, and reload the page.";
        throw refusal;
      } finally {
        texts.forEach((each) => (each.readOnly = false));
      }
      if (answer === false) return;
      dialog.close();
      await then(answer);
    },
  });
  const dialog = visit.modal(title, [intro, node], { broad });
  return node;
}

// One whose outcome is shown before it is done: exactly that is done, or it asks again.
// `asked()`: the request's body, which is not sent while `isBlank(body)`; `trial(body)` asks the API; `inWords(data)`: its
// answer in words; `act(body)` does it, after `ready()`; `because(refusal)`: why it cannot be done.
export function previewed(visit, title, { fields, hint, ...its }) {
  const { asked, isBlank, trial, inWords, act, ready = () => {}, because = ({ message }) => message } = its;
  let said = "";
  const unsure = new Set(); // the bodies that may have been done already
  const preview = h.p({ class: "strong whole", role: "status" }, hint);
  const node = dialogForm(visit, title, {
    submit: its.submit,
    fields: [fields, preview],
    broad: true,
    async save() {
      const seen = said; // what comes from now on was not read before the button was pressed
      await ready();
      const body = asked();
      const text = JSON.stringify(body);
      if (!unsure.has(text)) {
        const { data } = await trial(body);
        if (seen !== inWords(data)) {
          show(data);
          throw new Error("Check what will be done, then confirm.");
        }
      }
      try {
        await act(body);
      } catch (refusal) {
        if (refusal.isUnsure) unsure.add(text);
        else if (refusal.status) unsure.delete(text);
        throw refusal;
      }
    },
  });
  const later = () => visit.after(PAUSE, `preview ${title}`, look);
  visit.listen(node, "input", later);
  node.querySelector("input").select();
  return { node, later };

  function show(data) {
    said = inWords(data);
    replace(preview, said);
  }

  async function look() {
    const body = asked();
    if (isBlank(body)) return void replace(preview, (said = hint));
    try {
      const { data } = await trial(body);
      if (JSON.stringify(asked()) === JSON.stringify(body)) show(data);
    } catch (refusal) {
      if (isLeft(refusal)) return;
      said = "";
      replace(preview, because(refusal));
    }
  }
}
