// A visit owns the page's lifetime: what it shows, listens to, requests, opens and waits for
// ends with it. A page that was left draws nothing, leaves no dialog open, and its requests stop.
// A write that was sent still completes, and its outcome is shown on whatever page is open then.

import { call, isLeft, sleep } from "./api.js";
import { h, replace } from "./dom.js";
import { ask, modal } from "./parts/dialog.js";
import { announce, problem, tell, toast } from "./parts/notice.js";
import { head, keepFocus } from "./parts/page.js";
import { held, retype, typedSince } from "./parts/typed.js";
import { go, rewrite } from "./router.js";

const AWAY = 20_000; // milliseconds, after which what a page shows is read again
const SETTLES = 200; // milliseconds, after which an open question looks whether it still matters

let carried = null; // what was typed on a page while its answer led to the next one

export class Visit {
  #left = new AbortController();
  #newest = new Map();
  #unsaved = new Map();
  #running = null;
  #drawn = new Map(); // what each field held when it was drawn, or was stored since

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

  // --- Requests ----------------------------------------------------------------------------------

  // Resolves to { data, etag }, and never after the page was left.
  async get(path, query, signal = this.signal) {
    const answer = await call("GET", path, { query, signal });
    signal.throwIfAborted();
    return answer;
  }

  // The signal of the newest request of its kind: a new one aborts the one before.
  latest(kind) {
    this.#newest.get(kind)?.abort(new DOMException("A newer request replaced it.", "AbortError"));
    const controller = new AbortController();
    this.#newest.set(kind, controller);
    return AbortSignal.any([this.signal, controller.signal]);
  }

  // A change. `success`: the message when it is done, a text or a function of the answer's data.
  async send(method, path, { success, ...request } = {}) {
    return this.finish(call(method, path, request), success);
  }

  // Waits for a change that was started elsewhere, such as an upload.
  async finish(change, success) {
    let answer;
    try {
      answer = await change;
    } catch (refusal) {
      if (this.signal.aborted && !isLeft(refusal)) toast(`${this.title}: ${refusal.message}`, "bad");
      this.#stay();
      throw refusal;
    }
    if (success) toast(typeof success === "function" ? success(answer.data) : success);
    this.#stay();
    return answer;
  }

  // A handler that does not start `work` while it runs, such as after a double click, a repeated key
  // or by a second button. Shows its errors.
  once(work) {
    return async (event) => {
      const button = event.currentTarget;
      // The second half of a double click, which may hit the next button in the same place.
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
        tell(refusal);
      } finally {
        button.ariaBusy = null;
        this.#running = null;
      }
    };
  }

  // --- Drawing -----------------------------------------------------------------------------------

  // What was typed since the page was drawn is kept.
  draw(top, ...content) {
    if (this.signal.aborted) return;
    this.name(top.title);
    const typed = carried?.path === this.path ? carried.typed : typedSince(this.root, this.#drawn);
    carried = null;
    const nodes = [head(top), ...[content].flat(Infinity).filter(Boolean)];
    keepFocus(this.root, () => {
      this.root.replaceChildren(...nodes);
      this.#drawn = held(this.root);
      retype(this.root, typed);
    });
    this.show(this.root);
  }

  // Shows in `node` what `work()` resolves to, or what went wrong, with a button that tries again.
  async fill(node, work) {
    node.ariaBusy = "true";
    try {
      replace(node, await work());
    } catch (refusal) {
      if (isLeft(refusal)) return;
      replace(node, problem(refusal, () => this.fill(node, work)));
    }
    node.ariaBusy = null;
  }

  // These values, of `held`, are saved: the next drawing shows those of the answer.
  stored(values) {
    this.#drawn = new Map([...this.#drawn, ...values]);
  }

  name(title) {
    if (this.signal.aborted) return;
    this.title = title;
    document.title = `${title} · Backroom`;
  }

  // A dialog. What is typed in it is not discarded by Escape or by leaving without a question.
  modal(title, content, options) {
    this.#stay();
    const dialog = modal(title, content, { ...options, signal: this.signal });
    const drawn = held(dialog);
    const kind = `dialog ${dialog.getAttribute("aria-labelledby")}`;
    const isTyped = () => dialog.open && typedSince(dialog, drawn).size > 0;
    const text = "What you entered in this dialog will be lost.";
    this.guard(kind, isTyped, text);
    const closed = new AbortController();
    dialog.addEventListener("close", () => {
      this.saved(kind);
      closed.abort();
    });
    dialog.addEventListener("keydown", async (event) => {
      if (event.key !== "Escape" || event.defaultPrevented || options?.stays || !isTyped()) return;
      event.preventDefault();
      const question = { title: "Discard this?", text, yes: "Discard", no: "Keep", bad: true };
      const yes = await this.ask(question, closed.signal);
      if (yes) dialog.close();
    });
    return dialog;
  }

  // Resolves to whether the answer was yes; leaving is a no, and so is `ends`, a signal.
  ask(question, ends = this.signal) {
    return this.signal.aborted ? Promise.resolve(false) : ask(question, AbortSignal.any([this.signal, ends]));
  }

  // --- Waiting and listening ---------------------------------------------------------------------

  // Among the options, a `signal` of `latest` ends it before the page is left.
  listen(target, type, listener, options) {
    target.addEventListener(type, listener, { signal: this.signal, ...options });
  }

  // Calls `work` when the user comes back to the tab, unless that would disturb unsaved input.
  whenBack(work) {
    let left = null;
    this.listen(document, "visibilitychange", () => {
      if (document.hidden) left = Date.now();
      else if (left && Date.now() - left > AWAY && this.unsaved === null) work();
    });
  }

  sleep(milliseconds, signal = this.signal) {
    return sleep(milliseconds, signal);
  }

  // Runs `work` after a pause without another call.
  after(milliseconds, kind, work) {
    this.sleep(milliseconds, this.latest(kind)).then(work, () => {});
  }

  // --- Addresses and leaving ---------------------------------------------------------------------

  // To another page. If other input is unsaved, the user is asked first.
  go(path, query) {
    if (!this.signal.aborted) go(path, query);
  }

  // To the record that was made from the values of `sent`: what was typed since goes with it.
  goOn(path, kind, sent) {
    if (this.signal.aborted) return;
    this.stored(sent);
    this.saved(kind);
    carried = { path, typed: typedSince(this.root, this.#drawn) };
    go(path);
  }

  // Updates the address while the user types, without a history entry for each letter.
  rewrite(query) {
    if (!this.signal.aborted) rewrite(this.path, query);
  }

  // `isUnsaved` returns whether leaving would lose input; `text` describes that input.
  guard(kind, isUnsaved, text) {
    this.#unsaved.set(kind, { isUnsaved, text });
  }

  // What is kept of it in this tab, when the user leaves without saving.
  forget = () => {};

  saved(kind) {
    if (kind) this.#unsaved.delete(kind);
    else this.#unsaved.clear();
  }

  // The input that would be lost by leaving, or null.
  get unsaved() {
    return [...this.#unsaved.values()].find(({ isUnsaved }) => isUnsaved())?.text ?? null;
  }

  // Resolves to whether the user leaves. The question ends when a save that was under way ends well: nothing is lost then.
  async mayLeave(yes = "Leave", title = "Leave without saving?") {
    const text = this.unsaved;
    if (text === null) return true;
    const question = new AbortController();
    const asked = this.ask({ title, text, yes, no: "Stay", bad: true }, question.signal);
    let isOpen = true;
    asked.then(() => (isOpen = false));
    while (isOpen && !this.signal.aborted) {
      await Promise.race([asked, sleep(SETTLES)]);
      if (!isOpen || this.unsaved !== null) continue;
      question.abort();
      return true;
    }
    return asked;
  }
}
