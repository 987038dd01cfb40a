// Views of a list: named filters, stored in this browser.

import { button, h } from "../dom.js";
import { link } from "../router.js";
import { dialogForm } from "./dialog-form.js";
import { field } from "./form.js";

const place = (path) => `backroom-views ${path}`;

function kept(path) {
  try {
    return JSON.parse(localStorage.getItem(place(path))) ?? {};
  } catch {
    return {};
  }
}

function keep(path, views) {
  if (Object.keys(views).length) localStorage.setItem(place(path), JSON.stringify(views));
  else localStorage.removeItem(place(path));
}

// Links to the views of a list, and a button that saves `asked`, its current filters. `changed()` redraws.
export function views(visit, asked, changed) {
  const { path } = visit;
  const all = kept(path);
  const now = link(path, asked);
  const isKept = Object.values(all).some((query) => link(path, query) === now);
  const links = Object.entries(all).map(([name, query]) =>
    h.span(
      { class: "chip" },
      h.a(
        { href: link(path, query), "aria-current": link(path, query) === now ? "true" : null },
        h.bdi(name),
      ),
      button("×", () => drop(name), { class: "quiet small", "aria-label": `Delete the view ${name}` }),
    ),
  );
  const canSave = !isKept && Object.values(asked).some(Boolean);
  return [links, canSave && button("Save view", save, { class: "quiet small" })];

  function drop(name) {
    const { [name]: _, ...rest } = kept(path);
    keep(path, rest);
    changed();
  }

  function save() {
    dialogForm(visit, "Save view", {
      fields: field({ name: "name" }),
      submit: "Save",
      save({ name }) {
        if (!name.trim()) throw new Error("Enter a name.");
        keep(path, { ...kept(path), [name.trim()]: asked });
        changed();
      },
    });
  }
}
