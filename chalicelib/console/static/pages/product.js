// One product: view, edit and delete; or a new one.

import { h, newKey, replace } from "../dom.js";
import { ago, dateTime } from "../format.js";
import { badge } from "../parts/badge.js";
import { locked, saving } from "../parts/form.js";
import { toast } from "../parts/notice.js";
import { card, facts } from "../parts/page.js";
import { changes, created, NAMES, productForm } from "../parts/product-form.js";
import { differing, whichStays } from "../parts/stale.js";
import { link } from "../router.js";
import { may } from "../session.js";

const BACK = [link("/products"), "Products"];

export async function show(visit) {
  const { params, query } = visit;
  if (!params.id) return edit(visit, null, null);
  const { data, etag } = await visit.get(`admin/products/${encodeURIComponent(params.id)}`);
  const fields = edit(visit, data, etag);
  if (query.variant) fields.reveal(query.variant, "stock");
  return undefined;
}

function edit(visit, product, etag) {
  const path = `admin/products/${product?.id}`;
  // A retry after a lost connection does not create a second product.
  const idempotencyKey = newKey();
  const fields = productForm(product);
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
  visit.draw(
    {
      title: product?.name ?? "New product",
      back: BACK,
      badges: product && badge(product.status),
      actions:
        product &&
        may("STAFF") &&
        h.button({ type: "button", class: "bad", onclick: visit.once(remove) }, "Delete"),
    },
    form,
    product &&
      card(
        "Overview",
        facts([
          ["Product ID", h.code(product.id)],
          ["Created", dateTime(product.createdAt)],
          ["Last changed", ago(product.updatedAt)],
          ...(product.variants.length <= 20
            ? product.variants.map((each) => [each.title, h.code(each.id)])
            : []),
        ]),
      ),
  );
  const was = fields.read();
  const isChanged = () => differing(was, fields.read()).length > 0;
  visit.guard("product", isChanged, "Your changes to this product have not been saved.");
  return fields;

  async function submitted(event) {
    event.preventDefault();
    if (may("STAFF")) await saving(form, save, summary, () => (product ? change(etag) : create()));
  }

  async function create() {
    const success = ({ name }) => `${name} created.`;
    const body = created(fields.read());
    try {
      const { data } = await visit.send("POST", "admin/products", { body, idempotencyKey, success });
      visit.go(`/products/${data.id}`);
    } catch (refusal) {
      if (refusal.code === "idempotency_key_reused")
        refusal.message =
          "This product was already created, before your last changes. You can find it under Products.";
      throw refusal;
    }
  }

  // `latest`: the product as someone else saved it. Its new variants stay, and its deleted ones are
  // not created again.
  async function change(known, latest = product) {
    const body = changes(was, fields.read());
    if (body.variants) body.variants = together(body.variants, latest.variants);
    if (Object.keys(body).length === 0) return toast("There are no changes to save.");
    try {
      const { data, etag: next } = await visit.send("PUT", path, {
        body,
        ifMatch: known,
        success: "Saved.",
      });
      edit(visit, data, next);
    } catch (refusal) {
      if (refusal.status !== 412) throw refusal;
      await decide();
    }
    return undefined;
  }

  async function decide() {
    const { data, etag: next } = await visit.get(path);
    const now = productForm(data).read();
    const mine = fields.read();
    const stays = await whichStays(visit, { was, now, mine, names: NAMES, what: "product" });
    if (stays === "theirs") edit(visit, data, next);
    if (stays === "mine") await change(next, data);
  }

  function together(mine, theirs) {
    const before = new Set(product.variants.map(({ id }) => id));
    const there = new Set(theirs.map(({ id }) => id));
    return [
      ...mine.filter(({ id }) => !id || there.has(id)),
      ...theirs.filter(({ id }) => !before.has(id)).map(({ id }) => ({ id })),
    ];
  }

  async function remove() {
    const yes = await visit.ask({
      title: `Delete ${product.name}?`,
      text: "Existing orders keep their items. This cannot be undone.",
      yes: "Delete",
      bad: true,
    });
    if (!yes) return;
    await visit.send("DELETE", path, { success: `${product.name} deleted.` });
    visit.go("/products");
  }
}
