// Signing in is giving an API key: as a page at the start, as a dialog when the key was revoked
// while work is open.

import { call } from "./api.js";
import { h, replace } from "./dom.js";
import * as session from "./session.js";
import { modal } from "./parts/dialog.js";
import { field, form } from "./parts/form.js";

export function signInPage(entered, notice) {
  document.title = "Sign in · Backroom";
  replace(
    document.body,
    h.main(
      { class: "sign-in" },
      h.h1(h.span({ class: "mark", "aria-hidden": "true" }), "Backroom"),
      h.p({ class: "soft" }, "Sign in with an API key. It stays in this tab only."),
      keyForm(entered, notice),
      h.p({ class: "soft small" }, "No key? An Owner makes one under Settings → API keys."),
    ),
  );
  document.querySelector("input").focus();
}

export function openSignIn() {
  return new Promise((entered) => {
    const dialog = modal(
      "Sign in again",
      [
        h.p(
          "This key opens nothing any more. What you typed is still here: go on with another key.",
        ),
        keyForm(() => {
          dialog.close();
          entered();
        }),
      ],
      { stays: true },
    );
  });
}

function keyForm(entered, notice) {
  return form({
    fields: [
      field({
        label: "API key",
        name: "key",
        type: "password",
        autocomplete: "current-password",
        placeholder: "bk_…",
        required: true,
      }),
    ],
    submit: "Sign in",
    notice,
    async save({ key }) {
      const before = session.key();
      sessionStorage.setItem("backroom-key", key.trim());
      const was = session.who();
      if (was) session.begin(key.trim(), null);
      try {
        const { data } = await call("GET", "admin/me");
        session.begin(key.trim(), data);
      } catch (refusal) {
        if (before) session.begin(before, was);
        else session.end();
        if (refusal.status === 401) refusal.errors = [{ field: "key", message: "is no valid key" }];
        throw refusal;
      }
      entered();
    },
  });
}
