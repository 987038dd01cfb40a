// Finding one thing while typing, such as a product for an order: a combobox by keyboard or pointer.

import { get } from "../api.js";
import { h, newId, replace } from "../dom.js";
import { announce } from "./notice.js";
import "./work.js";

const PAUSE = 220;

// `options(data)` makes [{ text, about, value, off }] of an answer; `chosen(value)` takes one.
export function finder({ label, placeholder, api, query = {}, options, chosen, name, signal }) {
  const id = newId("finder");
  let found = [];
  let at = -1;
  let pause = 0;
  let loading = new AbortController();
  const box = h.ul({
    id: `${id}-list`,
    role: "listbox",
    class: "found",
    "aria-label": `${label}: found`,
    hidden: true,
  });
  const input = h.input({
    id,
    type: "search",
    role: "combobox",
    autocomplete: "off",
    placeholder,
    "aria-expanded": "false",
    "aria-controls": box.id,
    "aria-autocomplete": "list",
    "aria-describedby": `${id}-told`,
    oninput: () => {
      clearTimeout(pause);
      pause = setTimeout(look, PAUSE);
    },
    onkeydown: pressed,
    onblur: () => setTimeout(close, 150),
  });

  async function look() {
    loading.abort();
    loading = new AbortController();
    const mine = loading.signal;
    const search = input.value.trim();
    if (!search) return close();
    try {
      const { data } = await get(api, { search, limit: 20, ...query }, mine);
      if (mine.aborted || signal.aborted) return;
      found = options(data.data);
      at = -1;
      open();
      announce(found.length ? `${found.length} found.` : "Nothing found.");
    } catch (refusal) {
      if (!mine.aborted) announce(refusal.message);
    }
  }

  function open() {
    replace(
      box,
      found.length === 0
        ? h.li({ class: "soft", role: "option", "aria-disabled": "true" }, "Nothing found")
        : found.map(({ text, about, off }, place) =>
            h.li(
              {
                id: `${id}-${place}`,
                role: "option",
                "aria-disabled": off ? "true" : null,
                "aria-selected": "false",
                onpointerdown: (event) => {
                  event.preventDefault();
                  take(place);
                },
              },
              h.span(text),
              h.span({ class: "soft small" }, about),
            ),
          ),
    );
    box.hidden = false;
    input.setAttribute("aria-expanded", "true");
  }

  function close() {
    box.hidden = true;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
    at = -1;
  }

  function pressed(event) {
    if (event.key === "Escape") close();
    if (event.key === "Enter") {
      event.preventDefault();
      if (!box.hidden && found.length) take(Math.max(at, 0));
    }
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || box.hidden || found.length === 0) return;
    event.preventDefault();
    at = (at + step + found.length) % found.length;
    [...box.children].forEach((each, place) =>
      each.setAttribute("aria-selected", String(place === at)),
    );
    box.children[at].scrollIntoView({ block: "nearest" });
    input.setAttribute("aria-activedescendant", `${id}-${at}`);
  }

  function take(place) {
    const one = found[place];
    if (!one || one.off) return;
    input.value = "";
    close();
    chosen(one.value);
  }

  return h.div(
    { class: "field finder", "data-field": name },
    h.label({ for: id }, label),
    input,
    box,
    h.p({ id: `${id}-told`, class: "error" }),
  );
}
