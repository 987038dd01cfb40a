// Who is signed in. The key lives in this tab (sessionStorage), is handed to other tabs of the same
// console while one is open, and is never part of an address.

import { KEY } from "./early.js";
import { ROLES } from "./facts.js";
import * as tabs from "./tabs.js";

const refused = new Set();
let me = null;
let ask = null;
let asking = null;
let given = () => {};
let changed = () => {};

export const key = () => sessionStorage.getItem(KEY);
export const who = () => me;
export const may = (role = ROLES[0]) =>
  me !== null && ROLES.indexOf(me.role) >= ROLES.indexOf(role);

// Uses a key for the next requests, before its owner is known.
export const hold = (newKey) => sessionStorage.setItem(KEY, newKey);

export function begin(newKey, its) {
  hold(newKey);
  me = its;
  tabs.begun(newKey);
  changed();
}

export function forget() {
  if (key()) refused.add(key());
  sessionStorage.removeItem(KEY);
  me = null;
}

export function end() {
  forget();
  sessionStorage.clear(); // what was begun
  tabs.ended();
}

// A key that another tab is signed in with, or null.
export const borrowed = () => tabs.ask([...refused]);

// The key was refused while a page is open: input stays, and the call is repeated with another key
// from another tab or the user. `askForKey` resolves when there is one.
export function whenRefused(askForKey) {
  ask = askForKey;
}

export function another(old) {
  if (key() && key() !== old) return Promise.resolve();
  asking ??= replaced(old).finally(() => (asking = null));
  return asking;
}

async function replaced(old) {
  if (old) refused.add(old);
  await ask(await borrowed());
}

// Calls back when the key has changed, perhaps with another role.
export const whenChanged = (tell) => (changed = tell);

// Calls back with the keys of other tabs while this one waits for a key, one after the other.
export function whenGiven(take) {
  let last = Promise.resolve();
  const next = (key) => (last = last.then(() => given === next && take(key)));
  given = next;
  return () => (given = () => {});
}

export function whenEndedElsewhere(left) {
  tabs.listen({
    held: () => (me ? key() : null),
    given: (theirs) => !refused.has(theirs) && given(theirs),
    ended: () => {
      if (!me) return;
      forget(); // what was begun in this tab stays
      left();
    },
  });
}
