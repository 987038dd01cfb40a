// The pictures of a product: chosen or dropped, uploaded two at a time, put in order, described.

import { isLeft } from "../api.js";
import { button, h, newKey, replace } from "../dom.js";
import { plural } from "../format.js";
import { chooser, originalBox } from "./chooser.js";
import { dialogForm } from "./dialog-form.js";
import { field, wrong } from "./form.js";
import { menu } from "./menu.js";
import { announce, toast } from "./notice.js";
import { picture } from "./picture.js";
import { may } from "../session.js";
import { PICTURE_TYPES, prepareImage, sendFile } from "../file-upload.js";

const MOST = 100;
const HELD = 20_000; // milliseconds, after which a picture that is rendered lets the next one be sent
const PREVIEW = 320; // pixels
const GONE = "This picture cannot be loaded. It may have been deleted.";

// What the API takes of an image.
const imageInput = ({ url, pictureId, alt }) => ({ ...(pictureId ? { pictureId } : { url }), alt: alt || null });

const isSame = (one, other) => JSON.stringify(one.map(imageInput)) === JSON.stringify(other.map(imageInput));

// The list outlives each drawing of its form. `begin(images)`: what the product has now; `resume()`: what it showed before
// that, if it was edited; `saveWhenUploaded(work)`: waits for what is uploaded, and changes nothing while `work` saves it.
export function pictureList(visit) {
  let tiles = [];
  let start = [];
  let before = null;
  let dragged = null;
  let isHeld = false;
  let started = 0;
  const lanes = [Promise.resolve(), Promise.resolve()];
  const original = originalBox();
  const list = h.ul({ class: "pictures", tabindex: "-1", ondragover: (event) => dragged && event.preventDefault(), ondrop: (event) => dragged && event.preventDefault() });
  const node = h.div({ class: "uploads", "data-field": "images" }, list, h.p({ class: "error" }));
  if (may("STAFF"))
    node.append(
      h.div(
        { class: "actions" },
        chooser(visit, node, { name: "Add pictures", types: PICTURE_TYPES, take: addFiles }),
        button("Use another address", () => askForAddress(), { class: "small quiet" }),
        original.node,
      ),
    );
  const isUploading = () => tiles.some(({ image, problem }) => !image && !problem);
  const read = () => tiles.filter(({ image }) => image).map(({ image, alt }) => ({ ...image, alt: alt.value.trim() }));
  const isEdited = () => !isSame(read(), start);
  return { name: "images", node, begin, resume, saveWhenUploaded, edits, restore, isUploading, read, toInput: imageInput };

  // --- The form -----------------------------------------------------------------------------------

  function begin(images) {
    before = isEdited() || isUploading() ? tiles : null;
    start = images;
    showImages(images);
    visit.guard("pictures", isUploading, "Pictures that are being uploaded will not be kept.");
  }

  function resume() {
    if (before) showTiles(before);
  }

  function edits() {
    if (!isEdited()) return { gone: [], typed: [] };
    return { gone: start.map(({ url }) => url), typed: read() };
  }

  function restore({ gone, typed }) {
    if (gone.length + typed.length > 0) showImages(typed);
  }

  async function saveWhenUploaded(work) {
    while (isUploading()) {
      announce("It is saved as soon as the pictures are uploaded.");
      await Promise.all(tiles.map(({ done }) => done));
    }
    visit.signal.throwIfAborted();
    const failed = tiles.find(({ problem }) => problem);
    if (failed) throw wrong("images", `${failed.file.name} was not uploaded. Try again, or remove it.`);
    holdButtons(true);
    try {
      return await work();
    } finally {
      holdButtons(false);
    }
  }

  function holdButtons(is) {
    isHeld = is;
    node.querySelectorAll("button").forEach((each) => (each.inert = is));
  }

  // --- Tiles --------------------------------------------------------------------------------------

  function showImages(images) {
    showTiles(images.map((image) => makeTile({ image })));
  }

  function showTiles(shown) {
    tiles = shown;
    replace(list, tiles.map(({ node: each }) => each));
    numberTiles();
  }

  // `image`: as the API shows it, or null while its file is uploaded.
  function makeTile({ image = null, file = null }) {
    const tile = { image, file, isOriginal: original.box.checked, key: newKey(), stop: new AbortController(), done: null, problem: null };
    const about = field({ name: "alt", label: "Alt text", placeholder: "Alt text", maxlength: "500", value: image?.alt ?? "" });
    about.querySelector("label").className = "unseen";
    const canvas = h.canvas({ width: PREVIEW, height: PREVIEW, class: "thumb" });
    const moves = {
      first: button("Make it the main picture", () => move(tile, 0)),
      earlier: button("Move earlier", () => move(tile, tiles.indexOf(tile) - 1)),
      later: button("Move later", () => move(tile, tiles.indexOf(tile) + 1)),
    };
    const again = button("Try again", () => startUpload(tile));
    const actions = [moves.first, moves.earlier, moves.later, again, button("Use another address", () => askForAddress(tile)), button("Remove", () => remove(tile), { class: "bad" })];
    const [open, items] = menu(actions, "picture");
    const shown = h.div({ tabindex: "-1", draggable: String(may("STAFF")), ondragstart: beginDrag, ondragend: endDrag });
    const why = h.p({ class: "short small" });
    Object.assign(tile, { alt: about.querySelector("input"), about, canvas, moves, again, open, shown, why });
    tile.node = h.li(
      { ondragover: () => dragged && dragged.tile !== tile && put(dragged.tile, tiles.indexOf(tile)) },
      shown,
      why,
      h.div({ class: "head" }, h.span({ class: "badge" }, "Main"), may("STAFF") && [open, items]),
      h.p({ class: "error" }),
      about,
    );
    draw(tile);
    return tile;

    function beginDrag({ dataTransfer }) {
      dragged = { tile, order: [...tiles] };
      dataTransfer.setData("text/plain", "");
      dataTransfer.effectAllowed = "move";
    }

    function endDrag({ dataTransfer }) {
      if (dataTransfer.dropEffect === "none") showTiles(dragged.order);
      dragged = null;
      markEdited();
    }
  }

  function draw(tile) {
    const { image, file, problem, canvas, again, shown, why } = tile;
    again.hidden = !problem;
    tile.bar = h.progress({ max: "1", "aria-label": `Upload of ${file?.name}` });
    tile.said = h.p({ class: "small" }, "Waiting");
    replace(shown, image ? picture(image, "medium", GONE) : [canvas, !problem && h.div({ class: "going" }, tile.bar, tile.said)]);
    replace(why, problem && `${file.name}: ${problem}`);
  }

  // Errors such as `images.2.url` find their tile, because the fields are renamed.
  function numberTiles() {
    tiles.forEach((tile, at) => {
      tile.node.dataset.field = `images.${at}`;
      tile.about.dataset.field = `images.${at}.alt`;
      tile.about.querySelector("label").textContent = `Alt text of picture ${at + 1}`;
      tile.open.setAttribute("aria-label", `More: picture ${at + 1}`);
      tile.moves.first.hidden = tile.moves.earlier.hidden = at === 0;
      tile.moves.later.hidden = at === tiles.length - 1;
    });
  }

  // That the form was edited.
  function markEdited() {
    numberTiles();
    node.dispatchEvent(new Event("input", { bubbles: true }));
  }

  function put(tile, at) {
    tiles.splice(tiles.indexOf(tile), 1);
    tiles.splice(at, 0, tile);
    list.insertBefore(tile.node, tiles[at + 1]?.node ?? null);
  }

  function move(tile, at) {
    put(tile, at);
    markEdited();
    tile.open.focus();
    announce(`Picture ${at + 1} of ${tiles.length}.`);
  }

  function remove(tile) {
    const at = tiles.indexOf(tile);
    tile.stop.abort();
    tile.node.remove();
    tiles.splice(at, 1);
    markEdited();
    ((tiles[at] ?? tiles.at(-1))?.open ?? node.querySelector(".actions button")).focus();
    announce("Picture removed.");
  }

  function askForAddress(tile = null) {
    const url = tile?.image && !tile.image.pictureId ? tile.image.url : "";
    dialogForm(visit, "Use another address", {
      fields: field({ name: "url", label: "Address of the picture", type: "url", placeholder: "https://…", value: url, wide: true }),
      submit: "Use this address",
      save(typed) {
        const image = { url: typed.url.trim(), pictureId: null, sizes: null };
        if (!/^https?:\/\//i.test(image.url)) throw wrong("url", "must begin with https://");
        if (tile) {
          tile.stop.abort();
          Object.assign(tile, { image, problem: null });
          draw(tile);
        } else append(makeTile({ image }));
        markEdited();
      },
    });
  }

  function append(tile) {
    tiles.push(tile);
    list.append(tile.node);
  }

  // --- Uploads ------------------------------------------------------------------------------------

  function addFiles(files) {
    if (isHeld) return toast("Wait until the product is saved.", "bad");
    const taken = files.slice(0, MOST - tiles.length);
    if (taken.length < files.length) toast(`A product has at most ${MOST} pictures.`, "bad");
    for (const file of taken) {
      const tile = makeTile({ file });
      append(tile);
      startUpload(tile);
    }
    markEdited();
    if (taken.length > 0) announce(`${plural(taken.length, "picture")} added.`);
    return undefined;
  }

  function startUpload(tile) {
    tile.problem = null;
    draw(tile);
    const at = started++ % lanes.length;
    const lane = lanes[at];
    lanes[at] = new Promise((release) => {
      const isSent = () => visit.sleep(HELD).then(release, release);
      tile.done = lane.then(() => upload(tile, isSent)).finally(release);
    });
  }

  async function upload(tile, isSent) {
    const signal = AbortSignal.any([visit.signal, tile.stop.signal]);
    replace(tile.said, "Uploading");
    try {
      signal.throwIfAborted();
      tile.blob ??= await prepareImage(tile.file, { isOriginal: tile.isOriginal, preview: tile.canvas });
      const asked = { key: tile.key, signal, tell: (sent, total) => showProgress(tile, sent, total, isSent) };
      const { id, sizes } = await sendFile("admin/pictures", tile.blob, { name: tile.file.name }, asked);
      tile.image = { url: sizes.large, pictureId: id, sizes };
    } catch (refusal) {
      if (isLeft(refusal)) return;
      tile.problem = refusal.message;
      announce(`${tile.file.name}: ${refusal.message}`);
    }
    draw(tile);
    markEdited();
  }

  function showProgress({ bar, said }, sent, total, isSent) {
    bar.value = total ? sent / total : 0;
    if (sent < total) return;
    replace(said, "Being prepared");
    isSent();
  }
}
