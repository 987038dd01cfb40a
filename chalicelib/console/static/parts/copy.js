// A value to be copied.

import { h, replace } from "../dom.js";
import { announce } from "./notice.js";
import "./work.js";

export function copyButton(visit, value, what = "Copy") {
  const button = h.button({ type: "button", class: "small", onclick: copy }, what);
  async function copy() {
    try {
      await navigator.clipboard.writeText(value);
    } catch {
      // Without permission (or without TLS) it can still be marked for the reader's own copying.
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
