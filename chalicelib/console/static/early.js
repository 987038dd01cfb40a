// What the first page needs is asked for while the console's own files are still on their way: its files all at once,
// which its imports would find one after the other, and who is signed in.

import { FILES, NEEDS } from "./facts.js";
import { current, match } from "./router.js";
import { key } from "./session.js";

export const MOST_WAITED = 35_000; // milliseconds: API Gateway answers within 29 s

let me = key() && fetch(new URL("api/admin/me", document.baseURI), {
  headers: { Authorization: `Bearer ${key()}` },
  cache: "no-store",
  signal: AbortSignal.timeout(MOST_WAITED),
});
me?.catch(() => {}); // which is asked again

// The answer that is on its way, once.
export function taken() {
  const first = me;
  me = null;
  return first;
}

export function fetchEarly(page) {
  const files = (NEEDS[page] ?? []).splice(0).map((place) => `parts/${FILES[place]}`);
  for (const file of files.length ? [`pages/${page}`, ...files] : []) {
    const kind = file.endsWith(".css") ? { rel: "preload", as: "style" } : { rel: "modulepreload" };
    const href = new URL(kind.as ? file : `${file}.js`, import.meta.url).href;
    document.head.append(Object.assign(document.createElement("link"), kind, { href }));
  }
}

fetchEarly(match(current()).page);
