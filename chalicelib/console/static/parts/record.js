// One record of the API on its page: loaded, drawn, edited, saved. Only edited fields are sent. What
// is typed stays through every answer, and a field that someone else changed meanwhile is asked about.

import { toast } from "./notice.js";
import { differing, edited, whichStays } from "./stale.js";
import { held } from "./typed.js";

const only = (names, of) => Object.fromEntries(names.map((name) => [name, of[name]]));

export class Record {
  #form = null;

  // `fields(data)`: the values that can be edited; `draw(record)`: the page, which calls `edits`;
  // `watched(data)`: more values that a conflict shows; `toBody(edited, latest)`: the request's body.
  constructor(visit, { path, what, names, draw, fields, method = "PATCH", ...more }) {
    Object.assign(this, { visit, path, what, names, draw, fields, method });
    this.watched = more.watched ?? (() => ({}));
    this.toBody = more.toBody ?? ((body) => body);
  }

  async load() {
    this.take(await this.visit.get(this.path));
    return this;
  }

  // Draws the record of an answer. `sent`: the names of the fields that were saved by it.
  take({ data, etag }, sent = []) {
    const open = Object.keys(this.unsaved).filter((name) => !sent.includes(name));
    const now = open.length > 0 ? this.fields(data) : {};
    const theirs = differing(only(open, this.#form?.was ?? {}), only(open, now));
    const before = only(theirs, this.#form?.was ?? {});
    Object.assign(this, { data, etag });
    this.#form = null;
    this.draw(this);
    // Typed over what someone else has changed: the next save asks.
    if (this.#form) Object.assign(this.#form.was, before);
  }

  // The form of the record; `read()` returns its values by field.
  edits(node, read) {
    const was = this.fields(this.data);
    this.#form = { node, read, was, first: read() };
    this.visit.guard(
      this.what,
      () => Object.keys(this.unsaved).length > 0,
      `Your changes to this ${this.what} have not been saved.`,
    );
    return node;
  }

  // What its form holds, to be dropped from what a redraw keeps once it is stored.
  #typed() {
    return this.#form ? held(this.#form.node) : new Map();
  }

  get #mine() {
    const { was, first, read } = this.#form;
    return edited(was, first, read());
  }

  // The edited fields that are not saved yet.
  get unsaved() {
    if (!this.#form) return {};
    const mine = this.#mine;
    return only(differing(this.#form.was, mine), mine);
  }

  // Sends what is typed. Resolves to whether it was saved.
  async save() {
    const { was } = this.#form;
    if (Object.keys(this.unsaved).length === 0) {
      toast("There are no changes to save.");
      return true;
    }
    if (differing(was, this.fields(this.data)).length > 0) return this.#decide(this);
    return this.#put(this.unsaved, this);
  }

  async #put(body, latest, success = "Saved.") {
    const sent = this.#typed();
    const mine = this.#form && this.#mine;
    const { method, path } = this;
    const asked = { body: this.toBody(body, latest.data), ifMatch: latest.etag, success };
    try {
      const answer = await this.visit.send(method, path, asked);
      this.#stored(answer, sent, Object.keys(body));
      return true;
    } catch (refusal) {
      if (refusal.status !== 412) throw refusal;
    }
    return this.#decide(await this.visit.get(path), body, mine, success);
  }

  #stored(answer, sent, names) {
    this.visit.stored(sent);
    this.take(answer, names);
  }

  // Someone else saved it first.
  async #decide(latest, body = this.unsaved, mine = this.#mine, success = "Saved.") {
    const sent = this.#typed();
    const names = Object.keys(body);
    const all = (data) => ({ ...this.watched(data), ...this.fields(data) });
    const now = all(latest.data);
    const was = { ...all(this.data), ...this.#form?.was };
    // The answer to the same change was lost.
    if (differing(only(names, now), body).length === 0) {
      this.#stored(latest, sent, names);
      toast(success);
      return true;
    }
    if (differing(was, now).length === 0) return this.#put(body, latest, success);
    const { watched, what } = this;
    const stays = await whichStays(this.visit, {
      was,
      now,
      mine: { ...watched(this.data), ...was, ...mine, ...body },
      names: this.names,
      what,
    });
    if (stays === "theirs") this.#stored(latest, sent, names);
    if (stays === "mine") return this.#put(body, latest, success);
    return stays === "theirs";
  }

  // A change of one part, such as an address. What is typed elsewhere stays.
  async change(body, success) {
    const { method, path } = this;
    const send = ({ etag }) => this.visit.send(method, path, { body, ifMatch: etag, success });
    try {
      this.take(await send(this));
      return true;
    } catch (refusal) {
      if (refusal.status !== 412) throw refusal;
    }
    const latest = await this.visit.get(path);
    const [was, now] = [this.data, latest.data].map((data) => only(Object.keys(body), data));
    const stays =
      differing(was, now).length === 0
        ? "mine"
        : await whichStays(this.visit, { was, now, mine: body, names: this.names, what: this.what });
    if (stays === "theirs") this.take(latest);
    if (stays === "mine") this.take(await send(latest));
    return stays !== null;
  }

  // An action that saves what is typed too, such as shipping. Errors of fields are shown there.
  async act(body, success) {
    const sent = this.#typed();
    const all = { ...this.unsaved, ...body };
    const asked = { body: all, ifMatch: this.etag, success };
    try {
      const answer = await this.visit.send(this.method, this.path, asked);
      this.#stored(answer, sent, Object.keys(all));
    } catch (refusal) {
      if (refusal.status === 422 && refusal.errors.length > 0) this.#form?.node.refuse(refusal);
      throw refusal;
    }
  }
}
