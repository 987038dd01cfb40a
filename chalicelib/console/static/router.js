// Which page is shown. Addresses are in the hash (`#/products?search=shirt`), so they work wherever
// the console is mounted, and no server has to know them.

const PAGES = [
  ["/", "home"],
  ["/products", "products"],
  ["/products/new", "product"],
  ["/products/:id", "product"],
  ["/import", "imports"],
  ["/import/:id", "job"],
  ["/orders", "orders"],
  ["/orders/new", "new-order"],
  ["/orders/:id", "order"],
  ["/customers", "customers"],
  ["/customers/:id", "customer"],
  ["/settings/developer/webhooks", "webhooks"],
  ["/settings/developer/webhooks/:id", "webhook"],
  ["/settings/developer/deliveries", "deliveries"],
  ["/settings/developer/deliveries/:id", "delivery"],
  ["/settings/keys", "keys"],
  ["/reference", "reference"],
];

let unsaved = null;
let shown = null;

// An address of the console: link("/orders", { status: "PAID" }) or link("/orders/", order.id).
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

// While filters are typed, the address follows without a step back for each letter.
export function rewrite(path, query) {
  history.replaceState(null, "", link(path, query));
  shown = location.hash;
}

// `isUnsaved` says whether leaving would lose what was typed; `ask` resolves to whether to leave.
export function guard(isUnsaved, ask) {
  unsaved = isUnsaved && { isUnsaved, ask };
}

function match(address) {
  const [path, asked = ""] = address.split("?");
  const parts = path.split("/");
  for (const [pattern, page] of PAGES) {
    const wanted = pattern.split("/");
    if (wanted.length !== parts.length) continue;
    const params = {};
    const fits = wanted.every((want, at) => {
      if (want.startsWith(":")) params[want.slice(1)] = decodeURIComponent(parts[at]);
      return want.startsWith(":") ? parts[at] !== "" : want === parts[at];
    });
    if (fits) return { page, path, params, query: Object.fromEntries(new URLSearchParams(asked)) };
  }
  return { page: "nowhere", path, params: {}, query: {} };
}

export function start(show) {
  const arrive = async () => {
    if (unsaved?.isUnsaved() && location.hash !== shown) {
      const wanted = location.hash;
      history.pushState(null, "", shown || "#/");
      if (!(await unsaved.ask())) return;
      unsaved = null;
      history.replaceState(null, "", wanted);
    }
    unsaved = null;
    shown = location.hash;
    show(match(current()));
  };
  addEventListener("hashchange", arrive);
  addEventListener("beforeunload", (event) => unsaved?.isUnsaved() && event.preventDefault());
  return arrive();
}
