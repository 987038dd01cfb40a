// Whom an order is for: a customer that is known, a new one, or nobody.

import { h, replace } from "../dom.js";
import { field } from "./form.js";
import { finder } from "./finder.js";
import { buyer, fullName } from "./order.js";

const FEW = 20;

export function chooseBuyer({ visit, known, changed }) {
  let customer = known;
  const node = h.div({ class: "stack even", "data-field": "customer" });
  draw();

  async function search(text, signal) {
    const { data } = await visit.get("admin/customers", { search: text, limit: FEW }, signal);
    return data.data.map((each) => ({
      code: each.email,
      text: fullName(each) || each.email,
      about: each.email,
      value: each,
    }));
  }

  function choose(one) {
    customer = one;
    draw();
    changed();
  }

  function draw() {
    if (customer) {
      const other = h.button(
        {
          type: "button",
          class: "small",
          onclick: () => {
            choose(null);
            node.querySelector("input").focus();
          },
        },
        "Change customer",
      );
      replace(node, h.p(h.b(buyer(customer)), h.br(), customer.email), h.div(other));
      if (document.activeElement === document.body) other.focus();
      return;
    }
    replace(
      node,
      finder({
        visit,
        label: "Find a customer",
        placeholder: "Name or email",
        codes: "email address",
        search,
        chosen: choose,
      }).node,
      h.p({ class: "hint" }, "Or enter a new customer:"),
      field({ name: "customer.email", label: "Email", type: "email", autocomplete: "off" }),
      h.div(
        { class: "fields" },
        field({ name: "customer.firstName", label: "First name", autocomplete: "off" }),
        field({ name: "customer.lastName", label: "Last name", autocomplete: "off" }),
      ),
      h.p({ class: "error" }),
    );
  }

  // As an order takes it. A name alone is sent too: the API says that an address is missing,
  // instead of losing it.
  function read(typed) {
    if (customer) return { id: customer.id };
    const [email, firstName, lastName] = ["email", "firstName", "lastName"].map(
      (name) => typed[`customer.${name}`]?.trim() ?? "",
    );
    if (!email && !firstName && !lastName) return null;
    return { email, firstName: firstName || null, lastName: lastName || null };
  }
  return { node, read };
}
