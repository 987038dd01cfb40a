// The frame around every page: menu by role, skip link, shortcuts, and the screen reader's announcements.

import { button, h, replace } from "./dom.js";
import { TIMEZONE } from "./facts.js";
import { words } from "./format.js";
import { MENU } from "./navigation.js";
import { icon } from "./parts/icon.js";
import { live, toast } from "./parts/notice.js";
import { link, match } from "./router.js";
import { may, who } from "./session.js";

// Fields in which a key press is text input; not checkboxes or buttons.
const TYPING =
  "textarea, select, dialog, [contenteditable], input:not([type=checkbox], [type=radio], [type=button], [type=submit], [type=file])";

// Keys typed before the search is loaded are typed into it.
async function search() {
  let typed = "";
  let isEntered = false;
  const keep = (event) => {
    if (event.ctrlKey || event.metaKey) return;
    if (event.key === "Enter") isEntered = true;
    else if (event.key.length === 1 && !isEntered) typed += event.key;
    else return;
    event.preventDefault();
  };
  document.addEventListener("keydown", keep, { capture: true });
  try {
    const { openSearch } = await import("./search.js");
    openSearch(typed, isEntered);
  } catch {
    toast("The search could not be loaded.", "bad", ["Reload the page", () => location.reload()]);
  } finally {
    document.removeEventListener("keydown", keep, { capture: true });
  }
}

export function drawShell({ signOut }) {
  const main = h.main({ id: "main", tabindex: "-1" });
  const menu = h.nav({ id: "menu", "aria-label": "Console" });
  const toggle = button([icon("menu"), "Menu"], () => open(toggle.getAttribute("aria-expanded") !== "true"), {
    class: "quiet menu-button",
    "aria-expanded": "false",
    "aria-controls": "menu",
  });
  const open = (is) => {
    toggle.setAttribute("aria-expanded", String(is));
    document.body.classList.toggle("menu-open", is);
  };
  const skip = h.a(
    {
      class: "skip",
      href: "#main",
      onclick: (event) => {
        event.preventDefault();
        main.focus();
      },
    },
    "Skip to the content",
  );
  const me = h.div({ class: "me" });
  replace(
    document.body,
    skip,
    h.header(
      { class: "side" },
      h.div(
        { class: "bar" },
        h.a(
          { class: "brand", href: link("/") },
          h.span({ class: "mark", "aria-hidden": "true" }),
          "Backroom",
        ),
        button(icon("search"), search, {
          class: "quiet",
          "aria-label": "Search everything",
          title: "Search everything ( / )",
        }),
        toggle,
      ),
      h.div({ class: "drawer" }, menu, me),
    ),
    main,
    live(),
  );
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") open(false);
    // A key that is held down counts once.
    if (event.key === "Enter" && event.repeat && !event.target.matches?.("textarea"))
      event.preventDefault();
    const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey;
    const isSearch = isPlain
      ? event.key === "/" && !event.target.closest?.(TYPING)
      : event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey);
    if (!isSearch || document.querySelector("dialog[open]")) return;
    event.preventDefault();
    search();
  });

  // By the key's role, which changes with another key.
  function drawMenu() {
    replace(menu, MENU.map(section));
    replace(
      me,
      h.div(h.b(h.bdi(who().name)), h.span({ class: "soft small" }, `${words(who().role)} · ${TIMEZONE}`)),
      button("Sign out", signOut, { class: "quiet small" }),
    );
  }

  function arrived(path) {
    open(false);
    for (const each of menu.querySelectorAll("a")) {
      const own = each.getAttribute("href").slice(1);
      const here = own === "/" ? path === "/" : path === own || path.startsWith(`${own}/`);
      if (here) each.setAttribute("aria-current", path === own ? "page" : "true");
      else each.removeAttribute("aria-current");
    }
  }

  drawMenu();
  return { main, arrived, drawMenu };
}

function section({ title, items }) {
  const open = items.filter(([path]) => may(match(path).role));
  if (open.length === 0) return null;
  return [
    title && h.h2(title),
    h.ul(open.map(([path, name, sign]) => h.li(h.a({ href: path.startsWith("/") ? link(path) : new URL(path, document.baseURI).href }, icon(sign), name)))),
  ];
}
