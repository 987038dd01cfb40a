// How every page is drawn: one function per HTML element. Children are nodes or text, and nothing
// here parses HTML, so no name of a product or customer can become markup.
//
//   h.p({ class: "hint" }, "Stock of ", h.b(product.name))

const SVG = new Set(["svg", "g", "rect", "path", "line"]);
const PROPERTIES = new Set(["value", "checked", "disabled", "selected", "indeterminate"]);

export const h = new Proxy(
  {},
  {
    get:
      (_, tag) =>
      (...content) =>
        element(tag, content),
  },
);

function element(tag, content) {
  const node = SVG.has(tag)
    ? document.createElementNS("http://www.w3.org/2000/svg", tag)
    : document.createElement(tag);
  const [first] = content;
  const described = first && typeof first === "object" && !first.nodeType && !Array.isArray(first);
  node.append(...nodes(described ? content.slice(1) : content));
  for (const [name, value] of Object.entries(described ? first : {})) set(node, name, value);
  return node;
}

// (Without its type, one in a form would send it.)
export const button = (name, onclick, more = {}) => h.button({ type: "button", onclick, ...more }, name);

// What follows a `?` in an address would be read as more recipients and a text.
export function emailLink(email) {
  const at = email.lastIndexOf("@");
  const [name, domain] = [email.slice(0, at), email.slice(at + 1)].map(encodeURIComponent);
  return h.a({ href: `mailto:${name}@${domain}` }, email);
}

function set(node, name, value) {
  if (value === undefined || value === null) return;
  if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
  else if (name === "style")
    Object.entries(value).forEach((each) => node.style.setProperty(...each));
  else if (PROPERTIES.has(name)) node[name] = value;
  else if (name === "href" && !isSafe(value)) node.title = value;
  else if (value !== false) node.setAttribute(name, value === true ? "" : value);
}

// An address from a CSV may be `javascript:…`.
function isSafe(address) {
  return /^(https?:|mailto:|tel:|blob:|#)/i.test(address);
}

function nodes(content) {
  return content
    .flat(Infinity)
    .filter((each) => each !== null && each !== undefined && each !== false);
}

export function replace(node, ...content) {
  node.replaceChildren(...nodes(content));
  return node;
}

let last = 0;
export const newId = (name) => `${name}-${++last}`;

// An Idempotency-Key. A retry with the same one is done once.
export const newKey = () => crypto.randomUUID?.() ?? `${Date.now()}-${Math.random()}`;
