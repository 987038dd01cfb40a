// One customer: identity, addresses, orders. And a new customer.

import { button, emailLink, h, newKey, replace } from "../dom.js";
import { DECIMALS } from "../facts.js";
import { date, money, number, plural } from "../format.js";
import { draftOf } from "../parts/draft.js";
import { editAddress, shown } from "../parts/address.js";
import { badge, statusBadge } from "../parts/badge.js";
import { customerFinder } from "../parts/buyer.js";
import { choice } from "../parts/choice.js";
import { typedConfirm } from "../parts/confirm.js";
import { field, form, values, wrong } from "../parts/form.js";
import { copyButton } from "../parts/copy.js";
import { completed } from "../parts/jobs.js";
import { menu } from "../parts/menu.js";
import { toast } from "../parts/notice.js";
import { buyer, nameOf, tagsOf } from "../parts/order.js";
import { card, empty } from "../parts/page.js";
import { differing } from "../parts/stale.js";
import { create, Record } from "../parts/record.js";
import { editFold, recordForm } from "../parts/record-form.js";
import { drawColumns, drawFigures, phoneLink } from "../parts/record-page.js";
import { table } from "../parts/table.js";
import { trail } from "../parts/trail.js";
import { again, link, rewrite } from "../router.js";
import { may } from "../session.js";

const FIELDS = ["email", "phone", "firstName", "lastName", "company", "tags", "note"];
const LISTED = 50;
const MOST_DUE = 100; // orders whose balances are added up

export async function show(visit) {
  if (visit.params.id === "new") return blank(visit);
  const path = `admin/customers/${encodeURIComponent(visit.params.id)}`;
  let found = null;
  let due = null;
  const record = new Record(visit, {
    path,
    what: "customer",
    fields: (data) => Object.fromEntries(FIELDS.map((name) => [name, data[name]])),
    draw: () => found && page(visit, record, found, due),
  });
  try {
    await record.load();
  } catch (refusal) {
    if (refusal.code !== "merged") throw refusal;
    rewrite(`/customers/${refusal.body.into}`); // Back leads to the page before
    return again();
  }
  const { id: customerId } = record.data;
  [{ data: due }, { data: found }] = await Promise.all([
    visit.get("admin/orders", { customerId, balance: "due", fields: "balanceDue", limit: MOST_DUE }),
    visit.get("admin/orders", { customerId, limit: LISTED }),
  ]);
  page(visit, record, found, due);
}

function blank(visit) {
  const idempotencyKey = newKey();
  const none = Object.fromEntries(FIELDS.map((name) => [name, name === "tags" ? [] : null]));
  const node = form({
    fields: fieldsOf(visit, none),
    submit: "Add customer",
    async save(typed) {
      const found = [link("/customers", { search: typed.email || typed.lastName }), "Customers of this name"];
      const asked = { body: read(typed), idempotencyKey, success: "Customer added." };
      await create(visit, "customer", { form: node, found, ...asked });
    },
  });
  const drawn = draftOf(visit, node);
  visit.draw({ title: "New customer", back: [link("/customers"), "Customers"] }, card(null, node));
  const first = read(values(node));
  visit.guard(
    "customer",
    () => differing(first, read(values(node))).length > 0,
    "Your changes to this customer have not been saved.",
  );
  drawn();
}

function fieldsOf(visit, customer) {
  const plain = (name, more) => field({ name, value: customer[name], ...more });
  return [
    plain("firstName"),
    plain("lastName"),
    plain("email", { type: "email" }),
    plain("phone", { type: "tel" }),
    plain("company"),
    choice(visit, ["customers", "tag"], {
      name: "tags",
      value: customer.tags.join(", "),
      hint: "Separate with commas.",
      several: true,
    }),
    plain("note", { rows: 4, wide: true }),
  ];
}

function read({ tags, ...typed }) {
  const texts = Object.entries(typed).map(([name, text]) => [name, text.trim() || null]);
  return { ...Object.fromEntries(texts), tags: tagsOf(tags) };
}

function page(visit, record, found, due) {
  const { data: customer, path } = record;
  const mayChange = may("STAFF") && !customer.erasedAt;
  const name = nameOf(customer) ?? "Erased customer";
  let showDraft = () => {}; // of what was typed and not saved
  const act = (text, work, more) => button(text, visit.once(work), more);

  visit.draw(
    {
      title: name,
      back: [link("/customers"), "Customers"],
      actions: mayChange && [
        h.a({ class: "button main", href: link("/orders/new", { customer: customer.id }) }, "Create order"),
        menu([
          copyButton(visit, customer.id, "Copy ID"),
          act("Merge", merge),
          found.total === 0 && act("Delete", () => record.remove("/customers"), { class: "bad" }),
          may("OWNER") && act("Erase", erase, { class: "bad" }),
        ]),
      ],
    },
    customer.erasedAt &&
      h.p({ class: "notice" }, "This customer was erased on ", date(customer.erasedAt), "."),
    drawFigures("Orders and money", [
      due.total > 0 && ["Due", owed(), "big warn"],
      ["Paid", money(customer.totalSpent), due.total > 0 ? "" : "big good"],
      ["Orders", h.a({ href: link("/orders", { customerId: customer.id }) }, number(customer.ordersCount))],
      found.data.length > 0 && ["Last order", date(found.data[0].orderDate)],
    ]),
    drawColumns(
      [
        [2, orders()],
        [5, trail(visit, { customerId: customer.id })],
      ],
      [
        [1, !customer.erasedAt && contact()],
        [3, customer.note && card("Note", h.p({ class: "lines" }, h.bdi(customer.note)))],
        [4, !customer.erasedAt && addresses()],
      ],
    ),
  );
  showDraft();

  function owed() {
    const sum = due.data.reduce((all, { balanceDue }) => all + Number(balanceDue), 0);
    const orders = plural(due.total, "order");
    return h.a(
      { href: link("/orders", { customerId: customer.id, balance: "due" }) },
      due.total > MOST_DUE ? orders : [money(sum.toFixed(DECIMALS)), h.span({ class: "small" }, ` of ${orders}`)],
    );
  }

  function orders() {
    return card(
      "Orders",
      found.data.length === 0
        ? empty("No orders", "This customer has no orders, or they were deleted.")
        : table({
            name: "Orders",
            columns: [
              {
                title: "Order",
                cell: ({ id, number: its }) => h.a({ class: "row", href: link(`/orders/${id}`) }, `#${its}`),
                class: "key",
              },
              { title: "Date", cell: ({ orderDate }) => date(orderDate) },
              { title: "Status", cell: ({ status }) => statusBadge(status) },
              {
                title: "Due",
                cell: ({ balanceDue }) => Number(balanceDue) !== 0 && money(balanceDue),
                class: "number money wide",
              },
              {
                title: "Total",
                cell: ({ total, balanceDue }) => [
                  money(total),
                  Number(balanceDue) > 0 && h.div({ class: "narrow small" }, `${money(balanceDue)} due`),
                ],
                class: "number money",
              },
            ],
            rows: found.data,
          }),
      found.total > found.data.length &&
        h.p(h.a({ href: link("/orders", { customerId: customer.id }) }, "View all orders")),
    );
  }

  // --- Identity ----------------------------------------------------------------------------------

  function contact() {
    const { email, phone, company, tags, createdAt, externalId } = customer;
    const isKnown = email || phone || company;
    return card(
      "Contact",
      isKnown
        ? h.div({ class: "shown" }, email && h.p(emailLink(email)), phone && h.p(phoneLink(phone)), company && h.p(h.bdi(company)))
        : h.p({ class: "shown soft" }, "No email, no phone"),
      tags.length > 0 && h.p({ class: "shown" }, tags.map((tag) => [badge("", h.bdi(tag)), " "])),
      h.p({ class: "shown soft small" }, "Customer since ", date(createdAt), externalId && [" · ", h.code(externalId)]),
      mayChange && editFold("Edit contact", identityForm()),
    );
  }

  function identityForm() {
    const [node, show] = recordForm(visit, record, fieldsOf(visit, customer), read);
    showDraft = show;
    return node;
  }

  // --- Addresses ---------------------------------------------------------------------------------

  function addresses() {
    const all = customer.addresses;
    const put = (list, more) => record.change({ addresses: list, ...more }, "Saved.");
    const edit = (address) => () =>
      editAddress(visit, {
        title: address ? "Edit address" : "Add address",
        address,
        save: (typed) =>
          put(address ? all.map((each) => (each === address ? typed : each)) : [...all, typed]),
      });
    return card(
      "Addresses",
      h.div(
        { class: "stack even" },
        all.length === 0 && h.p({ class: "soft" }, "No addresses"),
        all.map((address, at) => {
          const isDefault = address.id === customer.defaultAddressId;
          const which = `address ${at + 1}`;
          const small = (text, work) =>
            act(text, work, { class: "small", "aria-label": `${text} ${which}` });
          return h.div(
            isDefault && badge("DEFAULT", "Default"),
            shown(address),
            mayChange &&
              h.div(
                { class: "actions" },
                small("Edit", edit(address)),
                !isDefault && small("Make default", () => put(all, { defaultAddressId: address.id })),
                small("Remove", () => put(all.filter((each) => each !== address))),
              ),
          );
        }),
        mayChange && h.div(act("Add address", edit(null))),
      ),
    );
  }

  // --- Irreversible actions ----------------------------------------------------------------------

  function erase() {
    const idempotencyKey = newKey();
    typedConfirm(visit, {
      title: `Erase ${name}?`,
      text: [
        "Name, email, phone, addresses and notes are removed at once: here, from orders, search and the audit log.",
        "Events, deliveries, exports and files of imports end by themselves within 30 days. No earlier file can be imported again.",
        "Order numbers, items and amounts stay. This cannot be undone.",
      ],
      word: name,
      yes: "Erase",
      async run() {
        const { data } = await visit.send("POST", `${path}/erase`, { idempotencyKey, success: "Erasing…" });
        await completed(visit, data.jobId);
        visit.saved("customer");
        toast("Customer erased.");
        await record.load();
      },
    });
  }

  function merge() {
    let into = null;
    const idempotencyKey = newKey();
    const chosen = h.p({ class: "strong", role: "status" });
    const search = customerFinder(visit, {
      label: "Merge into",
      but: customer.id,
      chosen(one) {
        into = one;
        replace(chosen, "Into ", buyer(one), one.email && ` (${one.email})`);
      },
    });
    typedConfirm(visit, {
      title: `Merge ${name}`,
      text: "Orders, totals and addresses move to the other customer. This cannot be undone.",
      more: [h.div({ class: "whole", "data-field": "into" }, search.node, chosen, h.p({ class: "error" }))],
      word: name,
      yes: "Merge",
      async run() {
        if (!into) throw wrong("into", "Choose whom to merge into.");
        const body = { into: into.id };
        const { data } = await visit.send("POST", `${path}/merge`, { body, idempotencyKey, success: "Merging…" });
        await completed(visit, data.jobId);
        visit.saved("customer");
        toast("Customers merged.");
        visit.go(`/customers/${into.id}`);
      },
    });
  }
}
