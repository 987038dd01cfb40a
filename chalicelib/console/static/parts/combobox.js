// A text field with options below it (the pattern of that name in ARIA): arrow keys mark one of them.

import { h, replace } from "../dom.js";
import "./work.js";

// `input`: gets its role and keys; `label`: of the list. `take(option)` is called by a click,
// `enter(option, event)` by Enter, with the marked one or undefined. `open()`: the arrow down asks for options.
// `stays`: the list is always there. Options are { text, mark, about }.
export function combobox({ input, label, kind = "found", stays = false, take, enter, open = () => {} }) {
  const { id } = input;
  let found = [];
  let at = -1;
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

  // `marked`: the place of the option that Enter takes, -1 for none; `none`: what is said if there is none.
  function show(options, marked = 0, none = "Nothing found") {
    found = options;
    replace(
      box,
      found.length === 0
        ? none && h.li({ class: "soft", role: "option", "aria-disabled": "true" }, none)
        : found.map((option, place) =>
            h.li(
              {
                id: `${id}-${place}`,
                role: "option",
                "aria-selected": "false",
                onmousedown: (event) => event.preventDefault(), // the focus stays
                onclick: () => take(option),
              },
              h.span(h.bdi(option.text), option.mark && [" ", h.span({ class: "badge warn" }, option.mark)]),
              h.span({ class: "soft small" }, option.about),
            ),
          ),
    );
    expand(stays || box.children.length > 0);
    mark(found.length ? marked : -1);
  }

  function expand(is) {
    box.hidden = !is;
    input.setAttribute("aria-expanded", String(is));
  }

  function close() {
    [found, at] = [[], -1];
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
    if (event.key === "Escape" && !box.hidden && !stays) {
      event.stopPropagation();
      event.preventDefault(); // a dialog around it stays
      close();
    }
    if (event.key === "Enter" && !event.ctrlKey && !event.metaKey) enter(found[at], event);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    if (box.hidden) return void (step > 0 && open());
    if (found.length === 0) return;
    event.preventDefault();
    mark(at < 0 && step < 0 ? found.length - 1 : (at + step + found.length) % found.length);
  }

  return { box, show, close, at: () => at, found: () => found };
}
