// A value with a button that copies it.

import { h, replace } from "../dom.js";
import { announce } from "./notice.js";
import "./work.js";

export function copyButton(visit, value, what = "Copy") {
  const button = h.button({ type: "button", class: "small", onclick: copy }, what);
  async function copy() {
    try {
      await navigator.clipboard.writeText(value);
    } catch {
      // Without permission (or TLS), the value is selected, so that the user can copy it.
      const shown = button.parentElement.querySelector("code, input");
      if (shown) getSelection().selectAllChildren(shown);
      announce("Press Ctrl+C to copy.");
      return;
    }
    announce("Copied.");
    replace(button, "Copied ✓");
    visit.after(2000, `copied ${value}`, () => replace(button, what));
  }
  return button;
}

export function copied(visit, value) {
  return h.span({ class: "copied" }, h.code(value), copyButton(visit, value));
}
