// Text that is typed survives when its page is drawn again.

const partOf = ({ type }) => (type === "checkbox" ? "checked" : "value");

function keyOf(control) {
  const field = control.closest("[data-field]").dataset.field;
  return JSON.stringify([field, control.name, control.type === "checkbox" && control.value]);
}

const controls = (node) => [...node.querySelectorAll("[data-field] [name]:not([type=file])")];

// What each control inside a node holds, by its field.
export const held = (node) =>
  new Map(controls(node).map((each) => [keyOf(each), each[partOf(each)]]));

// What differs from what the controls held before.
export const typedSince = (node, before) =>
  new Map([...held(node)].filter(([key, value]) => before.get(key) !== value));

export function retype(node, typed) {
  if (typed.size === 0) return;
  for (const control of controls(node)) {
    const key = keyOf(control);
    if (!typed.has(key) || control[partOf(control)] === typed.get(key)) continue;
    control[partOf(control)] = typed.get(key);
    control.dispatchEvent(new Event("input", { bubbles: true }));
  }
}
