// How many pieces of what is listed.

import { h, newId } from "../dom.js";

// The field of a number in a table. `key`: of its record. `message`: what is wrong with it.
export function pieceCount({ key, label, message, ...attributes }) {
  const id = newId("error");
  return h.div(
    { "data-field": key },
    h.input({
      name: key,
      inputmode: "numeric",
      autocomplete: "off",
      "aria-label": label,
      "aria-describedby": id,
      ...attributes,
    }),
    h.p({ id, class: "error" }, message),
  );
}
