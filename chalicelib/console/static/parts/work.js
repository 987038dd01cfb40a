// The styles of `work.css`, and what forms need: whatever imports this is drawn when they are there.

import { h } from "../dom.js";
import "./typed.js";

const href = new URL("../work.css", import.meta.url).href;

await new Promise((loaded) =>
  document.head.append(h.link({ rel: "stylesheet", href, onload: loaded, onerror: loaded })),
);
