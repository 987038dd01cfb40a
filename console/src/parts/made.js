// What is made to order of a line: whether, until when, and what exactly.

import { button, h } from "../dom.js";
import { field } from "./form.js";
import { daysAgo } from "./zone.js";

// Details as people type them, one in each line: `Metal: Gold`. As the API has them, and back.
const detailsOf = (text) =>
  text
    .split("\n")
    .filter((line) => line.trim())
    .map((line) => {
      const [name, ...value] = line.split(":");
      return { name: name.trim(), value: value.join(":").trim() || null };
    });
const textOf = (details) => details.map(({ name, value }) => `${name}: ${value ?? ""}`).join("\n");

const hintOf = ({ specification = [] }) =>
  specification
    .map(({ name, required, choices }) => `${name}${required ? " (required)" : ""}${choices.length > 0 ? `: ${choices.join(", ")}` : ""}`)
    .join(" · ");

// `line`: as it is, of an order, or `product`: of which one is made; `name(field)`: as the API calls it; `of`: whose fields
// they are. Folded until they are wanted.
export function madeFields({ line, product = {}, name, of, oninput }) {
  const own = line ?? {
    make: product.madeToOrder ?? false,
    dueOn: product.madeToOrder && product.leadDays != null ? daysAgo(-product.leadDays) : null,
    specification: product.specification ?? [],
  };
  const labelled = (text) => [text, h.span({ class: "unseen" }, ` of ${of}`)];
  const part = (each, label, more) => field({ name: name(each), label: labelled(label), oninput, ...more });
  const make = part("make", "Make it", { type: "checkbox", value: own.make });
  const dueOn = part("dueOn", "Promised date", { type: "date", value: own.dueOn });
  const specification = part("specification", "Details", {
    rows: 3,
    value: textOf(own.specification),
    placeholder: "Size: 52",
    hint: hintOf(product) || "One in each line, such as Size: 52",
  });
  const all = h.div({ class: "fields made", hidden: !own.make && !own.dueOn }, make, dueOn, specification);
  const open = button("Make it", pressed, { class: "small quiet", "aria-label": `Make ${of}` });
  open.hidden = !all.hidden;
  const control = (node) => node.querySelector("input, textarea");
  const first = read();

  function reveal() {
    all.hidden = false;
    open.hidden = true;
    control(make).checked = true;
  }

  function read() {
    return { make: control(make).checked, dueOn: control(dueOn).value || null, specification: detailsOf(control(specification).value) };
  }

  function pressed() {
    reveal();
    control(dueOn).focus();
    oninput();
  }

  // What differs from what they held first.
  function changes() {
    const now = read();
    return Object.fromEntries(Object.entries(now).filter(([each, value]) => JSON.stringify(value) !== JSON.stringify(first[each])));
  }
  return { open, node: all, fields: { make, dueOn, specification }, read, changes, reveal, isOpen: () => !all.hidden };
}
