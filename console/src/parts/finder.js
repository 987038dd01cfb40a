// Finding one thing by typing or by scanning, such as a product for an order: a combobox.
//
// Enter takes the marked option, if the list belongs to the current text. Otherwise (a scanner sends
// Enter before any answer) it takes only an option with exactly that text as a code, and lists the
// others to choose from. The field is cleared immediately for the next scan. Scans are taken in
// their order, however late their answers come.

import { button, h, newId } from "../dom.js";
import { isLeft } from "../api.js";
import { combobox } from "./combobox.js";
import { announce } from "./notice.js";

// Without case and accents, as the API searches.
export const folded = (text) =>
  String(text ?? "")
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .toLowerCase()
    .trim();

// `search(text, signal)` resolves to [{ codes, text, about, mark, value }], the best first;
// `chosen(value)` takes one. `codes`: what a code is called, such as SKU. `custom(text)` takes a text that led to nothing.
export function finder({ visit, label, placeholder, search, chosen, name, hint, codes = null, custom = null }) {
  const id = newId("finder");
  const isExact = (text) => ({ codes: own }) => own.some((code) => folded(code) === folded(text));
  const known = new Map(); // code → option, so that the same piece again needs no answer
  let turn = Promise.resolve();
  let waiting = 0;
  const input = h.input({ id, type: "search", placeholder, "aria-describedby": `${id}-hint` });
  const list = combobox({ visit, input, label: `${label}: results`, ask: search, take, enter, failed: miss });
  const missed = h.ul({ class: "missed" });

  function enter(option, event) {
    event.preventDefault();
    const text = input.value.trim();
    if (!text) return;
    if (list.of() === text && option) take(option);
    else scan(text);
  }

  function take(option) {
    input.value = "";
    list.close();
    chosen(option.value);
  }

  // The request is sent immediately. Its answer is used after those of earlier scans.
  function scan(text) {
    input.value = "";
    list.close();
    const before = known.get(folded(text));
    const answer = before ? Promise.resolve([before]) : search(text, visit.signal);
    answer.catch(() => {});
    waiting += 1;
    turn = turn.then(async () => {
      try {
        scanned(text, await answer);
      } catch (refusal) {
        if (!isLeft(refusal)) miss(text, refusal.message);
      } finally {
        waiting -= 1;
      }
    });
  }

  function scanned(text, options) {
    if (visit.signal.aborted) return;
    const exact = options.filter(isExact(text));
    if (exact.length === 1) {
      known.set(folded(text), exact[0]);
      chosen(exact[0].value);
      return;
    }
    const why = exact.length > 1 ? `${exact.length} have this ${codes}` : "Not found";
    // The next text is being typed: do not change the field.
    if (options.length === 0 || input.value || document.activeElement !== input) {
      miss(text, why);
      return;
    }
    input.value = text;
    list.show(exact.length > 1 ? exact : options, text);
    announce(`No exact match. ${options.length} found: choose one.`);
  }

  function miss(text, why) {
    if (visit.signal.aborted) return;
    const ending = (name, work, more) =>
      button(
        name,
        () => {
          line.remove();
          work();
        },
        { class: "small", ...more },
      );
    const line = h.li(
      h.span(h.b(h.bdi(text)), `: ${why}`),
      custom && ending("Add as a custom item", () => custom(text)),
      ending("Search again", () => {
        input.focus();
        input.value = text;
        list.look();
      }),
      ending("Dismiss", () => input.focus(), { class: "small quiet", "aria-label": `Dismiss ${text}` }),
    );
    missed.append(line);
  }

  const node = h.div(
    { class: "field finder", "data-field": name },
    h.label({ for: id }, label),
    input,
    list.box,
    h.p({ id: `${id}-hint`, class: "hint" }, hint),
    h.div({ role: "alert" }, missed),
  );
  return {
    node,
    scan,
    focus: () => input.focus(),
    // Resolves when every scan was taken or shown as missed.
    settled: async () => {
      while (waiting > 0) await turn;
    },
    // The texts that led to nothing yet.
    left: () =>
      [...[...missed.querySelectorAll("bdi")].map((each) => each.textContent), input.value.trim()].filter(
        Boolean,
      ),
    missed: () => missed.children.length + (input.value.trim() ? 1 : 0),
  };
}
