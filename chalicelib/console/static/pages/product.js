// One product: view, edit and delete; or a new one.

import { h, newKey, replace } from "../dom.js";
import { ago, dateTime } from "../format.js";
import { badge } from "../parts/badge.js";
import { NAMES } from "../parts/changes.js";
import { copyButton } from "../parts/copy.js";
import { locked, saving } from "../parts/form.js";
import { menu } from "../parts/menu.js";
import { movements } from "../parts/movements.js";
import { facts } from "../parts/page.js";
import { changes, created, productForm } from "../parts/product-form.js";
import { Record } from "../parts/record.js";
import { differing } from "../parts/stale.js";
import { held } from "../parts/typed.js";
import { trail } from "../parts/trail.js";
import { link } from "../router.js";
import { may } from "../session.js";

const BACK = [link("/products"), "Products"];

export async function show(visit) {
  const { params, query } = visit;
  if (!params.id) return page(visit, null);
  const record = new Record(visit, {
    path: `admin/products/${encodeURIComponent(params.id)}`,
    method: "PUT",
    what: "product",
    names: NAMES,
    fields: (data) => productForm(data).read(),
    toBody: (edited, latest) => bodyOf(record.data, edited, latest),
    draw: () => (fields = page(visit, record)),
  });
  let fields = null;
  await record.load();
  if (query.variant) fields.reveal(query.variant, "stock");
  return undefined;
}

// `latest`: the product as someone else saved it. Its new variants stay, and its deleted ones are
// not created again.
function bodyOf(product, edited, latest) {
  const body = changes(productForm(product).read(), edited);
  if (!body.variants) return body;
  const before = new Set(product.variants.map(({ id }) => id));
  const there = new Set(latest.variants.map(({ id }) => id));
  const kept = body.variants.filter(({ id }) => !id || there.has(id));
  const theirs = latest.variants.filter(({ id }) => !before.has(id)).map(({ id }) => ({ id }));
  return { ...body, variants: [...kept, ...theirs] };
}

// Without a record: a new product.
function page(visit, record) {
  const product = record?.data;
  // A retry after a lost connection does not create a second product.
  const idempotencyKey = newKey();
  const fields = productForm(product, visit);
  const summary = h.div({ role: "alert", class: "summary" });
  const save = h.button({ type: "submit", class: "main" }, product ? "Save" : "Create product");
  const hint = h.span({ class: "soft small" });
  const form = h.form(
    {
      novalidate: true,
      onsubmit: submitted,
      oninput: () => replace(hint, isChanged() && "Unsaved changes"),
    },
    may("STAFF") ? fields.node : locked(fields.node),
    may("STAFF") && h.div({ class: "save" }, summary, h.div({ class: "actions" }, save, hint)),
  );
  const first = fields.read();
  const isChanged = () => differing(first, fields.read()).length > 0;
  if (record) record.edits(form, fields.read);
  else visit.guard("product", isChanged, "Your changes to this product have not been saved.");
  visit.draw(
    {
      title: product?.name ?? "New product",
      back: BACK,
      badges: product && badge(product.status),
      actions:
        product &&
        menu([
          copyButton(visit, product.id, "Copy ID"),
          may("STAFF") && h.button({ type: "button", class: "bad", onclick: visit.once(remove) }, "Delete"),
        ]),
    },
    form,
    product &&
      h.details(
        { class: "card" },
        h.summary("Dates and IDs"),
        facts([
          ["Product ID", h.code(product.id)],
          product.externalId && ["External ID", h.code(product.externalId)],
          ["Created", dateTime(product.createdAt)],
          ["Last changed", ago(product.updatedAt)],
          ...(product.variants.length <= 20
            ? product.variants.map((each) => [each.title, h.code(each.id)])
            : []),
        ]),
      ),
    product && movements(visit, product.id),
    product && trail(visit, { recordId: product.id }),
  );
  return fields;

  async function submitted(event) {
    event.preventDefault();
    if (may("STAFF")) await saving(form, save, summary, () => (record ? record.save() : create()));
  }

  async function create() {
    const success = ({ name }) => `${name} created.`;
    const body = created(fields.read());
    const sent = held(form);
    try {
      const { data } = await visit.send("POST", "admin/products", { body, idempotencyKey, success });
      visit.goOn(`/products/${data.id}`, "product", sent);
    } catch (refusal) {
      if (refusal.code === "idempotency_key_reused") {
        refusal.message = "This product was already created, before your last changes.";
        refusal.link = [link("/products", { search: body.name }), `Products named ${body.name}`];
      }
      throw refusal;
    }
  }

  async function remove() {
    const yes = await visit.ask({
      title: `Delete ${product.name}?`,
      text: "Existing orders keep their items. This cannot be undone.",
      yes: "Delete",
      bad: true,
    });
    if (!yes) return;
    const success = `${product.name} deleted.`;
    await visit.send("DELETE", record.path, { ifMatch: record.etag, success });
    visit.saved("product");
    visit.go("/products");
  }
}
