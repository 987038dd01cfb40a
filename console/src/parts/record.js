// One record of the API on its page: loaded, drawn, edited, saved. Only edited fields are sent. What
// is typed stays through every answer, and a field that someone else changed meanwhile is asked about.

import { h } from "../dom.js";
import { draftOf, dropDraft } from "./draft.js";
import { refused } from "./form.js";
import { toast } from "./notice.js";
import { differing, edited, has, overlap, pickChanges, whichStays } from "./stale.js";
import { held } from "./typed.js";

const only = (names, of) => Object.fromEntries(names.map((name) => [name, of[name]]));

export class Record {
  #form = null;

  // `fields(data)`: the values that can be edited; `draw(sent)`: the page, which calls `edits`, when these were saved;
  // `watched(data)`: more values that a conflict shows; `toBody(edited, latest)`: the request's body.
  constructor(visit, { path, what, draw, fields, method = "PATCH", ...more }) {
    Object.assign(this, { visit, path, what, draw, fields, method });
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
    this.draw(sent);
    // Typed over what someone else has changed: the next save asks.
    if (this.#form) Object.assign(this.#form.was, before);
  }

  // The form of the record; `read()` returns its values by field.
  edits(node, read) {
    const was = this.fields(this.data);
    this.#form = { node, read, was, first: read() };
    node.id = `edited-${this.what}`;
    this.visit.guard(
      this.what,
      () => Object.keys(this.unsaved).length > 0,
      `Your changes to this ${this.what} have not been saved.`,
    );
    return node;
  }

  // Keeps what is typed into the form, `node`, in its tab. `lists`: its rows.
  draft(node, lists = []) {
    const was = () => only(Object.keys(this.unsaved), this.#form.was);
    const resume = (before) => Object.assign(this.#form.was, before);
    return draftOf(this.visit, node, { lists, was, resume });
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
    return pickChanges(this.#form.was, this.#mine);
  }

  // Sends what is typed. Resolves to whether it was saved.
  async save() {
    const body = this.unsaved;
    const values = (data) => ({ ...this.watched(data), ...this.fields(data) });
    const change = { body, values, mine: this.#mine, sent: this.#typed(), success: "Saved." };
    if (Object.keys(body).length === 0) {
      toast("There are no changes to save.");
      return true;
    }
    if (differing(this.#form.was, this.fields(this.data)).length > 0) return this.#decide(change, this);
    return this.#put(change, this);
  }

  // A change of one part, such as an address. What is typed elsewhere stays.
  change(body, success) {
    const values = (data) => only(Object.keys(body), data);
    return this.#put({ body, values, mine: body, sent: new Map(), success }, this);
  }

  // An action that saves what is typed too, such as shipping. Errors of fields are shown there.
  async act(body, success) {
    const change = { body: { ...this.unsaved, ...body }, sent: this.#typed(), success };
    try {
      await this.#send(change, this);
    } catch (refusal) {
      if (refusal.status === 412) {
        const latest = await this.visit.get(this.path);
        if (this.#wasDone(change, latest.data, latest)) return;
      }
      if (refusal.status === 422 && refusal.errors.length > 0 && this.#form) refused(this.#form.node, refusal);
      throw refusal;
    }
  }

  async #send({ body, sent, success }, { data, etag }) {
    const asked = { body: this.toBody(body, data), ifMatch: etag, success };
    this.#stored(await this.visit.send(this.method, this.path, asked), body, sent);
  }

  #stored(answer, body, sent) {
    this.visit.stored(sent);
    this.take(answer, Object.keys(body));
  }

  // Whether the latest values are those of the change, whose answer was lost.
  #wasDone({ body, sent, success }, now, latest) {
    if (!has(now, this.toBody(body, this.data))) return false;
    this.#stored(latest, body, sent);
    toast(success);
    return true;
  }

  async #put(change, latest) {
    try {
      await this.#send(change, latest);
      return true;
    } catch (refusal) {
      if (refusal.status !== 412) throw refusal;
    }
    return this.#decide(change, await this.visit.get(this.path));
  }

  // Someone else saved it first. `values(data)`: what is compared; `mine`: what the user has of it.
  async #decide(change, latest) {
    const { body, values, mine, sent } = change;
    const now = values(latest.data);
    const was = only(Object.keys(now), { ...values(this.data), ...this.#form?.was });
    if (this.#wasDone(change, now, latest)) return true;
    const asked = { was, now, mine: { ...was, ...mine, ...body }, what: this.what };
    // What nobody else has changed asks nothing, and what others changed stays.
    if (!overlap(asked).some(({ both }) => both)) return this.#put(change, latest);
    const stays = await whichStays(this.visit, asked);
    if (stays === "mine") return this.#put(change, latest);
    if (stays === "theirs") this.#stored(latest, body, sent);
    return stays === "theirs";
  }

  // After a question. `up`: the list that is shown then; `text`: what stays.
  async remove(up, text = null, name = this.visit.title) {
    const { path, visit, etag, what } = this;
    const question = [text && h.div(text), h.p("This cannot be undone.")];
    if (!(await visit.ask({ title: `Delete ${name}?`, text: question, yes: "Delete", bad: true }))) return;
    try {
      await visit.send("DELETE", path, { ifMatch: etag, success: `${visit.title} deleted.` });
    } catch (refusal) {
      if (refusal.status === 412) await this.load();
      throw refusal;
    }
    visit.saved(what);
    visit.go(up);
  }
}

// Makes a record of what a form holds, and shows its page, or what `made(data, sent)` does. `idempotencyKey`: the
// same for each try, so that one after a lost answer makes no second record. `found`: [address, name] of where it is.
export async function create(visit, what, { form, found, made, ...asked }) {
  const sent = held(form);
  const shown = ({ id }) => visit.goOn(`/${what}s/${id}`, what, sent);
  try {
    const { data } = await visit.send("POST", `admin/${what}s`, asked);
    dropDraft(visit);
    await (made ?? shown)(data, sent);
  } catch (refusal) {
    if (refusal.code === "idempotency_key_reused") {
      refusal.message = `This ${what} was already created, before your last changes.`;
      refusal.link = found;
    }
    throw refusal;
  }
}
