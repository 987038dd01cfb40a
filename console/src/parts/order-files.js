// The files on an order's page. Their script is loaded if there are some.

import { button, h } from "../dom.js";
import { loadUploads } from "./dialogs.js";
import { card } from "./page.js";
import { may } from "../session.js";

// `lines()`: those of the order. The card outlives each drawing of the page.
export function filesCard(visit, orderId, lines) {
  const body = h.form({ onsubmit: (event) => event.preventDefault() }); // which is not printed
  const open = async (found) => (await loadUploads()).drawFiles(visit, orderId, { lines, found });
  visit.fill(body, async () => {
    const { data: found } = (await visit.get(`admin/orders/${encodeURIComponent(orderId)}/files`)).data;
    if (found.length > 0) return open(found);
    if (!may("STAFF")) return h.p({ class: "soft" }, "No files.");
    const begin = async () => (await visit.fill(body, () => open(found)), body.querySelector("button")?.focus());
    return button("Add files", visit.once(begin), { class: "small" });
  });
  return card("Files", body);
}
