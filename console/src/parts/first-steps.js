// The first steps in an empty shop.

import { h } from "../dom.js";
import { link } from "../router.js";
import { may } from "../session.js";
import { card } from "./page.js";

export function firstSteps() {
  const step = (text, ...links) => h.li(h.p(text), h.div({ class: "actions" }, links));
  const to = (path, name, main) => h.a({ class: `button ${main ?? ""}`, href: link(path) }, name);
  return card(
    "Get started",
    h.ol(
      { class: "first-steps" },
      step(
        "Add what you sell.",
        to("/import", "Import products", "main"),
        to("/products/new", "Add product"),
      ),
      step("Record a sale.", to("/orders/new", "Create order")),
      may("ADMIN") &&
        step(
          "Connect your other systems.",
          to("/settings/developer/webhooks", "Add webhook"),
        ),
    ),
  );
}
