// An order by hand: what was sold in the shop, at a fair, by telephone.

import { get, post } from "../api.js";
import { h, replace } from "../dom.js";
import { money, words } from "../format.js";
import { ask } from "../parts/dialog.js";
import { field, saving, values } from "../parts/form.js";
import { finder } from "../parts/finder.js";
import { icon } from "../parts/icon.js";
import { announce, toast } from "../parts/notice.js";
import { buyer, fullName, PAYMENTS, suggestions } from "../parts/order.js";
import { card, draw } from "../parts/page.js";
import { go, guard, link } from "../router.js";

export async function show(main, { query, signal }) {
  const known = query.customer
    ? (await get(`admin/customers/${encodeURIComponent(query.customer)}`, {}, signal)).data
    : null;
  if (signal.aborted) return;
  // A repeated try, after the connection broke, is the same order.
  const idempotencyKey = crypto.randomUUID?.() ?? `${Date.now()}-${Math.random()}`;
  const lines = [];
  let customer = known;
  let done = false;
  const place = h.div({ class: "rows" });
  const sum = h.p({ class: "strong", role: "status" });
  const who = h.div({ class: "stack even", "data-field": "customer" });
  const summary = h.div({ role: "alert", class: "summary" });
  const create = h.button({ type: "submit", class: "main" }, "Create the order");
  const [sources, sourceNames] = suggestions([
    "IN_PERSON",
    "PRIVATE_COMMISSION",
    "PHONE",
    "EMAIL",
    "ONLINE",
    "OTHER",
  ]);
  const [methods, methodNames] = suggestions(["CARD_TERMINAL", "CASH", "BANK_TRANSFER", "INVOICE"]);

  const form = h.form(
    { novalidate: true, onsubmit: submitted, oninput: total },
    h.div(
      { class: "columns" },
      h.div(
        card(
          "What is ordered",
          h.div(
            { "data-field": "lineItems" },
            finder({
              label: "Find a product",
              placeholder: "Name, SKU, vendor or tag",
              api: "admin/products",
              options: variants,
              chosen: add,
              signal,
            }),
            h.p({ class: "error" }),
          ),
          place,
          sum,
        ),
        card(
          "Note and tags",
          field({ name: "note", label: "Note", rows: 3 }),
          field({ name: "tags", label: "Tags", hint: "Separated by commas.", autocomplete: "off" }),
        ),
      ),
      h.div(
        card("Customer", who),
        card(
          "Payment",
          field({
            name: "paymentStatus",
            label: "Payment status",
            value: "PENDING",
            options: PAYMENTS.map((each) => [each, words(each)]),
          }),
          field({
            name: "paymentMethod",
            label: "Method",
            list: methods,
            placeholder: "CARD_TERMINAL",
            autocomplete: "off",
          }),
          methodNames,
          field({
            name: "tax",
            label: "Tax",
            inputmode: "decimal",
            autocomplete: "off",
            placeholder: "0",
          }),
        ),
        card(
          "About the order",
          field({
            name: "source",
            label: "Source",
            list: sources,
            value: "IN_PERSON",
            autocomplete: "off",
          }),
          sourceNames,
          field({
            name: "salesRepId",
            label: "Sales rep",
            placeholder: "emp_…",
            autocomplete: "off",
          }),
          field({
            name: "orderDate",
            label: "Order date",
            type: "datetime-local",
            hint: "Blank: now.",
          }),
        ),
      ),
    ),
    h.div({ class: "save" }, summary, h.div({ class: "actions" }, create)),
  );
  draw(main, { title: "A new order", back: [link("/orders"), "Orders"] }, form);
  chooseCustomer();
  total();
  const blank = JSON.stringify(order());
  guard(
    () => !done && JSON.stringify(order()) !== blank,
    () =>
      ask({
        title: "Leave without creating the order?",
        text: "What you typed here is not kept.",
        yes: "Leave",
        no: "Stay",
        bad: true,
      }),
  );

  function variants(products) {
    return products.flatMap((product) =>
      product.variants.map((variant) => ({
        text: product.variants.length > 1 ? `${product.name} · ${variant.title}` : product.name,
        about: [
          variant.sku,
          money(variant.price, product.currency),
          variant.stock === null ? null : `${variant.stock} in stock`,
        ]
          .filter(Boolean)
          .join(" · "),
        value: { product, variant },
      })),
    );
  }

  function add({ product, variant }) {
    const line = { product, variant };
    const name = product.variants.length > 1 ? `${product.name} · ${variant.title}` : product.name;
    line.node = h.div(
      { class: "line" },
      h.div(
        { class: "what" },
        h.b(name),
        h.div(
          { class: "soft small" },
          [variant.sku, variant.stock !== null && `${variant.stock} in stock`]
            .filter(Boolean)
            .join(" · "),
        ),
      ),
      field({
        name: "quantity",
        label: `Quantity of ${name}`,
        value: "1",
        inputmode: "numeric",
        autocomplete: "off",
      }),
      field({
        name: "price",
        label: `Price of ${name}`,
        value: variant.price,
        inputmode: "decimal",
        autocomplete: "off",
      }),
      h.button(
        {
          type: "button",
          class: "quiet",
          "aria-label": `Remove ${name}`,
          onclick: () => {
            lines.splice(lines.indexOf(line), 1);
            line.node.remove();
            numbered();
          },
        },
        icon("remove"),
      ),
    );
    lines.push(line);
    place.append(line.node);
    numbered();
    announce(`${name} is on the order.`);
    const quantity = line.node.querySelector("[name=quantity]");
    quantity.focus();
    quantity.select();
  }

  function numbered() {
    place.style.setProperty("--line-columns", "minmax(0, 1fr) 5rem 7rem 2.25rem");
    lines.forEach(({ node }, at) => {
      const [quantity, price] = node.querySelectorAll(".field");
      quantity.dataset.field = `lineItems.${at}.quantity`;
      price.dataset.field = `lineItems.${at}.price`;
    });
    total();
  }

  // What the service will make of it; it computes the sums itself.
  function total() {
    const currency = lines[0]?.product.currency;
    const typed = (line, name) => Number(line.node.querySelector(`[name=${name}]`).value);
    const all = lines.reduce(
      (so, line) => so + typed(line, "quantity") * typed(line, "price"),
      Number(form.elements.tax.value) || 0,
    );
    replace(
      sum,
      lines.length > 0 && Number.isFinite(all) && `Total ${money(all.toFixed(4), currency)}`,
    );
  }

  function chooseCustomer() {
    if (customer) {
      replace(
        who,
        h.p(h.b(buyer(customer)), h.br(), customer.email),
        h.div(
          h.button(
            {
              type: "button",
              class: "small",
              onclick: () => {
                customer = null;
                chooseCustomer();
              },
            },
            "Somebody else",
          ),
        ),
      );
      return;
    }
    replace(
      who,
      finder({
        label: "Find a customer",
        placeholder: "Name or e-mail",
        api: "admin/customers",
        signal,
        options: (all) =>
          all.map((each) => ({
            text: fullName(each) || each.email,
            about: each.email,
            value: each,
          })),
        chosen: (one) => {
          customer = one;
          chooseCustomer();
        },
      }),
      h.p({ class: "hint" }, "Or somebody new:"),
      field({ name: "customer.email", label: "E-mail", type: "email", autocomplete: "off" }),
      h.div(
        { class: "fields" },
        field({ name: "customer.firstName", label: "First name", autocomplete: "off" }),
        field({ name: "customer.lastName", label: "Last name", autocomplete: "off" }),
      ),
      h.p({ class: "error" }),
    );
  }

  function order() {
    const typed = values(form);
    const given = (name) => (typed[name]?.trim() ? { [name]: typed[name].trim() } : {});
    const named = (name) =>
      typed[name]?.trim()
        ? {
            [name]: typed[name]
              .trim()
              .toUpperCase()
              .replaceAll(/[\s-]+/g, "_"),
          }
        : {};
    const [email, firstName, lastName] = ["email", "firstName", "lastName"].map(
      (name) => typed[`customer.${name}`]?.trim() ?? "",
    );
    // A name alone is sent too: the API says that an address is missing, instead of losing it.
    const inline = (email || firstName || lastName) && {
      email,
      firstName: firstName || null,
      lastName: lastName || null,
    };
    const whole = (text) => (/^\d+$/.test(text) ? Number(text) : text);
    return {
      lineItems: lines.map(({ node, variant }) => ({
        variantId: variant.id,
        quantity: whole(node.querySelector("[name=quantity]").value.trim()),
        price: node.querySelector("[name=price]").value.trim() || variant.price,
      })),
      customer: customer ? { id: customer.id } : inline || null,
      paymentStatus: typed.paymentStatus,
      ...named("source"),
      ...named("paymentMethod"),
      ...given("tax"),
      ...given("salesRepId"),
      ...given("note"),
      ...(typed.orderDate ? { orderDate: new Date(typed.orderDate).toISOString() } : {}),
      tags: typed.tags
        .split(",")
        .map((tag) => tag.trim())
        .filter(Boolean),
    };
  }

  async function submitted(event) {
    event.preventDefault();
    await saving(form, create, summary, async () => {
      try {
        const { data } = await post("admin/orders", order(), { idempotencyKey });
        done = true;
        guard(null);
        toast(`Order #${data.number} was created.`);
        go(`/orders/${data.id}`);
      } catch (refusal) {
        throw explained(refusal);
      }
    });
  }

  function explained(refusal) {
    if (refusal.code === "insufficient_stock") {
      refusal.errors = lines.flatMap(({ variant }, at) => {
        const short = refusal.body.lines.find((each) => each.variantId === variant.id);
        return short
          ? [{ field: `lineItems.${at}.quantity`, message: `only ${short.available} in stock` }]
          : [];
      });
    }
    if (refusal.code === "idempotency_key_reused") {
      refusal.message =
        "This order was created already, before you changed it. You find it in the list of orders.";
    }
    return refusal;
  }
}
