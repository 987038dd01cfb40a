import { h } from "../dom.js";
import { empty } from "../parts/page.js";
import { link } from "../router.js";

export function show(visit) {
  visit.draw(
    { title: "Page not found" },
    empty(
      "There is no page at this address",
      "It may be mistyped or out of date.",
      h.a({ class: "button", href: link("/") }, "Home"),
    ),
  );
}
