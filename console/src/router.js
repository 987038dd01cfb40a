// Which page is shown. Addresses are in the hash (`#/products?search=shirt`), so they work wherever
// the console is mounted, and no server has to know them.

// The role that the page's calls need. The API decides; this avoids opening a page in vain.
const PAGES = [
  ["/", "home"],
  ["/products", "products"],
  ["/products/new", "product", "STAFF"],
  ["/products/low-stock", "low-stock"],
  ["/products/receive", "receive", "STAFF"],
  ["/products/counts", "counts"],
  ["/products/counts/:id", "count"],
  ["/products/:id", "product"],
  ["/import", "imports", "STAFF"],
  ["/jobs", "jobs"],
  ["/jobs/:id", "job"],
  ["/orders", "orders"],
  ["/orders/new", "new-order", "STAFF"],
  ["/orders/due", "due"],
  ["/orders/shipments", "shipments"],
  ["/orders/:id", "order"],
  ["/production", "production"],
  ["/reports", "reports"],
  ["/customers", "customers"],
  ["/customers/:id", "customer"],
  ["/settings/developer/webhooks", "webhooks", "ADMIN"],
  ["/settings/developer/webhooks/:id", "webhook", "ADMIN"],
  ["/settings/developer/deliveries", "deliveries", "ADMIN"],
  ["/settings/developer/deliveries/:id", "delivery", "ADMIN"],
  ["/settings/keys", "keys", "OWNER"],
  ["/settings/production", "stages", "ADMIN"],
  ["/settings/shipping", "carriers", "ADMIN"],
];

let shown = null;
// The scroll position of each page in this tab's history, restored on return. The browser would
// restore it before the page is drawn.
const scrolled = new Map();
let entry = null;
history.scrollRestoration = "manual";

// An address of the console: link("/orders", { status: "PAID" }).
export function link(path, query = {}) {
  const asked = new URLSearchParams(
    Object.entries(query).filter(
      ([, value]) => value !== "" && value !== null && value !== undefined,
    ),
  ).toString();
  return `#${path}${asked ? `?${asked}` : ""}`;
}

export const go = (path, query) => (location.hash = link(path, query));
export const current = () => location.hash.slice(1) || "/";

export function rewrite(path, query) {
  history.replaceState({ entry }, "", link(path, query));
  shown = location.hash;
}

export function match(address) {
  const [path, asked = ""] = address.split("?");
  const parts = path.split("/");
  for (const [pattern, page, role] of PAGES) {
    const wanted = pattern.split("/");
    if (wanted.length !== parts.length) continue;
    const params = {};
    const fits = wanted.every((want, at) => {
      if (want.startsWith(":")) params[want.slice(1)] = decoded(parts[at]);
      return want.startsWith(":") ? params[want.slice(1)] !== "" : want === parts[at];
    });
    const query = Object.fromEntries(new URLSearchParams(asked));
    if (fits) return { page, path, params, query, role };
  }
  return { page: "nowhere", path, params: {}, query: {} };
}

// A truncated address, such as `…%e`, is not a page.
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return "";
  }
}

let enterAgain = null;
// Shows the page of the address again.
export const again = () => enterAgain();

// `visit()` is the one that is shown; `show(found, y)` begins another, to be scrolled to `y`.
export function start({ visit, show }) {
  let isAsked = false;
  let mayLeave = false;
  const enter = () => {
    mayLeave = false;
    shown = location.hash;
    scrolled.set(entry, scrollY);
    entry = history.state?.entry ?? `${Date.now()}-${Math.random()}`;
    history.replaceState({ entry }, "");
    show(match(current()), scrolled.get(entry) ?? 0);
  };
  const arrive = async () => {
    if (location.hash === shown) return;
    if (mayLeave || !visit()?.unsaved) return enter();
    history.pushState({ entry }, "", shown || "#/");
    if (isAsked) return;
    isAsked = true;
    mayLeave = await visit().mayLeave();
    isAsked = false;
    if (!mayLeave) return;
    visit().forget();
    history.back(); // to where the user wanted to go
  };
  enterAgain = enter;
  addEventListener("hashchange", arrive);
  addEventListener("beforeunload", (event) => visit()?.unsaved && event.preventDefault());
  return enter();
}
