// Choosing files to upload: with a button, with the camera of a phone, or by dropping them anywhere on the page.

import { button, h } from "../dom.js";
import { PICTURE_TYPES } from "../file-upload.js";

// `take(files)` gets those that are chosen. `types`: what the button offers; every file if absent. `node`: where they are
// shown: files may be dropped while no dialog covers it, until `signal` aborts.
export function chooser(visit, node, { name, types = null, take, signal = visit.signal }) {
  for (const type of ["dragover", "dragleave", "drop"]) visit.listen(window, type, handleDrag, { signal });
  return [
    choose(name, { multiple: true, accept: types?.join() }),
    h.span({ class: "touch" }, choose("Take a photo", { accept: PICTURE_TYPES.join(), capture: "environment" })),
  ];

  function choose(label, more) {
    const onchange = ({ target }) => {
      take([...target.files]);
      target.value = ""; // so that the same file can be chosen again
    };
    const input = h.input({ type: "file", hidden: true, onchange, ...more });
    return [input, button(label, () => input.click(), { class: "small" })];
  }

  // The whole window takes files; otherwise the browser would open a file that is dropped outside the list, and leave the page.
  function handleDrag(event) {
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
