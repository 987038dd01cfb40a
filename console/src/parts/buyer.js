// The customer of an order: an existing one, a new one, or none.

import { button, h, replace } from "../dom.js";
import { field } from "./form.js";
import { held, retype } from "./typed.js";
import { finder } from "./finder.js";
import { buyer, fullName, nameOf } from "./order.js";

const FEW = 20;

// `but`: the id of one that is not found. The rest is for the finder.
export const customerFinder = (visit, { but = null, ...its }) =>
  finder({
    visit,
    placeholder: "Name, email or phone",
    codes: "email address",
    async search(text, signal) {
      const { data } = await visit.get("admin/customers", { search: text, limit: FEW }, signal);
      const found = data.data.filter(({ id }) => id !== but);
      return found.map((each) => ({
        codes: [each.email ?? each.id],
        text: nameOf(each) ?? each.id,
        about: each.email ?? each.phone,
        value: each,
      }));
    },
    ...its,
  });

export function chooseBuyer({ visit, known, changed }) {
  let customer = known;
  let find = null;
  let typed = new Map(); // a new customer, while one is chosen
  const node = h.div({ class: "stack even", "data-field": "customer" });
  draw();

  function choose(one) {
    if (!customer) typed = held(node);
    customer = one;
    draw();
    changed();
  }

  function draw() {
    if (customer) {
      const change = () => {
        choose(null);
        node.querySelector("input").focus();
      };
      const other = button("Change customer", change, { class: "small" });
      replace(node, h.p(h.b(buyer(customer)), h.br(), customer.email ?? customer.phone), h.div(other));
      if (document.activeElement === document.body) other.focus();
      return;
    }
    find = customerFinder(visit, { label: "Find a customer", chosen: choose });
    const fold = h.details(
      h.summary("New customer"),
      h.div(
        { class: "stack even" },
        // First, so that the names lead on to the payment.
        field({ name: "customer.phone", label: "Phone", type: "tel" }),
        field({ name: "customer.email", label: "Email", type: "email" }),
        h.div(
          { class: "fields" },
          field({ name: "customer.firstName", label: "First name" }),
          field({ name: "customer.lastName", label: "Last name" }),
        ),
      ),
    );
    replace(
      node,
      h.div({ class: "stack tight" }, find.node, fold),
      h.p({ class: "error" }),
    );
    retype(node, typed);
    unfold();
  }

  // Shows what was entered of a new customer.
  function unfold() {
    const fold = node.querySelector("details");
    if (fold) fold.open ||= [...fold.querySelectorAll("input")].some(({ value }) => value);
  }

  // In the API's shape.
  function read(typed) {
    if (customer) return { id: customer.id };
    const [email, firstName, lastName, phone] = ["email", "firstName", "lastName", "phone"].map(
      (name) => typed[`customer.${name}`]?.trim() ?? "",
    );
    if (!email && !firstName && !lastName && !phone) return null;
    return {
      email: email || null,
      firstName: firstName || null,
      lastName: lastName || null,
      phone: phone || null,
    };
  }

  // A new customer whose email exists is that customer: resolves to whether that is meant. A phone
  // that is not known yet is kept.
  async function confirmed(typed) {
    const its = read(typed);
    if (customer || !its?.email || !(its.firstName || its.lastName || its.phone)) return true;
    const { data } = await visit.get("admin/customers", { search: its.email.slice(0, 200), limit: FEW });
    const known = data.data.find(({ email }) => email?.toLowerCase() === its.email.toLowerCase());
    if (!known) return true;
    const news = ["firstName", "lastName", "phone"].filter((name) => its[name] && its[name] !== known[name]);
    if (news.length === 0) return true;
    const keeps = its.phone && !known.phone;
    const name = fullName(known) || known.email;
    const yes = await visit.ask({
      title: `${its.email} is ${name}`,
      text: [
        h.p(`There is a customer with this email: ${[name, known.phone].filter(Boolean).join(", ")}.`),
        h.p(
          keeps
            ? `The order will be theirs, and ${its.phone} is saved as their phone.`
            : "The order will be theirs. The name and phone that you entered are not saved.",
        ),
      ],
      yes: `Use ${name}`,
      no: "Back",
    });
    if (!yes) return false;
    if (keeps)
      await visit.send("PATCH", `admin/customers/${encodeURIComponent(known.id)}`, {
        body: { phone: its.phone },
      });
    choose(known);
    return true;
  }

  return {
    node,
    read,
    confirmed,
    choose,
    unfold,
    known: () => customer,
    settled: () => find?.settled(),
    missed: () => (customer ? 0 : find.missed()),
  };
}
