// What was typed and is not saved survives in its tab: a reload, a phone that drops the tab, a session that ended. It is
// shown again to the same name of a key, until it is saved or discarded.

import { button, h } from "../dom.js";
import { again } from "../router.js";
import { who } from "../session.js";
import { held, retype, typedSince } from "./typed.js";

const shown = new WeakSet(); // visits that have looked for what was begun

const placeOf = ({ path, query }) => `backroom-draft ${who().name} ${path} ${query.from ?? ""}`;

export const dropDraft = (visit) => sessionStorage.removeItem(placeOf(visit));

export function keepDraft(visit, draft) {
  visit.forget = () => dropDraft(visit);
  if (draft === null) dropDraft(visit);
  else sessionStorage.setItem(placeOf(visit), JSON.stringify(draft));
}

export const loadDraft = (visit) => JSON.parse(sessionStorage.getItem(placeOf(visit)));

// Says so, with a button that forgets it and draws the page anew.
export const begunNotice = (visit) =>
  h.div(
    { class: "notice actions" },
    "What was begun here before is not saved yet.",
    button("Discard", () => (visit.saved(), dropDraft(visit), again()), { class: "small" }),
  );

// Keeps what is typed in a form. `lists`: its rows; `was()`: what the record had where it was edited; `resume(was)`
// takes that back. Returns what is called when the form is drawn.
export function draftOf(visit, form, { lists = [], was = () => undefined, resume = () => {} } = {}) {
  const first = held(form);
  const isOfRow = (key) => lists.some(({ name }) => JSON.parse(key)[0].startsWith(`${name}.`));
  visit.listen(form, "input", keep);
  return () => {
    const draft = !shown.has(visit) && loadDraft(visit);
    shown.add(visit);
    if (draft) {
      lists.forEach((list, at) => list.restore(draft.rows[at]));
      retype(form, new Map(draft.fields));
      resume(draft.was);
      form.prepend(begunNotice(visit));
    }
    keep();
  };

  function keep() {
    const fields = [...typedSince(form, first)].filter(([key]) => !isOfRow(key));
    const rows = lists.map((list) => list.edits());
    const isBlank = fields.length === 0 && rows.every(({ gone, typed }) => gone.length + typed.length === 0);
    keepDraft(visit, isBlank ? null : { fields, rows, was: was() });
  }
}
