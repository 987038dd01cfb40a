// A card of records that loads itself: the newest first, older ones after a click.

import { isLeft } from "../api.js";
import { button, h, replace } from "../dom.js";
import { problem } from "./notice.js";
import { card, skeleton } from "./page.js";

// `draw(rows)` makes the nodes of all that were read so far; `none`: what is said if there are none.
export function walked(visit, title, { path, query, draw, none }) {
  const body = h.div(skeleton(2));
  const rows = [];
  load("*");
  return card(title, body);

  async function load(cursor) {
    try {
      const { data } = await visit.get(path, { ...query, cursor });
      const { next } = data.pagination;
      rows.push(...data.data);
      const older = next && button("Older", visit.once(() => load(next)), { class: "quiet" });
      replace(body, rows.length > 0 ? draw(rows) : h.p({ class: "soft" }, none), older);
    } catch (refusal) {
      if (!isLeft(refusal)) replace(body, problem(refusal, () => load(cursor)));
    }
  }
}
