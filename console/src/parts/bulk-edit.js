// One change of many records: a dry run shows what would happen, then it is confirmed, made, and can
// be undone.

import { isLeft } from "../api.js";
import { background } from "../background.js";
import { button, h, newKey, replace } from "../dom.js";
import { number, plain, plural } from "../format.js";
import { changesOf } from "./changes.js";
import { choice } from "./choice.js";
import { dialogForm } from "./dialog-form.js";
import { undo, watch } from "./jobs.js";
import { tell, toast } from "./notice.js";
import { tagsOf } from "./order.js";
import { skeleton } from "./page.js";
import { table } from "./table.js";

const SHOWN_ERRORS = 5;
const SHOWN_CHANGES = 10;

// What is to be changed: the `name` of a record, such as product, and the selection of a list.
// `fields`: of the changes; `changeOf(typed)`: the part of them that is neither tags nor text of the API.
export function bulkForm(visit, { name, selection }, { fields, changeOf = (typed) => typed }, done) {
  const title = `Change ${plural(selection.size, name)}`;
  const node = dialogForm(visit, title, {
    fields: [tags("addTags", "Add tags"), tags("removeTags", "Remove tags"), fields],
    submit: "Continue",
    async save({ addTags, removeTags, ...typed }) {
      const given = { addTags: tagsOf(addTags), removeTags: tagsOf(removeTags), ...changeOf(typed) };
      const trimmed = Object.entries(given).map(([each, value]) => [each, value.trim?.() ?? value]);
      const change = Object.fromEntries(trimmed.filter(([, value]) => value.length !== 0));
      if (Object.keys(change).length === 0) throw new Error("Enter at least one change.");
      try {
        const confirmed = () => node.closest("dialog").close();
        await bulkEdit(visit, { name, selection, title: `${title}?`, change }, done, confirmed);
      } catch (refusal) {
        // Errors such as `change.price.percent`.
        const own = (path) => path.split(".").findLast((part) => !/^\d+$/.test(part));
        refusal.errors = refusal.errors?.map((error) => ({ ...error, field: own(error.field) }));
        throw refusal;
      }
      return false;
    },
  });

  function tags(field, label) {
    const hint = "Separate with commas.";
    return choice(visit, [`${name}s`, "tag"], { name: field, label, hint, several: true });
  }
}

// `change` as the API takes it; `title`: the question, such as Set 3 products to draft?; `undoable`: whether it can
// be undone. A change that the API refuses is thrown before there is a dialog. `confirmed()` when it is made.
export async function bulkEdit(visit, asked, done, confirmed = () => {}) {
  const { name, selection, change, title, warning, undoable = true } = asked;
  const api = `admin/${name}s/bulk-edit`;
  const body = { ...selection.which, change };
  const names = new Map(selection.rows.map((row) => [row.id, row.name ?? `#${row.number}`]));
  const named = (id) => names.has(id) && [h.bdi(names.get(id)), ": "];
  // A retry after a lost connection does not change the records again.
  const once = newKey();
  const { data: trial } = await visit.send("POST", api, {
    body: { ...body, dryRun: true },
    idempotencyKey: newKey(),
  });
  const content = h.div({ class: "stack even" }, skeleton(2));
  const confirm = button("Apply", visit.once(run), { class: "main" });
  const cancel = button("Cancel", () => dialog.close());
  const dialog = visit.modal(title, [content, h.div({ class: "actions" }, confirm, cancel)]);
  // Once it is confirmed, closing the dialog would not stop it.
  const stay = (event) => confirm.ariaBusy && event.preventDefault();
  visit.listen(dialog, "cancel", stay);
  visit.listen(dialog, "keydown", (event) => event.key === "Escape" && stay(event));
  confirm.disabled = true;
  let dry;
  try {
    dry = await watch(visit, trial.jobId);
  } catch (refusal) {
    if (isLeft(refusal)) throw refusal;
    replace(content, h.p({ class: "notice bad" }, refusal.message));
    return;
  }
  const { updated, unchanged, failed, errors } = dry;
  replace(
    content,
    h.p(h.b(plural(updated, name)), " will be changed."),
    dry.preview.length > 0 && changed(dry.preview, names),
    unchanged > 0 && h.p({ class: "soft" }, `${plural(unchanged, name)} would stay the same.`),
    failed > 0 &&
      h.div(
        { class: "notice bad" },
        h.p(`${plural(failed, name)} cannot be changed:`),
        h.ul(errors.slice(0, SHOWN_ERRORS).map(({ id, message }) => h.li(named(id), plain(message)))),
      ),
    warning && h.p(warning),
    !undoable && h.p({ class: "soft" }, "This cannot be undone."),
  );
  confirm.disabled = updated === 0;
  if (updated > 0) replace(confirm, `Change ${plural(updated, name)}`);
  (updated > 0 ? confirm : cancel).focus();

  async function run() {
    cancel.hidden = true;
    try {
      const { data } = await visit.send("POST", api, {
        body,
        idempotencyKey: once,
        success: `Changing ${plural(updated, name)}…`,
      });
      dialog.close();
      confirmed();
      finish(data.jobId).catch(tell);
    } finally {
      cancel.hidden = false;
    }
  }

  // Wherever the user is when it ends.
  async function finish(id) {
    const job = await watch(background, id);
    const message =
      `${plural(job.updated, name)} changed.` +
      (job.failed > 0 ? ` ${number(job.failed)} failed: ${plain(job.errors[0]?.message ?? "")}` : "");
    const back = ["Undo", () => takeBack(id).catch(tell)];
    toast(message, job.failed > 0 ? "bad" : "", undoable && job.updated > 0 ? back : null);
    await refresh();
    // The button that started it is gone with the selection.
    if (document.activeElement === document.body)
      (visit.root.querySelector(".tick input") ?? visit.root.querySelector("h1"))?.focus();
  }

  async function takeBack(id) {
    await undo(id);
    await refresh();
  }

  async function refresh() {
    if (!visit.signal.aborted) await done();
  }
}

// Before and after, of the first records.
function changed(preview, names) {
  const rows = preview.slice(0, SHOWN_CHANGES);
  return [
    table({
      name: "Changes",
      columns: [
        { title: "Record", cell: ({ id }) => h.bdi(names.get(id) ?? id) },
        {
          title: "Change",
          cell: ({ before, after }) => changesOf(before, after),
        },
      ],
      rows,
    }),
    preview.length > rows.length && h.p({ class: "soft small" }, "These are the first of them."),
  ];
}
