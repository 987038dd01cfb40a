// Choosing files to upload: with a button, with the camera of a phone, or by dropping them anywhere on the page.

import { button, h } from "../dom.js";

export const PICTURES = "image/jpeg,image/png,image/webp"; // Safari makes a JPEG of a HEIC for it

// `take(files)` gets those that are chosen; `node`: where they are shown; they may be dropped while nothing is above it.
export function chooser(visit, node, { name, accept = null, take }) {
  for (const type of ["dragover", "dragleave", "drop"]) visit.listen(window, type, over);
  return [
    choose(name, { multiple: true, accept }),
    h.span({ class: "touch" }, choose("Take a photo", { accept: PICTURES, capture: "environment" })),
  ];

  function choose(label, more) {
    const onchange = ({ target }) => {
      take([...target.files]);
      target.value = ""; // so that the same file can be chosen again
    };
    const input = h.input({ type: "file", hidden: true, onchange, ...more });
    return [input, button(label, () => input.click(), { class: "small" })];
  }

  // The whole window takes files; otherwise one that is dropped beside the list would replace the page.
  function over(event) {
    if (!event.dataTransfer.types.includes("Files")) return;
    event.preventDefault();
    const top = [...document.querySelectorAll("dialog[open]")].at(-1) ?? document.body;
    if (!top.contains(node)) return;
    node.classList.toggle("over", event.type === "dragover");
    if (event.type === "drop") take([...event.dataTransfer.files]);
  }
}

// Whether large pictures are sent as they are.
export function originalBox() {
  const box = h.input({ type: "checkbox" });
  const title = "Otherwise pictures above 6 megapixels are made smaller before they are sent.";
  return { box, node: h.label({ class: "small soft", title }, box, " ", "Send original") };
}
