// Signing in with an API key: as a page at the start, as a dialog when the key was revoked
// during work.

import { call } from "./api.js";
import { h, replace } from "./dom.js";
import * as session from "./session.js";
import { modal } from "./parts/dialog.js";
import { field, form } from "./parts/form.js";

export function signInPage(entered, notice) {
  document.title = "Sign in · Backroom";
  const enter = () => {
    stop();
    entered();
  };
  const stop = session.whenGiven((key) => begin(key).then(enter, () => {}));
  replace(
    document.body,
    h.main(
      { class: "sign-in" },
      h.h1(h.span({ class: "mark", "aria-hidden": "true" }), "Backroom"),
      h.p({ class: "soft" }, "Sign in with an API key. It is forgotten when you close the last tab."),
      keyForm(enter, notice),
      h.p({ class: "soft small" }, "No key? An Owner can create one under Settings → API keys."),
    ),
  );
  document.querySelector("input").focus();
}

// A dialog above an open page. `offered`: a key that another tab has. Resolves when a key is valid.
export async function openSignIn(offered) {
  if (offered && (await begin(offered).then(Boolean, () => false))) return;
  await new Promise((entered) => {
    const enter = () => {
      stop();
      dialog.close();
      entered();
    };
    const stop = session.whenGiven((key) => begin(key).then(enter, () => {}));
    const dialog = modal(
      "Sign in again",
      [
        h.p(
          "This API key is no longer valid. Your work is still here: enter another key to continue.",
        ),
        keyForm(enter),
      ],
      { stays: true },
    );
  });
}

async function begin(key) {
  const { data } = await call("GET", "admin/me", { key });
  session.begin(key, data);
  return data;
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
      try {
        await begin(key.trim());
      } catch (refusal) {
        if (refusal.status === 401) refusal.errors = [{ field: "key", message: "Invalid API key" }];
        throw refusal;
      }
      entered();
    },
  });
}
