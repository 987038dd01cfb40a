// Uploads a file with progress: to the API, or directly to S3 when it is large.

import { address, call, MOST_TRIES, Refusal, wait } from "./api.js";
import { LARGEST_FORM } from "./facts.js";
import { another, key } from "./session.js";

const FRAME = 10_000; // bytes of a form besides its file

// Resolves to the job's id. `tell(sent, total)` in bytes.
// A dry run waits until the user has checked how the file is read.
export async function upload(file, { mode, dryRun }, tell, signal) {
  if (file.size <= LARGEST_FORM - FRAME) {
    const form = new FormData();
    form.append("mode", mode);
    form.append("dryRun", String(dryRun));
    form.append("review", String(dryRun));
    form.append("file", file);
    return (await sendToApi("admin/products/import", form, tell, signal)).jobId;
  }
  const { data } = await call("POST", "admin/products/import/uploads", {
    body: { fileName: file.name, mode, dryRun, review: dryRun },
  });
  const form = new FormData();
  for (const [name, value] of Object.entries(data.fields)) form.append(name, value);
  form.append("file", file);
  await send(data.url, form, {}, tell, signal);
  return data.jobId;
}

async function sendToApi(path, form, tell, signal) {
  for (let attempt = 1; ; attempt++) {
    const used = key();
    const headers = { Authorization: `Bearer ${used}` };
    try {
      return await send(address(path), form, headers, tell, signal);
    } catch (refusal) {
      if (refusal.status === 401) await another(used);
      else if (refusal.status === 429 && attempt < MOST_TRIES) await wait(refusal, attempt, signal);
      else throw refusal;
    }
  }
}

// XMLHttpRequest, because fetch does not report upload progress.
function send(url, form, headers, tell, signal) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", url);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.onprogress = ({ loaded, total }) => tell(loaded, total);
    request.onload = () => {
      const body = parsed(request.responseText);
      if (request.status < 300) return resolve(body);
      const headers = { "Retry-After": request.getResponseHeader("Retry-After") ?? "" };
      return reject(new Refusal(request.status, body, new Headers(headers)));
    };
    request.onerror = () =>
      reject(
        new Refusal(
          0,
          { message: "The upload was interrupted. Check the connection and try again." },
          new Headers(),
        ),
      );
    request.onabort = () => reject(new DOMException("The upload was stopped.", "AbortError"));
    signal.addEventListener("abort", () => request.abort(), { once: true });
    request.send(form);
  });
}

function parsed(text) {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
}
