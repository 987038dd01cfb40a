// News: spoken by screen readers, seen for a while. And problems, which stay.

import { h, newId, replace } from "../dom.js";

let status = null;
let toasts = null;
let counting = null;

export function live() {
  status = h.div({ role: "status", "aria-live": "polite", class: "unseen" });
  toasts = h.div({ class: "toasts" });
  return [status, toasts];
}

// For what is seen anyway, such as how many products were found.
export function announce(text) {
  if (status) status.textContent = text;
}

export function toast(text) {
  announce(text);
  const shown = h.div({ class: "toast" }, text);
  toasts.append(shown);
  setTimeout(() => shown.remove(), 6000);
}

// The key's requests of this minute are used up: what was asked goes on by itself.
export function waiting(until) {
  clearInterval(counting);
  toasts?.querySelector(".waiting")?.remove();
  const left = h.span();
  const shown = h.div(
    { class: "toast waiting" },
    "The key's requests of this minute are used up. Going on in ",
    left,
    ".",
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
  announce("The limit of requests is reached. Going on in a moment.");
}

// A page or part that could not be shown.
export function problem(error, again) {
  const id = newId("problem");
  const request = error.headers?.get?.("X-Request-Id");
  return h.section(
    { class: "notice bad", role: "alert", "aria-labelledby": id },
    h.h1(
      { id, tabindex: "-1" },
      error.status === 404 ? "There is nothing here" : "That did not work",
    ),
    h.p(error.message),
    request && error.status >= 500 && h.p({ class: "soft small" }, `Request ${request}`),
    again && h.button({ type: "button", onclick: again }, "Try again"),
  );
}
