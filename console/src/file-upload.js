// The upload of one file: a picture is made smaller, and it is sent, and awaited until the shop has rendered it.

import { call, sleep } from "./api.js";
import { postFile } from "./upload.js";

const MOST_PIXELS = 6_000_000; // of what is sent, unless the original is wanted
const QUALITY = 0.9;
const LONGEST_NAME = 200;
export const PICTURE_TYPES = ["image/jpeg", "image/png", "image/webp"]; // Safari makes a JPEG of a HEIC where these are asked for
const REASONS = {
  damaged: "The file is damaged.",
  not_an_image: "The file is no picture.",
  too_large: "The file is too large. A picture may have 20 MB.",
  too_many_pixels: "A picture may have 50 megapixels, and sides of 16,000 pixels.",
  too_small: "A picture has at least 16 by 16 pixels.",
  type_not_allowed: "Choose a JPEG, PNG or WebP file.",
};

// Resolves to what is sent of a file: another picture, upright, if it has more than 6 megapixels or is not of PICTURE_TYPES.
// `preview`: a canvas that shows it.
export async function prepareImage(file, { isOriginal, preview }) {
  let bitmap = null;
  try {
    bitmap = await createImageBitmap(file, { imageOrientation: "from-image" });
  } catch {
    return file; // the shop says what is wrong with it
  }
  const by = Math.sqrt(MOST_PIXELS / (bitmap.width * bitmap.height));
  drawPreview(preview, bitmap);
  const isKept = isOriginal || (by >= 1 && PICTURE_TYPES.includes(file.type));
  const sent = isKept ? file : await encodeImage(bitmap, Math.min(by, 1), file.type === "image/jpeg" ? file.type : "image/webp");
  bitmap.close();
  return sent;
}

function encodeImage(bitmap, by, type) {
  const canvas = new OffscreenCanvas(Math.round(bitmap.width * by), Math.round(bitmap.height * by));
  const context = canvas.getContext("2d");
  context.imageSmoothingQuality = "high";
  context.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  return canvas.convertToBlob({ type, quality: QUALITY });
}

function drawPreview(canvas, bitmap) {
  const by = Math.max(canvas.width / bitmap.width, canvas.height / bitmap.height);
  const [width, height] = [bitmap.width * by, bitmap.height * by];
  canvas.getContext("2d").drawImage(bitmap, (canvas.width - width) / 2, (canvas.height - height) / 2, width, height);
}

// Resolves to the file, which is READY. `path`: of its kind; `more`: what is sent about it. `key`: the same for each try;
// `tell(sent, total)` in bytes.
export async function sendFile(path, blob, { name, ...more }, { key, tell, signal }) {
  const body = { ...more, name: name.slice(0, LONGEST_NAME), contentType: blob.type || "application/octet-stream", bytes: blob.size };
  try {
    const { data } = await call("POST", path, { body, idempotencyKey: key, signal });
    if (data.status === "WAITING") await postFile(data.upload, blob, { tell, signal });
    return await waitUntilReady(path, data, signal);
  } catch (refusal) {
    const [error] = refusal.errors ?? [];
    throw error ? new Error(REASONS[error.code] ?? error.message) : refusal;
  }
}

async function waitUntilReady(path, file, signal) {
  for (let pause = 1000; file.status === "WAITING"; pause = 2000) {
    await sleep(pause, signal);
    file = (await call("GET", `${path}/${file.id}`, { signal })).data;
  }
  if (file.status === "FAILED") throw new Error(REASONS[file.error]);
  return file;
}
