// Starts the console: signs in, then shows the shell, then the page of the address.

import { call, isLeft, onWait, reach } from "./api.js";
import { h, replace } from "./dom.js";
import { taken } from "./early.js";
import { again, current, link, start } from "./router.js";
import * as session from "./session.js";
import { drawShell } from "./shell.js";
import { openSignIn, signInPage } from "./sign-in.js";
import { Visit } from "./visit.js";
import { show as home } from "./pages/home.js";
import { problem, problemTitle, waiting } from "./parts/notice.js";
import { skeleton } from "./parts/page.js";

const SKELETON_AFTER = 80; // milliseconds in which nothing was drawn
const LISTS = ["customers", "orders", "products"];
const PRODUCTION = ["due", "production"];
const RECORDS = ["customer", "new-order", "order"];
const STOCK = ["carriers", "count", "counts", "low-stock", "product", "receive", "stages"];

let visit = null;

async function begin() {
  const key = session.key() ?? (await session.borrowed());
  if (!key) return signInPage(enter);
  try {
    const via = (...asked) => taken()?.catch(() => reach(...asked)) ?? reach(...asked);
    const { data } = await call("GET", "admin/me", { key, via });
    session.begin(key, data);
  } catch (refusal) {
    if (refusal.status !== 401) return outage(refusal);
    session.hold(key);
    session.forget();
    return (await session.borrowed())
      ? begin()
      : signInPage(enter, "This API key is no longer valid.");
  }
  enter();
}

// The key stays: an outage is no reason to enter it again.
function outage(refusal) {
  document.title = `${problemTitle(refusal)} · Backroom`;
  const retry = () => location.reload();
  addEventListener("online", retry, { once: true });
  replace(
    document.body,
    h.main(
      { class: "sign-in" },
      h.h1(h.span({ class: "mark", "aria-hidden": "true" }), "Backroom"),
      problem(refusal, retry),
    ),
  );
  document.querySelector("button")?.focus();
}

function enter() {
  const { main, arrived, drawMenu } = drawShell({ signOut });
  session.whenChanged(() => {
    drawMenu();
    arrived(current().split("?")[0]);
  });
  start({
    visit: () => visit,
    show: (found, y) => showPage(main, arrived, found, y),
  });
}

async function showPage(main, arrived, found, y) {
  const isFirst = visit === null;
  visit?.leave();
  let isDrawn = false;
  const mine = new Visit(found, (root) => {
    if (isDrawn) return;
    isDrawn = true;
    clearTimeout(blank);
    replace(main, root);
    scrollTo(0, 0);
    if (!isFirst) root.querySelector("h1")?.focus({ preventScroll: true });
  });
  visit = mine;
  const { signal } = mine;
  const blank = setTimeout(() => {
    if (!signal.aborted) replace(main, skeleton());
  }, SKELETON_AFTER);
  signal.addEventListener("abort", () => clearTimeout(blank));
  arrived(found.path);
  main.setAttribute("aria-busy", "true");
  const page = session.may(found.role) ? found.page : "nowhere";
  mine.root.dataset.page = page; // as the rules of its print name it
  try {
    const show = await load(page);
    signal.throwIfAborted();
    await show(mine);
  } catch (error) {
    if (signal.aborted || isLeft(error)) return;
    unshown(mine, error);
  }
  if (signal.aborted) return;
  main.removeAttribute("aria-busy");
  // Not if the user scrolled meanwhile.
  if (scrollY === 0) scrollTo(0, y);
}

function importScriptOf(page) {
  if (page === "home") return { home };
  if (LISTS.includes(page)) return import("./lists.js");
  if (STOCK.includes(page)) return import("./stock.js");
  if (PRODUCTION.includes(page)) return import("./production.js");
  if (RECORDS.includes(page)) return import("./records.js");
  return page === "reports" ? import("./reports.js") : import("./rest.js");
}

// Returns what shows the page. The loaded files may be of an old version: one reload loads the new ones.
async function load(page) {
  try {
    const script = await importScriptOf(page);
    sessionStorage.removeItem("backroom-reloaded");
    return script[page];
  } catch (error) {
    if (navigator.onLine && sessionStorage.getItem("backroom-reloaded") !== page) {
      sessionStorage.setItem("backroom-reloaded", page);
      location.reload();
      await new Promise(() => {});
    }
    throw Object.assign(error, {
      code: "unreachable",
      message: "A part of the console could not be loaded. Check the connection and try again.",
    });
  }
}

// A page that could not be loaded shows its name, a retry and a link back.
function unshown(mine, error) {
  if (error.status === undefined && !error.code) {
    console.error(error);
    error = { message: "The console could not show this page." };
  }
  const up = mine.path.slice(0, mine.path.lastIndexOf("/"));
  const back = { "/orders": "Orders", "/products": "Products", "/customers": "Customers" }[up];
  mine.draw(
    { title: problemTitle(error) },
    problem(error, again, back ? [link(up), back] : [link("/"), "Home"]),
  );
}

async function signOut() {
  if (visit?.unsaved && !(await visit.mayLeave("Sign out", "Sign out without saving?"))) return;
  const begun = { title: "Sign out?", text: "What was begun in this tab will be lost.", yes: "Sign out", bad: true };
  const isBegun = Object.keys(sessionStorage).some((name) => name.startsWith("backroom-draft"));
  if (!visit?.unsaved && isBegun && !(await visit.ask(begun))) return;
  leave();
}

function leave() {
  visit?.saved();
  session.end();
  history.replaceState(null, "", "#/");
  location.reload();
}

// Another tab signed out. Unsaved input stays here until the user signs in again or leaves.
async function endedElsewhere() {
  if (!visit?.unsaved) location.reload();
  else await session.another(null);
}

onWait(waiting);
session.whenRefused(openSignIn);
session.whenEndedElsewhere(endedElsewhere);
begin();
