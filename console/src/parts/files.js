// The files of an order, or of one of its lines: photos, drawings, whatever belongs to it.

import { isLeft } from "../api.js";
import { button, h, newKey, replace } from "../dom.js";
import { dateTime } from "../format.js";
import { chooser, originalBox } from "./chooser.js";
import { dialogForm } from "./dialog-form.js";
import { field } from "./form.js";
import { announce } from "./notice.js";
import { picture } from "./picture.js";
import { pickChanges } from "./stale.js";
import { may } from "../session.js";
import { PICTURE_TYPES, prepareImage, sendFile } from "../file-upload.js";

const PREVIEW = 160; // pixels
const PAUSE = 5000; // milliseconds, after which what another tab has uploaded is looked at again

// `orderId`: of the order. `lines()`: its lines, of which a file may be; or `lineItemId`, the one that it is about. `found`: the files, if they
// were read. `signal`: files are taken until it aborts. The node outlives each drawing of its page.
export async function drawFiles(visit, orderId, { lines = () => [], lineItemId = null, found = null, signal = visit.signal }) {
  const path = `admin/orders/${encodeURIComponent(orderId)}/files`;
  const original = originalBox();
  const list = h.ul({ class: "files" });
  const node = h.div({ class: "uploads" }, list);
  const sent = []; // uploads that are not done: { node, problem }
  let files = found ?? (await loadFiles());
  let turn = Promise.resolve();
  if (may("STAFF"))
    node.append(h.div({ class: "actions" }, chooser(visit, node, { name: "Add files", take: addFiles, signal }), original.node));
  visit.guard(`files ${lineItemId}`, () => sent.some(({ problem }) => !problem), "Files that are being uploaded will not be kept.");
  draw();
  return node;

  async function loadFiles() {
    return (await visit.get(path)).data.data;
  }

  async function reload() {
    files = await loadFiles();
    draw();
  }

  function draw() {
    const own = files.filter((file) => !lineItemId || [null, lineItemId].includes(file.lineItemId));
    replace(list, own.map(drawFile), sent.map((each) => each.node));
    if (own.some(({ status }) => status === "WAITING") && sent.length === 0) visit.after(PAUSE, `files ${lineItemId}`, () => node.isConnected && reload().catch(() => {}));
  }

  function drawFile(file) {
    const { name, status, urls } = file;
    if (status !== "READY") return h.li({ class: "soft small" }, h.bdi(name), " is being prepared.");
    const shown = urls.small ? picture({ sizes: { small: urls.small } }) : h.span({ class: "thumb blank" }, h.b(name.split(".").at(-1).slice(0, 5).toUpperCase()));
    return h.li(button([shown, h.bdi({ class: "small" }, name)], visit.once(() => openFile(file.id)), { class: "quiet" }));
  }

  // Its addresses end after minutes: they are asked for at each look.
  async function openFile(id) {
    const { data: file } = await visit.get(`${path}/${id}`);
    const { name, note, urls, createdAt, createdBy } = file;
    const about = [
      urls.large && h.img({ class: "whole-picture", src: urls.large, alt: note ?? "" }),
      h.p({ class: "soft small" }, dateTime(createdAt), " · ", h.bdi(createdBy)),
      h.div({ class: "actions" }, h.a({ class: "button", href: urls.original, download: name }, "Download")),
    ];
    if (!may("STAFF")) return void visit.modal(name, [about, button("Close", ({ target }) => target.closest("dialog").close())], { broad: true });
    const drop = button("Delete", visit.once(() => remove(file, drop.closest("dialog"))), { class: "bad" });
    dialogForm(visit, name, {
      intro: h.div({ class: "stack even" }, about),
      broad: true,
      fields: [
        field({ name: "name", value: name, maxlength: "200" }),
        lines().length > 0 && field({ name: "lineItemId", label: "Item", value: file.lineItemId ?? "", options: [["", "The whole order"], ...lines().map((line) => [line.id, line.title])] }),
        field({ name: "note", value: note, rows: 2, maxlength: "500", wide: true }),
      ],
      submit: "Save",
      extra: drop,
      async save(typed) {
        const wanted = { ...typed, note: typed.note.trim() || null, ...("lineItemId" in typed && { lineItemId: typed.lineItemId || null }) };
        const body = pickChanges(file, wanted);
        if (Object.keys(body).length > 0) await visit.send("PATCH", `${path}/${id}`, { body, success: "Saved." });
        await reload();
      },
    });
    return undefined;
  }

  async function remove({ id, name }, dialog) {
    const question = { title: `Delete ${name}?`, text: "This cannot be undone.", yes: "Delete", bad: true };
    if (!(await visit.ask(question))) return;
    await visit.send("DELETE", `${path}/${id}`, { success: `${name} deleted.` });
    dialog.close();
    await reload();
  }

  // --- Uploads ------------------------------------------------------------------------------------

  function addFiles(chosen) {
    for (const file of chosen) {
      const one = { file, key: newKey(), isOriginal: original.box.checked, node: h.li() };
      sent.push(one);
      begin(one);
    }
    draw();
  }

  // One at a time.
  function begin(one) {
    one.problem = null;
    one.canvas ??= h.canvas({ class: "thumb", width: PREVIEW, height: PREVIEW });
    one.bar = h.progress({ max: "1", "aria-label": `Upload of ${one.file.name}` });
    replace(one.node, one.canvas, one.bar, h.span({ class: "small" }, h.bdi(one.file.name)));
    turn = turn.then(() => upload(one));
  }

  async function upload(one) {
    const { file, isOriginal, canvas, key, bar } = one;
    const tell = (bytes, total) => (bar.value = total ? bytes / total : 0);
    try {
      const isPicture = PICTURE_TYPES.includes(file.type);
      one.blob ??= isPicture ? await prepareImage(file, { isOriginal, preview: canvas }) : file;
      await sendFile(path, one.blob, { name: file.name, lineItemId }, { key, tell, signal: visit.signal });
      sent.splice(sent.indexOf(one), 1);
      announce(`${file.name} uploaded.`);
      await reload();
    } catch (refusal) {
      if (!isLeft(refusal)) fail(one, refusal.message);
    }
  }

  function fail(one, problem) {
    one.problem = problem;
    announce(`${one.file.name}: ${problem}`);
    const dismiss = () => (sent.splice(sent.indexOf(one), 1), draw());
    replace(
      one.node,
      h.p({ class: "short small" }, `${one.file.name}: ${problem}`),
      button("Try again", () => begin(one), { class: "small" }),
      button("Dismiss", dismiss, { class: "small" }),
    );
  }
}
