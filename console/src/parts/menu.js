// Actions that are rarely wanted, behind one button.

import { h, newId } from "../dom.js";

const WIDTH = 232; // pixels

// `items`: buttons and links, or what is falsy; `of`: what they are about, if a page has several menus.
export function menu(items, of = "") {
  const shown = items.flat().filter(Boolean);
  if (shown.length === 0) return null;
  const id = newId("menu");
  const open = h.button(
    { type: "button", class: "quiet", popovertarget: id, "aria-label": of ? `More: ${of}` : null },
    "More",
  );
  const list = h.div({ id, class: "menu", popover: "auto", onclick: () => list.hidePopover(), onbeforetoggle: place }, shown);
  return [open, list];

  function place() {
    const { bottom, right } = open.getBoundingClientRect();
    const left = Math.min(Math.max(right - WIDTH, 8), innerWidth - WIDTH - 8);
    list.style.setProperty("top", `${bottom + scrollY + 4}px`);
    list.style.setProperty("left", `${left + scrollX}px`);
  }
}
