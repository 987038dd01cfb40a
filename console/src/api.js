// All requests to the API. The console uses no private calls.

import { MOST_WAITED } from "./early.js";
import { plain } from "./format.js";
import * as session from "./session.js";

const BASE = new URL("api/", document.baseURI);
const MOST_TRIES = 6;
// Characters of a change that ends also if the page is left or loaded again meanwhile. A browser keeps 64 KB at once.
const MOST_KEPT = 8_000;

// A refusal by the API; status 0 if it was not reached. `isUnsure`: what was sent may have been done.
export class Refusal extends Error {
  constructor(status, body, headers) {
    const id = status >= 500 && headers.get("X-Request-Id");
    super(plain(body.message ?? `The service answered ${status}.`) + (id ? ` Request ${id}.` : ""));
    const errors = (body.errors ?? []).map((error) => ({ ...error, message: plain(error.message) }));
    Object.assign(this, { status, body, code: body.code, errors, headers, isUnsure: body.isSent ?? status >= 500 });
  }
}

// The page was left, or a newer request replaced this one: not an error.
export const isLeft = (error) => error.name === "AbortError";

const waits = new Set();
export const onWait = (tell) => waits.add(tell);

export const address = (path) => new URL(path, BASE).href;

// Returns { data, etag }. Throws Refusal, or AbortError when `signal` aborts. `key`: used instead of
// the session's; the caller handles its refusal. `via(url, request)`: how it is sent.
export async function call(
  method,
  path,
  { query, body, form, ifMatch, idempotencyKey, signal, key, via = reach } = {},
) {
  const url = new URL(path, BASE);
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== "" && value !== undefined && value !== null) url.searchParams.set(name, value);
  }
  for (let attempt = 1; ; attempt++) {
    const used = key ?? session.key();
    const headers = { Authorization: `Bearer ${used}` };
    if (body !== undefined) headers["Content-Type"] = "application/json";
    if (ifMatch) headers["If-Match"] = ifMatch;
    if (idempotencyKey) headers["Idempotency-Key"] = idempotencyKey;
    const sent = body !== undefined ? JSON.stringify(body) : form;
    const answer = await via(url, { method, headers, body: sent, signal, cache: "no-store" });
    const answered = await content(answer, method);
    // What a DELETE whose answer was lost has deleted is gone when it is repeated.
    const isGone = method === "DELETE" && answered?.code === "not_found";
    if (answer.ok || isGone) return { data: answered, etag: answer.headers.get("ETag") };
    const refusal = new Refusal(answer.status, answered ?? {}, answer.headers);
    if (answer.status === 401 && !key && session.who()) await session.another(used);
    else if (attempt < MOST_TRIES && isWorthWaiting(method, answer, idempotencyKey)) {
      await wait(answer, attempt, signal);
    } else throw refusal;
  }
}

export async function reach(url, { signal, ...request }) {
  const isSent = navigator.onLine;
  const ends = [signal, AbortSignal.timeout(MOST_WAITED)].filter(Boolean);
  const { method, body = "" } = request;
  const keepalive = method !== "GET" && typeof body === "string" && body.length < MOST_KEPT;
  try {
    return await fetch(url, { ...request, keepalive, signal: AbortSignal.any(ends) });
  } catch (error) {
    throw error.name === "AbortError" ? error : unreachable(method, isSent);
  }
}

function unreachable(method, isSent = true) {
  const message = !isSent
    ? "You are offline. Nothing was sent."
    : method === "GET"
      ? "The service cannot be reached. Check the connection and try again."
      : "The connection was lost. This may or may not have been saved: try again.";
  return new Refusal(0, { code: "unreachable", message, isSent }, new Headers());
}

async function content(answer, method) {
  let text;
  try {
    text = await answer.text();
  } catch (error) {
    throw error.name === "AbortError" ? error : unreachable(method);
  }
  if (answer.headers.get("Content-Type")?.startsWith("text/csv")) return text;
  try {
    return text ? JSON.parse(text) : null;
  } catch {
    return null;
  }
}

// A 429 changed nothing. A 503 may have, so only repeatable requests are retried after it.
function isWorthWaiting(method, answer, idempotencyKey) {
  if (answer.status === 429) return true;
  return answer.status === 503 && (method === "GET" || Boolean(idempotencyKey));
}

// As `docs/api.md` asks of every client: at least Retry-After, else 2 to the power of the attempt;
// and a little more, so that many tabs do not come back at once.
function wait(answer, attempt, signal) {
  const seconds = Number(answer.headers.get("Retry-After")) || 2 ** attempt;
  const until = Date.now() + (seconds + Math.random()) * 1000;
  waits.forEach((tell) => tell(until, answer.status));
  return sleep(until - Date.now(), signal);
}

export function sleep(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(new DOMException("The wait was aborted.", "AbortError"));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, milliseconds);
    if (signal?.aborted) stop();
    else signal?.addEventListener("abort", stop, { once: true });
  });
}
