// The record that something is about, such as an event or an error of a job: its name, and a link to its page.

import { h, replace } from "../dom.js";
import { nameOf } from "./order.js";
import { link } from "../router.js";

const KINDS = {
  ord_: ["Order", "orders"],
  prod: ["Product", "products"],
  var_: ["Product", "products"],
  cus_: ["Customer", "customers"],
};
const kindOf = (id) => KINDS[id.slice(0, 4)] ?? [id];

// A link to a customer, by name as soon as that is read. `word`: what is shown until then, and of a customer that was erased or merged.
export function customerLink(visit, id, word) {
  const node = h.a({ class: "above-row", href: link(`/customers/${id}`) }, word);
  const path = `admin/customers/${encodeURIComponent(id)}`;
  const show = ({ data }) => nameOf(data) && replace(node, h.bdi(nameOf(data)));
  visit.get(path).then(show, () => {}); // the word stays
  return node;
}

export const isRecord = (value) => /^(ord|prod|var|cus)_[0-9A-Z]{26}/.test(value);

// Order #1042, the product's name, or what kind of record it is.
export function subjectName({ id, name }) {
  if (id.startsWith("ord_") && name) return `Order #${name}`;
  return name ? h.bdi(name) : kindOf(id)[0];
}

export function subjectLink({ id, name }) {
  const [, place] = kindOf(id);
  const own = id.startsWith("var_") ? `prod_${id.slice(4, 30)}` : id; // a variant is on its product's page
  return place ? h.a({ href: link(`/${place}/${own}`) }, subjectName({ id, name })) : subjectName({ id, name });
}
