// A card of records that loads itself: the newest first, older ones after a click.

import { button, h } from "../dom.js";
import { card, skeleton } from "./page.js";

// `draw(rows)` makes the nodes of all that were read so far; `none`: what is said if there are none.
export function walked(visit, title, { path, query, draw, none }) {
  const body = h.div(skeleton(2));
  const rows = [];
  load("*");
  return card(title, body);

  function load(cursor) {
    return visit.fill(body, async () => {
      const { data } = await visit.get(path, { ...query, cursor });
      const { next } = data.pagination;
      rows.push(...data.data);
      const older = next && button("Older", visit.once(() => load(next)), { class: "quiet" });
      return [rows.length > 0 ? await draw(rows) : h.p({ class: "soft" }, none), older];
    });
  }
}
