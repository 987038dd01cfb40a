// A value with a button that copies it.

import { button, h, replace } from "../dom.js";
import { announce } from "./notice.js";

export function copyButton(visit, value, what = "Copy") {
  const node = button(what, copy, { class: "small" });
  async function copy() {
    try {
      await navigator.clipboard.writeText(value);
    } catch {
      // Without permission (or TLS), the value is selected, so that the user can copy it.
      const shown = node.parentElement.querySelector("code, input");
      if (shown) getSelection().selectAllChildren(shown);
      announce("Press Ctrl+C to copy.");
      return;
    }
    announce("Copied.");
    replace(node, "Copied ✓");
    visit.after(2000, `copied ${value}`, () => replace(node, what));
  }
  return node;
}

export function copied(visit, value) {
  return h.span({ class: "copied" }, h.code(value), copyButton(visit, value));
}

// A secret that cannot be read again. Resolves when the dialog is closed; leaving before that asks first.
export function shownOnce(visit, title, text, secret, more) {
  return new Promise((done) => {
    const stored = button("I have stored it", () => dialog.close(), { class: "main" });
    const dialog = visit.modal(
      title,
      [h.p("This is shown only once. ", text), copied(visit, secret), more && h.p({ class: "soft" }, more), h.div({ class: "actions" }, stored)],
      { stays: true },
    );
    visit.guard("secret", () => dialog.open, "This is shown only once: after you leave, nobody can see it again.");
    dialog.onclose = () => {
      visit.saved("secret");
      done();
    };
  });
}
