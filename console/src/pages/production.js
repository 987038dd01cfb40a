// The workshop's board: a column for each stage, with what is to be made by the day on which it is due.

import { isLeft } from "../api.js";
import { button, h, replace } from "../dom.js";
import { number } from "../format.js";
import { field } from "../parts/form.js";
import { menu } from "../parts/menu.js";
import { announce, toast } from "../parts/notice.js";
import { empty, keepFocus } from "../parts/page.js";
import { repWord } from "../parts/words.js";
import { changeWork, dueWord, loadChanges, loadStages, nameOf, openCard, printCards, progressOf, signsOf } from "../parts/work.js";
import { daysAgo } from "../parts/zone.js";
import { link } from "../router.js";
import { may } from "../session.js";

const EVERY = 15_000; // milliseconds, after which others' moves are read
const LIMIT = 100;
const LATEST = 50; // of what is done
const STEPS = { ArrowLeft: -1, ArrowRight: 1 };
const DUE = [["", "Any day"], ["overdue", "Overdue"], ["today", "Today"], ["week", "Next 7 days"], ["none", "No date"]];

const idOf = ({ orderId, lineItemId }) => `${lineItemId}@${orderId}`;
// By day, those without one last; what is done by when, the latest first.
const sortOf = ({ dueOn }) => dueOn ?? "9999";
const inOrder = (one, other) => sortOf(one).localeCompare(sortOf(other));
const latestFirst = (one, other) => (other.doneAt ?? "").localeCompare(one.doneAt ?? "");

export async function show(visit) {
  const asked = { ...visit.query };
  const known = { assignee: new Map([["none", "Nobody"]]), product: new Map() }; // what the filters offer
  const edits = new Map(); // what was changed since a card was moved last, by its id and revision
  const moving = new Set(); // ids
  let stages = [];
  let cards = [];
  let counts = {};
  let doneCount = 0;
  let left = 0; // cards that are not loaded
  let pages = 1;
  let changes = 0; // made here
  let isBehind = false; // what was read last is not drawn
  let dragged = null;
  let drawn = "";
  const status = h.p({ class: "soft", role: "status" });
  const tabs = h.div({ class: "picks tabs", role: "group", "aria-label": "Stage" });
  const board = h.div({ class: "board" });
  const more = button("Show more", visit.once(() => ((pages += 1), load())), { hidden: true });
  const select = (name, label, options) => field({ name, label, value: asked[name] ?? "", options, onchange: filtered });
  const filters = h.form(
    { class: "filters even", role: "search", onsubmit: (event) => event.preventDefault() },
    select("assignee", "Assigned to", [["", "Anybody"]]),
    select("due", "Promised for", DUE),
    select("product", "Product", [["", "All"]]),
  );

  await load();
  const setUp = may("ADMIN") && h.a({ class: "button quiet", href: link("/settings/production") }, "Stages");
  visit.draw(
    { title: "Production", actions: [h.a({ class: "button quiet", href: link("/orders/due") }, "Promised dates"), setUp] },
    h.div({ class: "stack even" }, filters, status, tabs, board, h.p({ class: "pager" }, more)),
    may("STAFF") && h.p({ class: "unseen", id: "board-keys" }, "The arrow keys left and right move it."),
  );
  visit.listen(board, "keydown", pressed);
  visit.listen(window, "afterprint", () => delete visit.root.dataset.print);
  visit.listen(document, "visibilitychange", () => !document.hidden && follow());
  (async () => {
    for (;;) {
      await visit.sleep(EVERY);
      if (!document.hidden) await follow();
    }
  })().catch(() => {}); // the page was left

  // Others' moves. What is shown stays if they cannot be read, and says so.
  async function follow() {
    try {
      await load();
    } catch (refusal) {
      if (!isLeft(refusal)) replace(status, `This may be out of date: ${refusal.message}`);
    }
  }

  async function load() {
    const mine = visit.latest("board");
    const begun = changes;
    const { assignee, due, product: productId } = asked;
    const read = async (query) => (await visit.get("admin/work", { assignee, productId, limit: LIMIT, ...query }, mine)).data;
    const [all, done, ...open] = await Promise.all([
      loadStages(visit, mine),
      due ? { data: [], pagination: { total: 0 } } : read({ state: "DONE", limit: LATEST }),
      ...Array.from({ length: pages }, (_, at) => read({ due, page: at + 1 })),
    ]);
    const found = [...new Map(open.flatMap(({ data }) => data).map((card) => [idOf(card), card])).values()];
    await Promise.all(found.filter(({ revision }) => revision > 1).map((card) => noteChanges(card)));
    mine.throwIfAborted();
    isBehind = begun !== changes || moving.size > 0 || dragged !== null || board.querySelector(":popover-open") !== null;
    if (isBehind) return;
    counts = open[0].counts;
    stages = all.length > 0 ? all : stagesOf(found, done.data);
    doneCount = done.pagination.total;
    left = open[0].pagination.total - found.length;
    cards = [...found, ...done.data];
    draw();
  }

  async function noteChanges(card) {
    const key = `${idOf(card)} ${card.revision} ${card.moves.length}`;
    if (!edits.has(key)) edits.set(key, await loadChanges(visit, card));
    card.changes = edits.get(key);
  }

  // Those that a Reader sees: names are known from cards alone.
  function stagesOf(found, done) {
    const names = new Map(found.map(({ stage }) => [stage.id, stage.name]));
    const open = Object.keys(counts).map((id, at) => ({ id, name: names.get(id) ?? `Stage ${at + 1}` }));
    return [...open, { id: "done", name: done.find(({ stage }) => !(stage.id in counts))?.stage.name ?? "Done" }];
  }

  function filtered({ target }) {
    asked[target.name] = target.value;
    pages = 1;
    visit.rewrite(asked);
    load().catch((refusal) => isLeft(refusal) || toast(refusal.message, "bad"));
  }

  // --- Moves -------------------------------------------------------------------------------------

  // The id of the stage; null: it is on the board no more.
  function columnOf({ state, stage }) {
    if (state === "DONE") return stages.at(-1).id;
    return state === "OPEN" ? stage.id : null;
  }

  // Shows the card where it goes, and puts it back with the reason if it may not.
  async function move(card, stage) {
    const id = idOf(card);
    if (moving.has(id) || !stage || stage.id === columnOf(card)) return;
    moving.add(id);
    const state = stage === stages.at(-1) ? "DONE" : "OPEN";
    put(card, { ...card, stage, state, doneAt: new Date().toISOString() });
    try {
      put(card, await changeWork(visit, card, { stage: stage.id }));
      announce(`${nameOf(card)}: ${stage.name}.`);
    } catch (refusal) {
      if (isLeft(refusal)) return;
      put(card, card);
      toast(`${nameOf(card)} is not moved. ${refusal.message}`, "bad");
    } finally {
      moving.delete(id);
    }
    draw();
    follow();
  }

  function put(card, now) {
    const at = cards.findIndex((each) => idOf(each) === idOf(card));
    const [from, to] = [columnOf(cards[at] ?? now), columnOf(now)];
    for (const [id, by] of [[from, -1], [to, 1]])
      if (id === stages.at(-1).id) doneCount += by;
      else if (id in counts) counts[id] += by;
    if (at >= 0) cards[at] = now;
    changes += 1;
    draw();
  }

  function pressed(event) {
    const card = cardAt(event.target);
    if (!STEPS[event.key] || !card || event.ctrlKey || event.metaKey || event.altKey || !may("STAFF")) return;
    event.preventDefault();
    const at = stages.findIndex(({ id }) => id === columnOf(card));
    if (!event.repeat) move(card, stages[at + STEPS[event.key]]);
  }

  function cardAt(node) {
    const id = node.closest(".work")?.dataset.field;
    return cards.find((card) => idOf(card) === id);
  }

  // --- Drawing -----------------------------------------------------------------------------------

  function draw() {
    const state = JSON.stringify([stages, cards, counts, doneCount, left, asked, [...moving], daysAgo(0)]);
    replace(status);
    if (state === drawn) return;
    drawn = state;
    for (const { assignee, productId, title } of cards) {
      if (assignee) known.assignee.set(assignee, repWord(assignee));
      if (productId) known.product.set(productId, title);
    }
    for (const [name, values] of Object.entries(known)) offer(filters.elements[name], values);
    const shown = stages.some(({ id }) => id === asked.stage) ? asked.stage : stages[0]?.id;
    const isFiltered = Boolean(asked.assignee || asked.due || asked.product);
    const columns = stages.map((stage) => {
      const isLast = stage === stages.at(-1);
      const own = cards.filter((card) => columnOf(card) === stage.id).sort(isLast ? latestFirst : inOrder);
      const exact = isLast ? doneCount : isFiltered ? own.length : (counts[stage.id] ?? 0);
      return { stage, own, isLast, isShown: stage.id === shown, count: `${number(exact)}${isFiltered && left > 0 && !isLast ? "+" : ""}` };
    });
    more.hidden = left <= 0;
    keepFocus(visit.root, () => {
      replace(
        tabs,
        columns.map(({ stage, count, isShown }) => button(`${stage.name} (${count})`, () => choose(stage), { "aria-pressed": String(isShown), class: "small" })),
      );
      replace(board, cards.length > 0 || isFiltered ? columns.map(column) : empty("Nothing to make", "What is made to order appears here once its order, or the deposit, is paid.", h.a({ class: "button", href: link("/products") }, "Products")));
    });
  }

  function offer(control, values) {
    const had = asked[control.name] ?? "";
    if (had && !values.has(had)) values.set(had, repWord(had));
    for (const [value, text] of values)
      if (![...control.options].some((option) => option.value === value)) control.append(h.option({ value }, text));
    control.value = had;
  }

  // On a phone: one stage.
  function choose(stage) {
    asked.stage = stage.id;
    visit.rewrite(asked);
    draw();
  }

  function column({ stage, own, isLast, isShown, count }) {
    return h.section(
      {
        class: `column ${isShown ? "on" : ""}`,
        "aria-label": stage.name,
        ondragover: (event) => dragged && event.preventDefault(),
        ondrop(event) {
          event.preventDefault();
          const card = dragged;
          dragged = null; // what is drawn again ends no drag
          if (card) move(card, stage);
        },
      },
      h.div(
        { class: "head", "data-field": stage.id },
        h.h2(stage.name, " ", h.span({ class: "soft" }, count)),
        own.length > 0 && menu([button("Print all of this column", () => printCards(visit, own))], stage.name),
      ),
      isLast && doneCount > LATEST && h.p({ class: "soft small" }, `The latest ${LATEST}`),
      h.ul(own.map(drawCard)),
    );
  }

  function drawCard(card) {
    const { made, toMake, dueOn, assignee, state } = card;
    const isStaff = may("STAFF");
    const open = () => openCard(visit, card, stages, (now) => put(card, now));
    return h.li(
      {
        class: "work",
        "data-field": idOf(card),
        "aria-busy": moving.has(idOf(card)) && "true",
        draggable: isStaff && "true",
        ondragstart: (event) => (event.dataTransfer.setData("text/plain", nameOf(card)), (dragged = card)),
        ondragend() {
          dragged = null;
          if (isBehind) follow();
        },
      },
      h.div(
        { class: "head" },
        button([h.bdi(card.title), ` × ${number(toMake)}`, h.span({ class: "soft small" }, ` #${card.orderNumber} `)], visit.once(open), { class: "quiet", "aria-describedby": isStaff && "board-keys" }),
        menu(
          [
            isStaff && stages.filter(({ id }) => id !== columnOf(card)).map((stage) => button(`Move to ${stage.name}`, () => move(card, stage))),
            button("Print job card", () => printCards(visit, [card])),
          ],
          nameOf(card),
        ),
      ),
      h.div(
        { class: "small soft" },
        (made > 0 || toMake > 1) && h.span(progressOf(card)),
        dueOn && dueWord(dueOn, state === "OPEN"),
        assignee && h.bdi(repWord(assignee)),
      ),
      h.div(signsOf(card)),
      card.changes?.length > 0 && h.div({ class: "small" }, h.b("Changed after start"), card.changes.map((line) => h.div(h.bdi(line)))),
    );
  }
}
