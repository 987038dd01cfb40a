// Forms: every field has a label, and every error that the API names is shown next to its field.

import { isLeft } from "../api.js";
import { h, newId, replace } from "../dom.js";
import { called, words } from "../format.js";
import { toast } from "./notice.js";

// A labelled control. `name` is the API's name of the field, so that its errors find it, and so that it has a label.
export function field({
  name,
  label = called(name),
  hint,
  type = "text",
  options,
  rows,
  value = "",
  wide,
  ...attributes
}) {
  const id = newId("field");
  const errorId = newId("error");
  const described = hint ? `${id}-hint ${errorId}` : errorId;
  const shared = { id, name, "aria-describedby": described, dir: "auto", autocomplete: "off", ...attributes };
  let control;
  if (options) {
    control = h.select(
      shared,
      options.map(([option, text]) =>
        h.option({ value: option, selected: option === value }, text),
      ),
    );
  } else if (rows) control = h.textarea({ ...shared, rows, value });
  else if (type === "checkbox") control = h.input({ ...shared, type, checked: Boolean(value) });
  else control = h.input({ ...shared, type, value: value ?? "" });
  const error = h.p({ id: errorId, class: "error" });
  const text = h.label({ for: id }, label);
  return h.div(
    {
      class: `field ${type === "checkbox" ? "check" : ""} ${wide ? "whole" : ""}`,
      "data-field": name,
    },
    type === "checkbox" ? [control, text] : [text, control],
    hint && h.p({ id: `${id}-hint`, class: "hint" }, hint),
    error,
  );
}

// The options of a select, from the API's names. `blank`: what comes before them, and is sent as blank.
export const optionsOf = (names, blank = null) => [
  ...(blank === null ? [] : [["", blank]]),
  ...names.map((name) => [name, words(name)]),
];

// The values of the controls inside a node, by their names.
export function values(node) {
  const found = {};
  for (const control of node.querySelectorAll("input[name], select[name], textarea[name]")) {
    found[control.name] = control.type === "checkbox" ? control.checked : control.value;
  }
  return found;
}

const told = ({ field: name, message }) => `${called(name)}: ${message}`;

// Puts each error next to its field. Returns those that have no field here.
function showErrors(node, errors) {
  clearErrors(node);
  const rest = [];
  let first = null;
  for (const { field: name, message } of errors) {
    const place = closest(node, name);
    if (!place) {
      rest.push(told({ field: name, message }));
      continue;
    }
    const control = place.querySelector("input, select, textarea, [tabindex]");
    control?.setAttribute("aria-invalid", "true");
    place.closest(".line[hidden], .field[hidden]")?.removeAttribute("hidden");
    place.closest("details:not([open])")?.setAttribute("open", "");
    const shown = place.querySelector(":scope > .error") ?? place.querySelector(".error");
    shown.textContent = `${shown.textContent ? `${shown.textContent}; ` : ""}${message}`;
    first ??= control;
  }
  first?.focus();
  return rest;
}

export function clearErrors(node) {
  node.querySelectorAll("[aria-invalid]").forEach((each) => each.removeAttribute("aria-invalid"));
  node.querySelectorAll(".error").forEach((each) => (each.textContent = ""));
}

// `tags.3` is shown at the field of `tags`.
function closest(node, name) {
  const parts = String(name).split(".");
  for (; parts.length; parts.pop()) {
    const place = node.querySelector(`[data-field="${CSS.escape(parts.join("."))}"]`);
    if (place?.querySelector(".error")) return place;
  }
  return null;
}

// A refusal of the page itself, at a field.
export const wrong = (name, message) => Object.assign(new Error(message), { errors: [{ field: name, message }] });

// Where a form says what is at none of its fields.
export const summary = (...content) => h.div({ role: "alert", class: "summary" }, content);

// A form that keeps its input: nothing is cleared or redrawn on failure.
// `save(values)` throws the API's Refusal.
// `kind`: how the button looks; "main" is for the page's next step.
export function form({ fields, submit, save, notice, cancel, extra, kind = "main" }) {
  const button = h.button({ type: "submit", class: kind }, submit);
  const node = h.form(
    { novalidate: true, onsubmit: submitted },
    summary(notice && h.p({ class: "notice bad" }, notice)),
    h.div({ class: "fields" }, fields),
    h.div({ class: "actions" }, button, cancel, extra),
  );
  async function submitted(event) {
    event.preventDefault();
    await saving(node, button, () => save(values(node)));
  }
  return node;
}

// Makes the fields of a node read-only: their values can be selected and copied.
export function locked(node) {
  for (const control of node.querySelectorAll("input:not([type=search]), select, textarea")) {
    if (control.matches("select, [type=checkbox]")) control.disabled = true;
    else control.readOnly = true;
  }
  node.querySelectorAll("button:not(.more)").forEach((each) => (each.hidden = true));
  return node;
}

// Runs a save: the button waits, errors go to their fields, the rest into the summary. (A button that
// is disabled loses the focus, and with it the reader's place; one that is busy keeps it.)
export async function saving(node, button, save) {
  if (button.ariaBusy) return false;
  clearErrors(node);
  replace(node.querySelector(".summary"));
  button.ariaBusy = "true";
  const rows = [...node.querySelectorAll("button.add, .line button")];
  rows.forEach((each) => (each.inert = true)); // the fields are named by their rows
  try {
    // A date without its year, or without the time, would be sent as none.
    const half = [...node.querySelectorAll("input")].find(({ validity }) => validity.badInput);
    if (half) throw wrong(half.name, "is incomplete");
    await save();
    return true;
  } catch (refusal) {
    if (!isLeft(refusal)) refused(node, refusal);
    return false;
  } finally {
    button.ariaBusy = null;
    rows.forEach((each) => (each.inert = false));
  }
}

// Shows what the API refuses in the form that was sent; or in that of the same record, if its page was drawn again
// meanwhile; or as a message, if the dialog was closed.
export function refused(node, refusal) {
  const shown = node.isConnected ? node : document.getElementById(node.id);
  const errors = named(refusal);
  const rest = shown ? showErrors(shown, errors) : errors.map(told);
  const lines = refusal.errors?.length ? rest : [refusal.message];
  if (!shown) return toast(lines.join(" "), "bad");
  return replace(
    shown.querySelector(".summary"),
    lines.length > 0 &&
      h.div(
        { class: "notice bad" },
        lines.map((line) => h.p(line)),
        refusal.link && h.p(h.a({ href: refusal.link[0] }, refusal.link[1])),
      ),
  );
}

// A conflict about one field, such as a slug that is taken.
function named(refusal) {
  if (refusal.errors?.length) return refusal.errors;
  return refusal.body?.field ? [{ field: refusal.body.field, message: refusal.message }] : [];
}
