// Fields that offer what the shop has used, such as vendors, and take other text too.

import { number, words } from "../format.js";
import { repWord } from "./words.js";
import { combobox } from "./combobox.js";
import { who } from "../session.js";
import { field } from "./form.js";
import { METHODS, repOf } from "./order.js";

export const asked = async (visit, [type, name], search, signal) =>
  (await visit.get("admin/facets", { type, field: name, search: search.slice(0, 200), limit: 20 }, signal)).data.data;

// The values in use that may be meant by a text: itself, or in another case, if there is one; then those with a word that
// begins with it.
export async function meant(visit, of, text, signal) {
  const values = (await asked(visit, of, text, signal)).map(({ value }) => value);
  const isIt = (value) => value.toLowerCase() === text.toLowerCase();
  return { same: values.find((value) => value === text) ?? values.find(isIt), first: values[0] };
}

// `of`: whose field, such as ["products", "vendor"]. `several`: values with commas between them. `shown`: how
// people read a value; `code`: what is searched for a text; `also`: values that are offered before they are used. The rest
// is for `field`.
export function choice(visit, of, { several = false, shown = String, code = String, also = [], ...settings }) {
  const node = field(settings);
  const input = node.querySelector("input");
  const { box, close } = combobox({
    visit,
    input,
    label: "Values in use",
    offers: true,
    ask,
    take,
    enter(option, event) {
      if (!option) return;
      event.preventDefault();
      take(option);
    },
  });
  node.classList.add("finder");
  input.after(box);
  return node;

  function begun() {
    const parts = several ? input.value.split(",") : [input.value];
    return [parts.slice(0, -1).map((part) => part.trim()), parts.at(-1).trim()];
  }

  async function ask(_, signal) {
    const [before, text] = begun();
    const used = await asked(visit, of, code(text), signal);
    const fits = (value) => shown(value).toLowerCase().startsWith(text.toLowerCase());
    const more = also.filter((value) => fits(value) && !used.some((each) => each.value === value));
    return [...used, ...more.map((value) => ({ value, count: null }))]
      .map(({ value, count }) => ({ text: shown(value), about: count && number(count) }))
      .filter((option) => !before.includes(option.text) && option.text !== text);
  }

  function take({ text }) {
    input.value = [...begun()[0], text].join(", ") + (several ? ", " : "");
    input.dispatchEvent(new Event("input", { bubbles: true }));
    close();
  }
}

export const NAMES = { shown: words, code: (text) => text.replaceAll(/\s+/g, "_") }; // such as sources and methods
export const REPS = { shown: repWord, code: repOf };

export const methodField = (visit, settings) =>
  choice(visit, ["orders", "paymentMethod"], { ...NAMES, also: METHODS, ...settings });
export const repField = (visit, { value, ...settings }) =>
  choice(visit, ["orders", "salesRepId"], { name: "salesRepId", value: repWord(value), ...REPS, also: [repOf(who().name)], ...settings });
