// Loads the styles of `work.css`: modules that import this are drawn after they are loaded.

import { h } from "../dom.js";

const href = new URL("../work.css", import.meta.url).href;

await new Promise((loaded) =>
  document.head.append(h.link({ rel: "stylesheet", href, onload: loaded, onerror: loaded })),
);
