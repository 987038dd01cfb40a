// One product: view, edit and delete; or a new one.

import { button, h, newKey } from "../dom.js";
import { ago, dateTime } from "../format.js";
import { badge } from "../parts/badge.js";
import { copyButton } from "../parts/copy.js";
import { loadUploads } from "../parts/dialogs.js";
import { draftOf } from "../parts/draft.js";
import { locked, saving, summary } from "../parts/form.js";
import { menu } from "../parts/menu.js";
import { movements } from "../parts/movements.js";
import { once } from "../parts/once.js";
import { facts } from "../parts/page.js";
import { changes, created, productForm } from "../parts/product-form.js";
import { create, Record } from "../parts/record.js";
import { shortage } from "../parts/shortage.js";
import { sold } from "../parts/sold.js";
import { claimed, differing } from "../parts/stale.js";
import { trail } from "../parts/trail.js";
import { held } from "../parts/typed.js";
import { again, link } from "../router.js";
import { may } from "../session.js";

const BACK = [link("/products"), "Products"];
const FORM = "edited-product"; // as a record names it

export async function show(visit) {
  const { params, query } = visit;
  const path = `admin/products/${encodeURIComponent(params.id ?? query.from)}`;
  const [{ pictureList }, answer] = await Promise.all([loadUploads(), (params.id || query.from) && visit.get(path)]);
  const images = pictureList(visit);
  if (!params.id) return page(visit, images, { like: answer && copyOf(answer) });
  const record = new Record(visit, {
    path,
    method: "PUT",
    what: "product",
    fields: (data) => productForm(data, images).read(),
    watched: ({ metadata }) => ({ metadata }),
    toBody: (edited, latest) => bodyOf(record.data, edited, latest, images),
    draw: (sent) => (fields = page(visit, images, { record, sent })),
  });
  let fields = null;
  record.take(answer);
  if (query.variant) fields.reveal(query.variant, "stock");
  return undefined;
}

// A new product like another: without what is only one product's.
function copyOf({ data }) {
  const variants = data.variants.map(({ title, price, cost }) => ({ title, cost, price: price === data.price ? null : price }));
  return { ...data, name: `${data.name} (copy)`, status: "DRAFT", slug: null, sku: null, variants };
}

// `latest`: the product as someone else saved it. Its new variants stay, and its deleted ones are
// not created again.
function bodyOf(product, edited, latest, images) {
  const { optionNames, ...body } = changes(productForm(product, images).read(), edited);
  if (optionNames !== undefined) body.metadata = { ...latest.metadata, optionNames: optionNames ?? [] };
  if (!body.variants) return body;
  const there = new Set(latest.variants.map(({ id }) => id));
  const mine = claimed(body.variants, product.variants, latest.variants);
  const kept = mine.filter(({ id }) => !id || there.has(id));
  const known = new Set([...product.variants, ...kept].map(({ id }) => id));
  const theirs = latest.variants.filter(({ id }) => !known.has(id)).map(({ id }) => ({ id }));
  return { ...body, variants: [...kept, ...theirs] };
}

const withoutStock = ({ variants }) => variants.map((each) => ({ ...each, stock: null }));

// Without a record: a new product. `sent`: the fields that were saved, if it is drawn again.
function page(visit, images, { record, like = null, sent = [] }) {
  const product = record?.data;
  // A retry after a lost connection does not create a second product.
  const idempotencyKey = newKey();
  const key = once();
  let unsure = null; // moves that may have been made: they are settled first, whatever is typed since
  const fields = productForm(product ?? like, images, visit);
  const save = h.button({ type: "submit", form: FORM, class: "main" }, product ? "Save" : "Create product");
  const discard = button("Discard changes", () => (visit.saved(), visit.forget(), again()), { class: "quiet" });
  const form = h.form(
    {
      id: FORM,
      novalidate: true,
      onsubmit: submitted,
      oninput: marked,
    },
    summary(),
    may("STAFF") ? fields.node : locked(fields.node),
  );
  // The buttons stay in sight only while there is something to save.
  function marked() {
    const is = isChanged();
    discard.hidden = !is;
    save.classList.toggle("main", is || !product);
    visit.root.classList.toggle("changed", is);
  }
  const first = fields.read();
  const { isAlone } = fields;
  const isChanged = () => images.isUploading() || fields.moves().length > 0 || differing(first, fields.read()).length > 0;
  if (record) record.edits(form, fields.read);
  const drawn = record ? record.draft(form, fields.lists) : draftOf(visit, form, { lists: fields.lists });
  visit.guard("product", isChanged, "Your changes to this product have not been saved.");
  visit.draw(
    {
      title: product?.name ?? "New product",
      back: BACK,
      badges: product && badge(product.status),
      actions: [
        may("STAFF") && h.div({ class: "save" }, discard, save),
        product &&
          menu([
            copyButton(visit, product.id, "Copy ID"),
            may("STAFF") && h.a({ class: "button", href: link("/products/new", { from: product.id }) }, "Duplicate"),
            may("STAFF") && button("Delete", visit.once(remove), { class: "bad" }),
          ]),
      ],
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
    product && sold(visit, product.id),
    product && !product.madeToOrder && movements(visit, product.id),
    product && trail(visit, { recordId: product.id }, Object.fromEntries(product.variants.map(({ id, title }) => [id, title]))),
  );
  if (!sent.includes("images")) images.resume();
  if (may("STAFF")) drawn();
  marked();
  return fields;

  function remove() {
    return record.remove("/products", "Existing orders keep their items.");
  }

  async function submitted(event) {
    event.preventDefault();
    if (may("STAFF")) await saving(form, save, () => images.saveWhenUploaded(() => (record ? saveIt() : make())));
  }

  // Pieces that come or go are moved first. What else is typed is saved after them.
  async function saveIt() {
    const all = fields.moves();
    if (all.length === 0) return follow(await record.save());
    const typed = all.map(({ move }) => move);
    const { moves, sent } = unsure ?? {
      moves: typed,
      sent: new Map([fields.reason, ...all.map(({ at }) => at)].flatMap((each) => [...held(each)])),
    };
    const asked = { body: { moves }, idempotencyKey: key(moves), success: "Stock saved." };
    let answer;
    try {
      answer = await visit.send("POST", `${record.path}/stock`, asked);
    } catch (refusal) {
      if (refusal.status) unsure = null;
      if (refusal.isUnsure) unsure = { moves, sent };
      const at = ({ variantId }) => moves.findIndex((move) => move.variantId === variantId);
      const errors = shortage(refusal, (line) => `moves.${at(line)}`) ?? refusal.errors;
      const own = (name) => {
        const wrong = moves[name.split(".")[1]]?.variantId;
        return all.find(({ move }) => move.variantId === wrong)?.at.dataset.field ?? name;
      };
      refusal.errors = errors?.map((error) => ({ ...error, field: own(error.field) }));
      throw refusal;
    }
    visit.stored(sent);
    // What someone else has changed of the variants meanwhile is asked about.
    const isOurs = differing(withoutStock(product), withoutStock(answer.data)).length === 0;
    record.take(answer, isOurs ? ["variants"] : []);
    if (JSON.stringify(moves) !== JSON.stringify(typed))
      throw new Error("What you sent before is saved now. Check the stock, then save the rest.");
    if (Object.keys(record.unsaved).length > 0) visit.root.querySelector("form").requestSubmit();
    return true;
  }

  // The price and the SKU that are shown once are the product's: its only variant follows them.
  async function follow(isSaved) {
    const { price, sku, variants } = record.data;
    const [only, ...more] = variants;
    if (!isSaved || !isAlone || more.length > 0) return isSaved;
    const news = { ...(only.price !== price && { price }), ...(only.sku && only.sku !== sku && { sku }) };
    return Object.keys(news).length === 0 || record.change({ variants: [{ id: only.id, ...news }] }, "Saved.");
  }

  function make() {
    const success = ({ name }) => `${name} created.`;
    const body = created(fields.read());
    const found = [link("/products", { search: body.name }), `Products named ${body.name}`];
    return create(visit, "product", { form, found, body, idempotencyKey, success });
  }
}
