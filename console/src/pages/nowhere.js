// Shown where there is no page, and instead of one whose calls the API would refuse.

import { h } from "../dom.js";
import { words } from "../format.js";
import { empty } from "../parts/page.js";
import { link } from "../router.js";
import { who } from "../session.js";

export function show(visit) {
  const { role } = visit;
  const { name, role: own } = who();
  const home = h.a({ class: "button", href: link("/") }, "Home");
  visit.draw(
    { title: role ? "No access" : "Page not found" },
    role
      ? empty(
          `This page needs an API key with the ${words(role)} role`,
          `You are signed in as ${name}, with the ${words(own)} role. An Owner can create another key.`,
          home,
        )
      : empty("There is no page at this address", "It may be mistyped or out of date.", home),
  );
}
