// A product's picture; a blank place if there is none, or if it cannot be loaded.

import { h } from "../dom.js";

const blank = (text) => h.span({ class: "thumb blank", "aria-hidden": text ? null : "true" }, text);

// `image`: of the API; an own picture in that size. `gone`: what is said if it cannot be loaded.
export function picture(image, size = "small", gone = null) {
  const src = image?.sizes?.[size] ?? (/^https:/i.test(image?.url ?? "") && image.url);
  if (!src) return blank(image && gone);
  const onerror = ({ target }) => target.replaceWith(blank(gone));
  return h.img({ class: "thumb", src, alt: "", loading: "lazy", decoding: "async", onerror });
}
