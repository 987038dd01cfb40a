// One visit to a page owns the page's life: what it shows, listens to, asks for, opens and waits for
// ends with it. A page that was left draws nothing, leaves no dialog open, and its requests stop.
// A write that is on its way goes on, and its outcome is told wherever the reader is by then.

import { call, isLeft, sleep } from "./api.js";
import { h } from "./dom.js";
import { ask, modal } from "./parts/dialog.js";
import { announce, toast } from "./parts/notice.js";
import { head, keepFocus } from "./parts/page.js";
import { go, rewrite } from "./router.js";

export class Visit {
  #left = new AbortController();
  #newest = new Map();
  #unsaved = new Map();
  #running = null;

  // `show(root)` puts the page on the screen; it is called with the first thing that is drawn.
  constructor({ path, params, query, role }, show) {
    Object.assign(this, { path, params, query, role, title: "" });
    this.root = h.div({ class: "visit" });
    this.show = show;
  }

  get signal() {
    return this.#left.signal;
  }

  leave() {
    this.root.inert = true;
    this.#left.abort(new DOMException("The page was left.", "AbortError"));
  }

  #stay() {
    this.signal.throwIfAborted();
  }

  // --- What it asks for --------------------------------------------------------------------------

  // Resolves to { data, etag }, and never after the page was left.
  async get(path, query, signal = this.signal) {
    const answer = await call("GET", path, { query, signal });
    signal.throwIfAborted();
    return answer;
  }

  // The signal of the newest of its kind: asking again ends what was asked before.
  latest(kind) {
    this.#newest.get(kind)?.abort(new DOMException("Something newer was asked.", "AbortError"));
    const controller = new AbortController();
    this.#newest.set(kind, controller);
    return AbortSignal.any([this.signal, controller.signal]);
  }

  // A change. `told`: what to say when it is done, a text or made of the answer's data.
  async send(method, path, { told, ...request } = {}) {
    return this.finish(call(method, path, request), told);
  }

  // Waits for a change that was begun otherwise, such as an upload.
  async finish(change, told) {
    let answer;
    try {
      answer = await change;
    } catch (refusal) {
      if (this.signal.aborted && !isLeft(refusal)) toast(`${this.title}: ${refusal.message}`, "bad");
      this.#stay();
      throw refusal;
    }
    if (told) toast(typeof told === "function" ? told(answer.data) : told);
    this.#stay();
    return answer;
  }

  // Makes a handler of `work`, which runs once however often it is asked for: a double click, a
  // key that repeats or a second button does not start it again. What it throws is told.
  once(work) {
    return async (event) => {
      const button = event.currentTarget;
      // The second half of a double click, which may meet the next button in the same place.
      if (event.detail > 1) return;
      if (this.#running) {
        if (this.#running !== button) announce("Still working on the last action.");
        return;
      }
      this.#running = button;
      button.ariaBusy = "true";
      try {
        await work(event);
      } catch (refusal) {
        if (!isLeft(refusal)) toast(refusal.message, "bad");
      } finally {
        button.ariaBusy = null;
        this.#running = null;
      }
    };
  }

  // --- What it shows -----------------------------------------------------------------------------

  draw(top, ...content) {
    if (this.signal.aborted) return;
    this.name(top.title);
    keepFocus(this.root, () => this.root.replaceChildren(head(top), ...[content].flat(Infinity).filter(Boolean)));
    this.show(this.root);
  }

  name(title) {
    if (this.signal.aborted) return;
    this.title = title;
    document.title = `${title} · Backroom`;
  }

  modal(title, content, options) {
    this.#stay();
    return modal(title, content, { ...options, signal: this.signal });
  }

  // Resolves to whether the answer was yes; leaving is a no.
  ask(question) {
    return this.signal.aborted ? Promise.resolve(false) : ask(question, this.signal);
  }

  // --- What it waits for and listens to ----------------------------------------------------------

  listen(target, type, listener, options) {
    target.addEventListener(type, listener, { ...options, signal: this.signal });
  }

  sleep(milliseconds, signal = this.signal) {
    return sleep(milliseconds, signal);
  }

  // Runs `work` after a pause in which it was not asked for again.
  after(milliseconds, kind, work) {
    this.sleep(milliseconds, this.latest(kind)).then(work, () => {});
  }

  // --- Where it leads ----------------------------------------------------------------------------

  go(path, query) {
    if (this.signal.aborted) return;
    this.saved();
    go(path, query);
  }

  // The address follows what is typed, without a step back for each letter.
  rewrite(query) {
    if (!this.signal.aborted) rewrite(this.path, query);
  }

  // `isUnsaved` says whether leaving would lose something; `text` what.
  guard(kind, isUnsaved, text) {
    this.#unsaved.set(kind, { isUnsaved, text });
  }

  saved(kind) {
    if (kind) this.#unsaved.delete(kind);
    else this.#unsaved.clear();
  }

  // What would be lost by leaving, or null.
  get unsaved() {
    return [...this.#unsaved.values()].find(({ isUnsaved }) => isUnsaved())?.text ?? null;
  }

  mayLeave(yes = "Leave", title = "Leave without saving?") {
    const text = this.unsaved;
    return text === null
      ? Promise.resolve(true)
      : this.ask({ title, text, yes, no: "Stay", bad: true });
  }
}
