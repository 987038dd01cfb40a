// Asks for all files of a page at once: its imports would be found one after the other. It needs little itself, and so
// does it for the first page while the console's own files are still on their way.

import { FILES, NEEDS } from "./facts.js";
import { current, match } from "./router.js";

export function fetchEarly(page) {
  const files = (NEEDS[page] ?? []).splice(0).map((place) => `parts/${FILES[place]}`);
  for (const file of files.length ? [`pages/${page}`, ...files] : []) {
    const kind = file.endsWith(".css") ? { rel: "preload", as: "style" } : { rel: "modulepreload" };
    const href = new URL(kind.as ? file : `${file}.js`, import.meta.url).href;
    document.head.append(Object.assign(document.createElement("link"), kind, { href }));
  }
}

fetchEarly(match(current()).page);
