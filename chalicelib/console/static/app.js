// Starts the console: who is it, then the shell, then the page of the address.

import { get, onWait } from "./api.js";
import { replace } from "./dom.js";
import { openSignIn, signInPage } from "./sign-in.js";
import { start } from "./router.js";
import * as session from "./session.js";
import { drawShell } from "./shell.js";
import { problem, waiting } from "./parts/notice.js";

let leaving = new AbortController();

async function begin() {
  if (!session.key()) return signInPage(enter);
  try {
    const { data } = await get("admin/me");
    session.begin(session.key(), data);
  } catch (refusal) {
    if (refusal.status !== 401) return signInPage(enter, refusal.message);
    session.end();
    return signInPage(enter, "That key opens nothing any more.");
  }
  enter();
}

function enter() {
  const { main, arrived } = drawShell(signOut);
  let left = null;
  start(async ({ page: asked, path, params, query, role }, y) => {
    const page = session.may(role) ? asked : "forbidden";
    leaving.abort();
    leaving = new AbortController();
    const { signal } = leaving;
    arrived(path);
    main.setAttribute("aria-busy", "true");
    try {
      const { show } = await import(`./pages/${page}.js`);
      if (!signal.aborted) await show(main, { path, params, query, role, signal });
    } catch (error) {
      if (signal.aborted || error.name === "AbortError") return;
      // Its files are of a version that was replaced: the new page brings the new ones, once.
      if (error instanceof TypeError && /import|module/i.test(error.message) && left !== page) {
        location.reload();
      }
      replace(main, problem(error));
    } finally {
      if (!signal.aborted) {
        main.removeAttribute("aria-busy");
        if (left !== null) main.querySelector("h1")?.focus({ preventScroll: true });
        scrollTo(0, y);
        left = page;
      }
    }
  });
}

function signOut() {
  session.end();
  location.hash = "";
  location.reload();
}

onWait(waiting);
session.whenRefused(openSignIn);
begin();
