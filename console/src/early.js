// Asked for while the console's own files are still on their way: who is signed in, and what pages other than Home need.

export const MOST_WAITED = 35_000; // milliseconds: API Gateway answers within 29 s
export const KEY = "backroom-key"; // in sessionStorage

const key = sessionStorage.getItem(KEY);
let me = key && fetch("api/admin/me", {
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

function preload(script) {
  const href = new URL(script, import.meta.url);
  document.head.append(Object.assign(document.createElement("link"), { rel: "modulepreload", href }));
}

// COMMON is the script that all but Home need; the build knows its name.
const path = location.hash.slice(2).split("?")[0];
if (path) {
  preload(COMMON);
  if (/^(customers|orders|products)$/.test(path)) preload("lists.js");
  else if (/^(customers|orders)\/(new|\w+_)/.test(path)) preload("records.js");
  else if (/^(products\/|settings\/(production|shipping))/.test(path)) {
    preload("stock.js");
    if (/\/(new|prod_)/.test(path)) preload("uploads.js");
  } else if (/^(production|orders\/due)$/.test(path)) preload("production.js");
  else preload(path === "reports" ? "reports.js" : "rest.js");
}
