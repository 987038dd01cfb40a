// Messages: read by screen readers, shown for a while. Problems stay.

import { isLeft } from "../api.js";
import { button, h, newId, replace } from "../dom.js";

const SEEN = 6; // seconds
const FAILURE_SEEN = 12;
const OFFER_SEEN = 30;

let status = null;
let toasts = null;
let counting = null;

export function live() {
  status = h.div({ role: "status", "aria-live": "polite", class: "unseen" });
  toasts = h.div({ class: "toasts" });
  const offline = h.p({ class: "offline", role: "alert", hidden: navigator.onLine });
  const tell = () => {
    offline.hidden = navigator.onLine;
    replace(offline, !navigator.onLine && "You are offline. Changes cannot be saved until you are online again.");
  };
  addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.key !== "z" || event.target.matches("input:not([type=checkbox]), textarea"))
      return;
    [...toasts.querySelectorAll("button")].at(-1)?.click();
  });
  addEventListener("online", tell);
  addEventListener("offline", tell);
  tell();
  return [status, toasts, offline];
}

// For screen readers only, such as the number of products found.
export function announce(text) {
  if (status) status.textContent = text;
}

// `action`: [name, what it does], such as an undo. Ctrl+Z does it too.
export function toast(text, tone = "", action = null) {
  announce(text);
  const shown = h.div(
    { class: `toast ${tone}` },
    h.span(text),
    action &&
      button(
        action[0],
        () => {
          shown.remove();
          action[1]();
        },
        { class: "small" },
      ),
  );
  toasts?.append(shown);
  // Only seconds count in which somebody can read it: none of a tab in the background, none while the page is too
  // busy to show anything. While it is pointed at or used, it stays.
  let left = action ? OFFER_SEEN : tone === "bad" ? FAILURE_SEEN : SEEN;
  const ticking = setInterval(() => {
    if (shown.matches(":hover, :focus-within")) left = SEEN;
    else if (!document.hidden) left -= 1;
    if (left > 0) return;
    clearInterval(ticking);
    shown.remove();
  }, 1000);
}

// What went wrong, unless the page was left.
export const tell = (refusal) => isLeft(refusal) || toast(refusal.message, "bad");

// The key's requests of this minute are used up (429), or the service has no capacity (503): pending
// requests continue automatically.
export function waiting(until, status) {
  clearInterval(counting);
  toasts?.querySelector(".waiting")?.remove();
  const left = h.span();
  const why =
    status === 429
      ? "This key has reached its limit of requests per minute."
      : "The service is busy at the moment.";
  const shown = h.div(
    { class: "toast waiting" },
    h.span(why, " Continuing in ", left, "."),
  );
  const count = () => {
    const seconds = Math.ceil((until - Date.now()) / 1000);
    replace(left, `${Math.max(seconds, 0)} s`);
    if (seconds > 0) return;
    clearInterval(counting);
    shown.remove();
  };
  count();
  counting = setInterval(count, 1000);
  toasts?.append(shown);
  announce(`${why} Continuing in a moment.`);
}

export const problemTitle = ({ status, code }) =>
  status === 404
    ? "Not found"
    : code === "unreachable"
      ? navigator.onLine
        ? "No connection to the service"
        : "You are offline"
      : "This could not be loaded";

// A page or part that could not be shown; `again` retries, `back` is [address, name].
export function problem(error, again, back) {
  const id = newId("problem");
  const isGone = error.status === 404;
  const node = h.section(
    { class: "notice bad", role: "alert", "aria-labelledby": id },
    h.h2({ id }, problemTitle(error)),
    h.p(error.message),
    h.div(
      { class: "actions" },
      again && !isGone && button("Try again", again, { class: "main" }),
      back && h.a({ class: "button", href: back[0] }, back[1]),
    ),
  );
  const isOffline = again && error.code === "unreachable";
  if (isOffline) addEventListener("online", () => node.isConnected && again(), { once: true });
  return node;
}
