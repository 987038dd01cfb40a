// A text field with options below it (the pattern of that name in ARIA): arrow keys mark one of them.

import { isLeft } from "../api.js";
import { h, replace } from "../dom.js";
import { announce } from "./notice.js";

const PAUSE = 220; // milliseconds without a key before options are asked for

// `input`: gets its role and keys; `label`: of the list. `ask(text, signal)` resolves to the options of a text: { text,
// mark, about, picture }, with a `key` if it stays marked in the next ones. `take(option)` is called by a click,
// `enter(option, event)` by Enter, with the marked one or undefined; `failed(text, message)` without an answer.
// `offers`: a blank field has options too, and none is marked. `stays`: the list is always there.
export function combobox({ visit, input, label, ask, take, enter, failed, offers = false, stays = false }) {
  const { id } = input;
  let found = [];
  let at = -1;
  let of = null; // the text that the options belong to
  const kind = stays ? "results-list" : "found";
  const box = h.ul({ id: `${id}-list`, role: "listbox", class: kind, "aria-label": label, hidden: !stays });
  const attributes = {
    role: "combobox",
    autocomplete: "off",
    spellcheck: "false",
    "aria-expanded": String(stays),
    "aria-controls": box.id,
    "aria-autocomplete": "list",
  };
  Object.entries(attributes).forEach((each) => input.setAttribute(...each));
  input.onkeydown = pressed;
  input.oninput = () => (offers || input.value.trim() ? visit.after(PAUSE, id, look) : close());
  if (offers) input.onclick = look;
  if (!stays) input.onblur = close;

  async function look() {
    const text = input.value.trim();
    const isAsked = () => document.activeElement === input && input.value.trim() === text;
    if (!isAsked()) return;
    try {
      const options = await ask(text, visit.latest(id));
      if (isAsked()) show(options, text);
    } catch (refusal) {
      if (isLeft(refusal) || !isAsked()) return;
      close();
      failed?.(text, refusal.message);
    }
  }

  // `none`: what is said if there is none.
  function show(options, text, none = "Nothing found") {
    const chosen = at > 0 ? options.findIndex(({ key }) => key && key === found[at].key) : -1;
    const isTold = text && !offers;
    [found, of] = [options, text];
    replace(
      box,
      found.length === 0
        ? isTold && h.li({ class: "soft", role: "option", "aria-disabled": "true" }, none)
        : found.map((option, place) =>
            h.li(
              {
                id: `${id}-${place}`,
                role: "option",
                "aria-selected": "false",
                onmousedown: (event) => event.preventDefault(), // the focus stays
                onclick: () => take(option),
              },
              h.span(
                { class: option.picture ? "named" : null },
                option.picture,
                h.span(h.bdi(option.text), option.mark && [" ", h.span({ class: "badge warn" }, option.mark)]),
              ),
              h.span({ class: "soft small" }, option.about),
            ),
          ),
    );
    if (isTold) announce(found.length ? `${found.length} found.` : none);
    expand(stays || box.children.length > 0);
    mark(found.length === 0 || offers ? -1 : Math.max(chosen, 0));
  }

  function expand(is) {
    box.hidden = !is;
    input.setAttribute("aria-expanded", String(is));
  }

  // What is asked, or waits to be, does not open it again.
  function close() {
    visit.latest(id);
    [found, at, of] = [[], -1, null];
    expand(stays);
    input.removeAttribute("aria-activedescendant");
  }

  function mark(place) {
    at = place;
    [...box.children].forEach((each, here) => each.setAttribute("aria-selected", String(here === at)));
    if (at < 0) return input.removeAttribute("aria-activedescendant");
    box.children[at].scrollIntoView({ block: "nearest" });
    return input.setAttribute("aria-activedescendant", `${id}-${at}`);
  }

  function pressed(event) {
    if (event.isComposing) return; // keys of an input method, such as for Japanese
    if (event.key === "Escape" && !box.hidden && !stays) {
      event.stopPropagation();
      event.preventDefault(); // a dialog around it stays
      close();
    }
    if (event.key === "Enter" && !event.ctrlKey && !event.metaKey) enter(found[at], event);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    if (box.hidden) return void (step > 0 && offers && look());
    if (found.length === 0) return;
    event.preventDefault();
    mark(at < 0 && step < 0 ? found.length - 1 : (at + step + found.length) % found.length);
  }

  return { box, show, close, look, of: () => of, at: () => at, found: () => found };
}
