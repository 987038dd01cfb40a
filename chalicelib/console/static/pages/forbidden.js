// Shown instead of a page whose calls the API would refuse.

import { h } from "../dom.js";
import { words } from "../format.js";
import { empty } from "../parts/page.js";
import { link } from "../router.js";
import { who } from "../session.js";

export function show(visit) {
  const { role } = visit;
  const { name, role: own } = who();
  visit.draw(
    { title: "No access" },
    empty(
      `This page needs an API key with the ${words(role)} role`,
      `You are signed in as ${name}, with the ${words(own)} role. An Owner can create another key.`,
      h.a({ class: "button", href: link("/") }, "Home"),
    ),
  );
}
