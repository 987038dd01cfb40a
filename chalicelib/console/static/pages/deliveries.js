// Settings → Developer → Deliveries: of all webhooks together, or of one.

import { isLeft } from "../api.js";
import { h, replace } from "../dom.js";
import { DELIVERY_STATUSES, EVENT_KINDS } from "../facts.js";
import { plural, words } from "../format.js";
import { deliveryTable } from "../parts/deliveries.js";
import { stateOf } from "../parts/endpoint.js";
import { field } from "../parts/form.js";
import { announce, problem } from "../parts/notice.js";
import { empty, skeleton } from "../parts/page.js";
import "../parts/work.js";
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
        h.a(
          { class: "button main", href: link("/settings/developer/webhooks") },
          "View webhooks",
        ),
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
  const more = h.div({ class: "pager" });
  const count = h.p({ class: "count soft", "aria-hidden": "true" });
  const filter = (settings) =>
    field({
      ...settings,
      value: asked[settings.name] ?? "",
      oninput: ({ target }) => {
        asked[target.name] = target.value;
        visit.rewrite(asked);
        load();
      },
    });
  visit.draw(
    {
      title: "Deliveries",
      actions: h.button({ type: "button", onclick: () => load() }, "Refresh"),
    },
    h.form(
      { class: "filters", onsubmit: (event) => event.preventDefault() },
      filter({
        name: "webhook",
        label: "Webhook",
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
        label: "Status",
        options: [
          ["", "All"],
          [FAILURES, "All failures"],
          ...DELIVERY_STATUSES.map((each) => [each, words(each)]),
        ],
      }),
      filter({
        name: "event",
        label: "Event",
        options: [["", "All"], ...EVENT_KINDS.map((each) => [each, each])],
      }),
      filter({
        name: "since",
        label: "Created",
        options: Object.entries(SINCE).sort(([a], [b]) => a - b),
      }),
    ),
    h.div({ class: "above" }, count),
    results,
    more,
  );
  await load();

  async function load(cursor) {
    const mine = visit.latest("deliveries");
    if (!cursor) rows.length = 0;
    results.setAttribute("aria-busy", "true");
    const { webhook, status, event, since } = asked;
    try {
      let next = cursor;
      // If few deliveries match a filter, a page may be empty before the end.
      do {
        const after = since ? new Date(Date.now() - since * 3_600_000).toISOString() : "";
        const { data } = await visit.get(
          webhook
            ? `admin/webhooks/${encodeURIComponent(webhook)}/deliveries`
            : "admin/deliveries",
          { status, event, since: after, limit: 50, cursor: next },
          mine,
        );
        rows.push(...data.data);
        next = data.nextCursor;
      } while (next && rows.length === 0);
      fill(next);
    } catch (refusal) {
      if (isLeft(refusal)) return;
      replace(
        results,
        problem(refusal, () => load(cursor)),
      );
    }
    results.removeAttribute("aria-busy");
  }

  function fill(next) {
    const { webhook } = asked;
    const filtered = asked.status || asked.event || asked.since;
    const none = filtered
      ? empty("No deliveries match", "Choose another status, event or time.")
      : empty(
          "No deliveries yet",
          "The next event is sent as soon as it happens. You can send a test now.",
          h.a(
            {
              class: "button",
              href: link(["/settings/developer/webhooks", webhook].filter(Boolean).join("/")),
            },
            webhook ? "View webhook" : "View webhooks",
          ),
        );
    replace(results, rows.length ? deliveryTable(rows, webhook ? null : known) : none);
    replace(more, next && h.button({ type: "button", onclick: () => load(next) }, "Show older"));
    const older = next ? ", older ones not shown" : "";
    const shown = `${plural(rows.length, "delivery", "deliveries")}${older}`;
    replace(count, rows.length > 0 && shown);
    announce(`${shown}.`);
  }
}
