// One product: looked at, changed, deleted; or a new one.

import { call, get, post } from "../api.js";
import { h, replace } from "../dom.js";
import { ago, dateTime } from "../format.js";
import { badge } from "../parts/badge.js";
import { ask } from "../parts/dialog.js";
import { saving } from "../parts/form.js";
import { toast } from "../parts/notice.js";
import { card, draw, facts } from "../parts/page.js";
import { changes, created, productForm } from "../parts/product-form.js";
import { differing, whichStays } from "../parts/stale.js";
import { go, guard, link } from "../router.js";

const BACK = [link("/products"), "Products"];

export async function show(main, { params, signal }) {
  if (!params.id) return edit(main, null, null);
  const { data, etag } = await get(`admin/products/${encodeURIComponent(params.id)}`, {}, signal);
  if (!signal.aborted) edit(main, data, etag);
}

function edit(main, product, etag) {
  const fields = productForm(product);
  const summary = h.div({ role: "alert", class: "summary" });
  const save = h.button({ type: "submit", class: "main" }, product ? "Save" : "Create the product");
  const hint = h.span({ class: "soft small" });
  const form = h.form(
    {
      novalidate: true,
      onsubmit: submitted,
      oninput: () => replace(hint, isChanged() && "Not saved yet"),
    },
    fields.node,
    h.div({ class: "save" }, summary, h.div({ class: "actions" }, save, hint)),
  );
  const remove = product && h.button({ type: "button", class: "bad", onclick: deleted }, "Delete");
  draw(
    main,
    {
      title: product?.name ?? "A new product",
      back: BACK,
      beside: product && badge(product.status),
      actions: remove,
    },
    form,
    product &&
      card(
        "Record",
        facts([
          ["Identifier", h.code(product.id)],
          ["Created", dateTime(product.createdAt)],
          ["Changed", ago(product.updatedAt)],
          ...(product.variants.length <= 20
            ? product.variants.map((each) => [each.title, h.code(each.id)])
            : []),
        ]),
      ),
  );
  let was = fields.read();
  const isChanged = () => differing(was, fields.read()).length > 0;
  guard(isChanged, () =>
    ask({
      title: "Leave without saving?",
      text: "What you typed here is not saved.",
      yes: "Leave",
      no: "Stay",
      bad: true,
    }),
  );

  async function submitted(event) {
    event.preventDefault();
    await saving(form, save, summary, () => (product ? change(etag) : create()));
  }

  async function create() {
    const { data } = await post("admin/products", created(fields.read()));
    guard(null);
    toast(`${data.name} was created.`);
    go(`/products/${data.id}`);
  }

  async function change(known) {
    const sent = changes(was, fields.read());
    if (Object.keys(sent).length === 0) return toast("Nothing was changed.");
    try {
      const path = `admin/products/${product.id}`;
      const { data, etag: next } = await call("PUT", path, { body: sent, ifMatch: known });
      toast("Saved.");
      edit(main, data, next);
    } catch (refusal) {
      if (refusal.status !== 412) throw refusal;
      await decide();
    }
  }

  async function decide() {
    const { data, etag: next } = await get(`admin/products/${product.id}`);
    const now = productForm(data).read();
    const stays = await whichStays({ was, now, mine: fields.read(), what: "product" });
    if (stays === "theirs") edit(main, data, next);
    if (stays === "mine") {
      etag = next;
      await change(next);
    }
  }

  async function deleted() {
    const yes = await ask({
      title: `Delete ${product.name}?`,
      text: "Orders keep what they say about it. This cannot be undone.",
      yes: "Delete",
      bad: true,
    });
    if (!yes) return;
    try {
      await call("DELETE", `admin/products/${product.id}`);
      guard(null);
      toast(`${product.name} was deleted.`);
      go("/products");
    } catch (refusal) {
      toast(refusal.message);
    }
  }
}
