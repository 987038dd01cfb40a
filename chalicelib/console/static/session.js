// Who is signed in. The key lives in this tab (sessionStorage): closing it signs out, and it is
// never part of an address.

const KEY = "backroom-key";
const RANKS = ["STAFF", "ADMIN", "OWNER"];

let me = null;
let ask = null;
let asking = null;

export const key = () => sessionStorage.getItem(KEY);
export const who = () => me;
export const may = (role = "STAFF") =>
  me !== null && RANKS.indexOf(me.role) >= RANKS.indexOf(role);

export function begin(newKey, its) {
  sessionStorage.setItem(KEY, newKey);
  me = its;
}

export function end() {
  sessionStorage.removeItem(KEY);
  me = null;
}

// The key was revoked while a page is open: what is typed there stays, and the call goes on with
// another key. `askForKey` resolves when there is one.
export function whenRefused(askForKey) {
  ask = askForKey;
}

export function another() {
  asking ??= ask().finally(() => (asking = null));
  return asking;
}
