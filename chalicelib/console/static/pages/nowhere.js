import { h } from "../dom.js";
import { draw, empty } from "../parts/page.js";
import { link } from "../router.js";

export function show(main) {
  draw(
    main,
    { title: "There is no such page" },
    empty(
      "The address leads nowhere",
      "It may be mistyped, or of an older version.",
      h.a({ class: "button", href: link("/") }, "Home"),
    ),
  );
}
