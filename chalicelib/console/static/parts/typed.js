// What is typed and not saved, where a page is drawn anew.

// Runs a save of a form. What is typed meanwhile is not in it, and is typed again on the page drawn from its answer.
export async function during(save, form, page) {
  const sent = controls(form);
  await save();
  if (!form.isConnected) retype(page, sent, controls(form));
}

// Draws a page anew for another reason than its form: what is typed there and not saved stays.
export function keeping(page, draw) {
  const typed = controls(page);
  draw();
  retype(page, controls(page), typed);
}

// What each control of the fields inside a node holds, and how to set it.
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
