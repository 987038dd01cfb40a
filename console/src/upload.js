// Uploads files with progress: one of an import to the API, or to S3 when it is large; others to S3.

import { call, Refusal } from "./api.js";
import { LARGEST_FORM, LARGEST_UPLOAD } from "./facts.js";

const FRAME = 10_000; // bytes of a form besides its file

// Resolves to the job's id. `tell(sent, total)` in bytes. `idempotencyKey`: the same for each try.
// A dry run waits until the user has checked how the file is read.
export async function upload(file, { mode, dryRun }, { tell, signal, idempotencyKey }) {
  await file.slice(0, 1).arrayBuffer().catch(unreadable);
  if (file.size > LARGEST_UPLOAD) throw new Error("A file may have 1 GB. Split it.");
  if (file.size <= LARGEST_FORM - FRAME) {
    const form = new FormData();
    form.append("mode", mode);
    form.append("dryRun", String(dryRun));
    form.append("review", String(dryRun));
    form.append("file", file);
    const { data } = await call("POST", "admin/products/import", { form, signal, idempotencyKey, via: sending(tell) });
    return data.jobId;
  }
  const { data } = await call("POST", "admin/products/import/uploads", {
    body: { fileName: file.name, mode, dryRun, review: dryRun },
    idempotencyKey,
  });
  await postFile(data, file, { tell, signal });
  return data.jobId;
}

// Posts a file to S3 with a form that the API has made for it.
export async function postFile({ url, fields }, file, { tell, signal }) {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append("file", file);
  const { ok, status } = await sending(tell)(url, { body: form, headers: {}, signal });
  if (!ok) throw new Refusal(status, {}, new Headers());
}

function unreadable() {
  throw new Error("The file was changed, moved or deleted after it was chosen. Choose it again.");
}

// XMLHttpRequest, because fetch does not report upload progress. It takes as long as it takes.
const sending = (tell) => (url, { body, headers, signal }) =>
  new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", url);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.onprogress = ({ loaded, total }) => tell(loaded, total);
    request.onload = () => {
      const told = ["Retry-After", "X-Request-Id"].map((name) => [name, request.getResponseHeader(name) ?? ""]);
      resolve(new Response(request.responseText || null, { status: request.status, headers: told }));
    };
    const message = "The upload was interrupted. Check the connection and try again.";
    request.onerror = () => reject(new Refusal(0, { message }, new Headers()));
    request.onabort = () => reject(new DOMException("The upload was stopped.", "AbortError"));
    signal.addEventListener("abort", () => request.abort(), { once: true });
    request.send(body);
  });
