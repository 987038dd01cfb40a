// How money came: a button for each usual method and those that the shop has used; any other as text.

import { button, h } from "../dom.js";
import { words } from "../format.js";
import { asked, methodField } from "./choice.js";
import { coded, METHODS } from "./order.js";

const USUAL = METHODS.slice(0, 3);
const MOST = 4; // others

export const isCash = (text) => coded(text) === "CASH";

// Buttons that set the input of a field, which keeps the value as any other does. `options`: [value, name].
export function picks(visit, node, label, options) {
  const input = node.querySelector("input");
  const group = h.div({ class: "picks", role: "group", "aria-label": label });
  const mark = () => [...group.children].forEach((each) => (each.ariaPressed = String(each.value === input.value)));
  const set = ({ currentTarget }) => {
    input.value = currentTarget.value;
    node.dispatchEvent(new Event("input", { bubbles: true }));
  };
  const add = (more) => {
    group.append(...more.map(([value, name]) => button(name, set, { value })));
    mark();
  };
  visit.listen(node, "input", mark);
  add(options);
  return { group, add };
}

export function methodPicks(visit, settings) {
  const node = methodField(visit, { label: "Payment method", ...settings });
  const input = node.querySelector("input");
  const named = (methods) => methods.map((each) => [words(each), words(each)]);
  const { group, add } = picks(visit, node, "How it is paid", named(USUAL));
  // The text is in sight while it is typed, and where no button says it.
  const show = () => {
    const isSaid = !input.value || [...group.children].some(({ value }) => value === input.value);
    input.hidden = isSaid && input !== document.activeElement;
  };
  const type = () => {
    [input.hidden, input.value] = [false, ""];
    input.focus();
    node.dispatchEvent(new Event("input", { bubbles: true }));
  };
  input.before(h.div({ class: "picks" }, group, button("Other", type, { class: "quiet" })));
  visit.listen(node, "input", show);
  const isOther = ({ value }) => !USUAL.includes(value) && value !== "OTHER";
  const offer = (used) => (add(named(used.filter(isOther).slice(0, MOST).map(({ value }) => value))), show());
  asked(visit, ["orders", "paymentMethod"], "", visit.signal).then(offer, () => {}); // or they are typed
  show();
  return node;
}
