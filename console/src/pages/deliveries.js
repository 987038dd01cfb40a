// Settings → Developer → Deliveries: of all webhooks together, or of one.

import { button, h, replace } from "../dom.js";
import { DELIVERY_STATUSES, EVENT_KINDS } from "../facts.js";
import { plural, words } from "../format.js";
import { deliveryTable } from "../parts/deliveries.js";
import { stateOf } from "../parts/endpoint.js";
import { field, optionsOf } from "../parts/form.js";
import { announce } from "../parts/notice.js";
import { empty, skeleton } from "../parts/page.js";
import { link } from "../router.js";

const SINCE = { "": "Any time", 1: "Last hour", 24: "Last 24 hours", 168: "Last 7 days" };
const FAILURES = "RETRYING,FAILED";

export async function show(visit) {
  const { data: endpoints } = await visit.get("admin/webhooks", { limit: 100 });
  const known = endpoints.data;
  if (known.length === 0) {
    visit.draw(
      { title: "Deliveries" },
      empty(
        "No webhooks yet",
        "Add a webhook to see what is delivered to it.",
        h.a({ class: "button main", href: link("/settings/developer/webhooks") }, "View webhooks"),
      ),
    );
    return;
  }
  const names = ["webhook", "status", "event", "since"];
  const asked = Object.fromEntries(
    Object.entries(visit.query).filter(([name]) => names.includes(name)),
  );
  const rows = [];
  const results = h.div({ class: "results" }, skeleton());
  const count = h.p({ class: "count soft", "aria-hidden": "true" });
  const filter = (settings) => {
    const node = field({
      ...settings,
      value: asked[settings.name] ?? "",
      oninput: ({ target }) => {
        asked[target.name] = target.value;
        visit.rewrite(asked);
        load();
      },
    });
    asked[settings.name] = node.querySelector("select").value; // an address may have what is no option
    return node;
  };
  visit.draw(
    { title: "Deliveries", actions: button("Refresh", () => load()) },
    h.form(
      { class: "filters", onsubmit: (event) => event.preventDefault() },
      filter({
        name: "webhook",
        options: [
          ["", "All"],
          ...known.map((each) => [
            each.id,
            `${each.url}${stateOf(each) === "ENABLED" ? "" : ` (${words(stateOf(each)).toLowerCase()})`}`,
          ]),
        ],
      }),
      filter({
        name: "status",
        options: [["", "All"], [FAILURES, "All failures"], ...optionsOf(DELIVERY_STATUSES)],
      }),
      filter({ name: "event", options: [["", "All"], ...EVENT_KINDS.map((each) => [each, each])] }),
      filter({
        name: "since",
        label: "Created",
        options: Object.entries(SINCE).sort(([a], [b]) => a - b),
      }),
    ),
    h.div({ class: "above" }, count),
    results,
  );
  await load();

  function load(cursor) {
    const mine = visit.latest("deliveries");
    if (!cursor) rows.length = 0;
    return visit.fill(results, () => read(cursor, mine));
  }

  // If few deliveries match a filter, a page may be empty before the end.
  async function read(cursor, mine) {
    const { webhook, status, event, since } = asked;
    const path = webhook ? `admin/webhooks/${encodeURIComponent(webhook)}/deliveries` : "admin/deliveries";
    const after = since in SINCE && since ? new Date(Date.now() - since * 3_600_000).toISOString() : "";
    do {
      const { data } = await visit.get(path, { status, event, since: after, limit: 50, cursor }, mine);
      rows.push(...data.data);
      cursor = data.nextCursor;
    } while (cursor && rows.length === 0);
    return drawn(cursor);
  }

  function drawn(next) {
    const { webhook } = asked;
    const filtered = asked.status || asked.event || asked.since;
    const none = filtered
      ? empty("No deliveries match", "Choose another status, event or time.")
      : empty(
          "No deliveries yet",
          "The next event is sent as soon as it happens. You can send a test now.",
          webhook
            ? h.a({ class: "button", href: link(`/settings/developer/webhooks/${webhook}`) }, "View webhook")
            : h.a({ class: "button", href: link("/settings/developer/webhooks") }, "View webhooks"),
        );
    const older = next ? ", older ones not shown" : "";
    const shown = `${plural(rows.length, "delivery", "deliveries")}${older}`;
    replace(count, rows.length > 0 && shown);
    announce(`${shown}.`);
    return [
      rows.length ? deliveryTable(rows, webhook ? null : known) : none,
      next && h.div({ class: "pager" }, button("Show older", () => load(next))),
    ];
  }
}
