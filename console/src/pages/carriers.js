// Settings → Carriers: who carries parcels, and where they are followed.

import { h } from "../dom.js";
import { form } from "../parts/form.js";
import { card } from "../parts/page.js";
import { rows } from "../parts/rows.js";
import { saveSettings } from "../parts/settings.js";
import { link } from "../router.js";

const PATH = "admin/settings/shipping";

export async function show(visit) {
  const { data, etag } = await visit.get(PATH);
  const carriers = rows({
    name: "carriers",
    what: "carrier",
    add: "Add a carrier",
    widths: "minmax(0, 1fr) minmax(0, 2fr) 2.25rem",
    columns: [
      { name: "name", label: "Name", maxlength: "50" },
      { name: "trackingUrl", label: "Tracking address", type: "url", placeholder: "https://…/{number}" },
    ],
    start: data.carriers,
  });
  const read = () => carriers.read().map(({ typed }) => typed);
  const first = JSON.stringify(read());
  visit.guard("carriers", () => JSON.stringify(read()) !== first, "Your changes to the carriers have not been saved.");
  const hint = "{number} stands where the tracking number is: parcels of this carrier get that address.";
  const fields = h.div({ class: "whole stack tight" }, h.p({ class: "hint" }, hint), carriers.node);
  const node = form({ fields, submit: "Save", save });
  visit.draw({ title: "Carriers", back: [link("/orders/shipments"), "Shipments"] }, card(null, node));

  async function save() {
    await saveSettings(visit, PATH, { name: "carriers", list: read(), etag });
    await show(visit);
  }
}
