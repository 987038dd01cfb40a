// Asked for while the console's own files are still on their way: who is signed in, and what pages other than Home need.

export const MOST_WAITED = 35_000; // milliseconds: API Gateway answers within 29 s
export const KEY = "backroom-key"; // in sessionStorage

const key = sessionStorage.getItem(KEY);
let me = key && fetch(new URL("api/admin/me", document.baseURI), {
  headers: { Authorization: `Bearer ${key}` },
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

function preload(file, kind) {
  const href = new URL(file, import.meta.url).href;
  document.head.append(Object.assign(document.createElement("link"), kind, { href }));
}

const [, page, record] = location.hash.split("?")[0].split("/");
if (page) {
  preload("lists.js", { rel: "modulepreload" });
  preload("work.css", { rel: "preload", as: "style" });
}
if (record) preload("records.js", { rel: "modulepreload" });
