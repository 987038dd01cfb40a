// Work on what is made to order: how a card says it, what changes it, and how it is printed.

import { button, h } from "../dom.js";
import { dateTime, exact, number, whole } from "../format.js";
import { badge } from "./badge.js";
import { dayName } from "./bars.js";
import { repField } from "./choice.js";
import { dialogForm } from "./dialog-form.js";
import { loadUploads } from "./dialogs.js";
import { field } from "./form.js";
import { buyer, repOf } from "./order.js";
import { facts } from "./page.js";
import { differing, has, pickChanges } from "./stale.js";
import { daysAgo } from "./zone.js";
import { link } from "../router.js";
import { may } from "../session.js";

const MOST_TRIES = 5;
const PRIORITY = 5; // of work about which nobody said anything
const calendar = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeZone: "UTC" });
const isLate = (day, isOpen) => isOpen && day < daysAgo(0);

// A day of the shop: 2026-12-03. What is open is overdue from the day after on.
export function dayWord(day, isOpen = true) {
  const today = daysAgo(0);
  const word = isLate(day, isOpen) ? "Overdue since " : isOpen && day === today && "today, ";
  const text = day.slice(0, 4) === today.slice(0, 4) ? dayName(day) : calendar.format(new Date(day));
  return h.span({ class: `day ${word ? "short" : ""}` }, word, h.time({ datetime: day }, text));
}

export const dueWord = (day, isOpen = true) => h.span(!isLate(day, isOpen) && "Promised for ", dayWord(day, isOpen));

export const nameOf = ({ orderNumber, title }) => `#${orderNumber} ${title}`;
const workOf = ({ orderId }) => `admin/orders/${encodeURIComponent(orderId)}/work`;
const valuesOf = ({ stage, ...rest }) => ({ ...rest, stage: stage.id });
export const progressOf = ({ made, toMake }) => `${number(made)} of ${number(toMake)}`;

// As it is now, with its ETag.
async function load(visit, seen) {
  const { data, etag } = await visit.get(workOf(seen));
  const now = data.data.find(({ lineItemId }) => lineItemId === seen.lineItemId);
  if (!now) throw new Error("This is not to be made any more.");
  return { now, etag };
}

// Changes work, once, however often it is sent. What somebody else changed since it was `seen` is not written over.
export async function changeWork(visit, seen, body, success) {
  for (let attempt = 1; ; attempt++) {
    const { now, etag } = await load(visit, seen);
    if (has(valuesOf(now), body)) return now;
    const theirs = differing(valuesOf(seen), valuesOf(now)).filter((name) => name in body);
    if (theirs.includes("stage")) throw new Error(`Somebody else has moved it to ${now.stage.name} meanwhile.`);
    if (theirs.length > 0) throw new Error("Somebody else has changed the same meanwhile. Close this, and look at it again.");
    try {
      return (await visit.send("PATCH", `${workOf(seen)}/${seen.lineItemId}`, { body, ifMatch: etag, success })).data;
    } catch (refusal) {
      if (refusal.status !== 412 || attempt === MOST_TRIES) throw refusal;
    }
  }
}

// What was edited of the line since the last move, as texts such as `Quantity 1 → 2`. No amounts.
export async function loadChanges(visit, { orderId, title, revision, moves, state }) {
  if (revision === 1 || state !== "OPEN") return [];
  const { data } = await visit.get(`admin/orders/${encodeURIComponent(orderId)}`);
  const since = moves.at(-1)?.at ?? "";
  return data.edits
    .filter(({ at }) => at > since)
    .flatMap(({ changes }) => changes)
    .filter((line) => line.startsWith(`${title}: `) || line.includes(` → ${title}`)) // by its title now, or then
    .flatMap((line) => line.slice(line.indexOf(": ") + 2).split(", "))
    .filter((part) => /^(title|quantity|specification)\b/.test(part))
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1));
}

// What else a card says.
export const signsOf = ({ blocked, missing, state, priority }) => [
  blocked && badge("FAILED", ["Blocked: ", h.bdi(blocked)]),
  state === "OPEN" && missing.length > 0 && badge("PENDING", "⚑ Details missing"),
  priority > PRIORITY && badge("", `Priority ${priority}`),
];

const specified = ({ specification, missing }) =>
  specification.length + missing.length > 0 &&
  facts([
    ...specification.filter(({ name }) => !missing.includes(name)).map(({ name, value }) => [name, h.bdi(value ?? "—")]),
    ...missing.map((name) => [name, badge("PENDING", "missing")]),
  ]);

// The card in a dialog. `done(card)`: after it was changed.
export async function openCard(visit, seen, stages, done) {
  const { now: card } = await load(visit, seen);
  const changes = await loadChanges(visit, card);
  const files = h.div();
  const signal = visit.latest("files of a card"); // of which one is open at a time
  visit.fill(files, async () => (await loadUploads()).drawFiles(visit, card.orderId, { lineItemId: card.lineItemId, signal }));
  const named = (id) => stages.find((stage) => stage.id === id)?.name ?? (id === card.stage.id ? card.stage.name : "another stage");
  const about = [
    facts([
      ["Order", h.a({ href: link(`/orders/${card.orderId}`) }, `#${card.orderNumber}`)],
      ["Customer", buyer(card.customer)],
      ["Stage", card.state === "CANCELLED" ? "Cancelled" : card.stage.name],
      ["Made", progressOf(card)],
      card.surplus > 0 && ["Not needed any more", number(card.surplus)],
      card.dueOn && ["Promised for", dayWord(card.dueOn, card.state === "OPEN")],
      card.lineNote && ["Note of the order", h.bdi(card.lineNote)],
    ]),
    changes.length > 0 && h.div({ class: "notice warn" }, h.p({ class: "strong" }, "Changed after start"), changes.map((line) => h.p(h.bdi(line)))),
    specified(card),
    h.section({ class: "stack tight" }, h.h3("Files"), files),
    card.moves.length > 0 &&
      h.details(
        h.summary("Moves"),
        h.ol({ class: "history" }, card.moves.toReversed().map(({ at, by, stage }) => h.li(named(stage), h.div({ class: "soft small" }, exact(at), " · ", h.bdi(by))))),
      ),
  ];
  const print = button("Print job card", () => printCards(visit, [card]));
  const title = nameOf(card);
  if (!may("STAFF") || card.state === "CANCELLED") {
    const close = button("Close", ({ target }) => target.closest("dialog").close());
    visit.modal(title, h.div({ class: "stack even" }, about, card.note && h.p(h.bdi(card.note)), h.div({ class: "actions" }, close, print)), { broad: true });
    return;
  }
  const read = ({ made, assignee, blocked, priority, note }) => ({
    made: whole(made.trim()),
    assignee: repOf(assignee) || null,
    blocked: blocked.trim() || null,
    priority: Number(priority),
    note: note.trim() || null,
  });
  dialogForm(visit, title, {
    intro: h.div({ class: "stack even" }, about),
    broad: true,
    fields: [
      field({ name: "made", label: `Made, of ${number(card.toMake)}`, value: String(card.made), inputmode: "numeric" }),
      repField(visit, { name: "assignee", label: "Assigned to", value: card.assignee }),
      field({ name: "priority", value: String(card.priority), options: Array.from({ length: 10 }, (_, at) => [String(at), at === PRIORITY ? `${at} (usual)` : String(at)]) }),
      field({ name: "blocked", label: "Blocked, because", value: card.blocked, maxlength: "200", wide: true }),
      field({ name: "note", label: "Note of the workshop", value: card.note, rows: 3, maxlength: "1000", wide: true }),
    ],
    submit: "Save",
    extra: print,
    async save(typed) {
      const body = pickChanges(card, read(typed));
      if (Object.keys(body).length > 0) done(await changeWork(visit, card, body, "Saved."));
    },
  });
}

// On paper only, A5 each: what the bench needs, without prices.
export function printCards(visit, cards) {
  visit.root.querySelector(".slip")?.remove();
  visit.root.append(
    h.div(
      { class: "slip job" },
      cards.map((card) =>
        h.section(
          h.p({ class: "number" }, `#${card.orderNumber}`),
          h.h2(h.bdi(card.title), ` × ${number(card.toMake)}`),
          card.dueOn && h.p({ class: "strong" }, dueWord(card.dueOn, card.state === "OPEN")),
          card.customer?.lastName && h.p(h.bdi(card.customer.lastName)),
          specified(card),
          [card.lineNote, card.note].filter(Boolean).map((note) => h.p(h.bdi(note))),
          h.p({ class: "soft small" }, `Revision ${card.revision} · printed `, dateTime(new Date().toISOString())),
        ),
      ),
    ),
  );
  visit.root.dataset.print = "job";
  window.print();
}

// On an order's page: when it is due, and a chip for each line that is made.
export async function drawWork(visit, record) {
  const { data: order } = record;
  const isOpen = !order.closedAt && ["PENDING", "PAID", "IN_PRODUCTION", "PROCESSING"].includes(order.status);
  const isWorked = order.status !== "PENDING" && order.lineItems.some(({ make }) => make);
  const [works, stages] = await Promise.all([
    isWorked ? visit.get(workOf({ orderId: order.id })).then(({ data }) => data.data) : [],
    loadStages(visit),
  ]);
  for (const node of visit.root.querySelectorAll("[data-work]")) {
    const line = order.lineItems.find(({ id }) => id === node.dataset.work);
    const card = works.find(({ lineItemId }) => lineItemId === line.id);
    const text = card && (card.state === "OPEN" ? `${card.stage.name}, ${progressOf(card)}` : card.state === "DONE" ? `Made, ${progressOf(card)}` : "Not to be made");
    const open = visit.once(() => openCard(visit, card, stages, () => record.load()));
    node.replaceChildren(
      ...[
        card ? button(text, open, { class: "small", "aria-label": `${text}: ${line.title}` }) : line.make && badge("", "To be made"),
        card?.missing.length > 0 && badge("PENDING", "⚑ Details missing"),
        line.dueOn && line.toShip > 0 && dueWord(line.dueOn, isOpen),
      ].filter(Boolean),
    );
  }
  return order.dueOn && [" · ", dueWord(order.dueOn, isOpen)];
}

// Readers may not see the settings: they see the stages of the cards alone.
export const loadStages = async (visit, signal) => (may("STAFF") ? (await visit.get("admin/settings/production", {}, signal)).data.stages : []);

