// A product's picture; a blank place if there is none, or if it cannot be loaded.

import { h } from "../dom.js";

const blank = () => h.span({ class: "thumb blank", "aria-hidden": "true" });

export const picture = (url) =>
  /^https:/i.test(url ?? "")
    ? h.img({
        class: "thumb",
        src: url,
        alt: "",
        loading: "lazy",
        decoding: "async",
        width: 40,
        height: 40,
        onerror: ({ target }) => target.replaceWith(blank()),
      })
    : blank();
