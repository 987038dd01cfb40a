// Keeps unsaved input when a page is redrawn.

// Saves a form. Input during the save is not part of it, and is restored on the page drawn from its answer.
export async function during(save, form, page) {
  const sent = controls(form);
  await save();
  if (!form.isConnected) retype(page, sent, controls(form));
}

// Redraws a page without saving its form: unsaved input stays.
export function keeping(page, draw) {
  const typed = controls(page);
  draw();
  retype(page, controls(page), typed);
}

// The value of each control inside a node, and a function that sets it.
const controls = (node) =>
  new Map(
    [...node.querySelectorAll("[data-field] [name]")].map((control) => {
      const part = control.type === "checkbox" ? "checked" : "value";
      const field = control.closest("[data-field]").dataset.field;
      const key = JSON.stringify([field, control.name, part === "checked" && control.value]);
      return [key, { control, part, value: control[part] }];
    }),
  );

function retype(page, before, typed) {
  const there = controls(page);
  for (const [key, { value }] of typed) {
    const found = there.get(key);
    if (!found || value === before.get(key)?.value) continue;
    found.control[found.part] = value;
    found.control.dispatchEvent(new Event("input", { bubbles: true }));
  }
}
