// Settings → Developer → Deliveries: of all webhooks together, or of one.

import { get } from "../api.js";
import { h, replace } from "../dom.js";
import { plural, words } from "../format.js";
import { deliveryTable } from "../parts/deliveries.js";
import { KINDS, stateOf } from "../parts/endpoint.js";
import { field } from "../parts/form.js";
import { announce, problem } from "../parts/notice.js";
import { draw, empty } from "../parts/page.js";
import { link, rewrite } from "../router.js";

const STATUSES = ["PENDING", "RETRYING", "DELIVERED", "FAILED", "CANCELLED"];
const SINCE = { "": "Any time", 1: "The last hour", 24: "The last day", 168: "The last week" };

export async function show(main, { path, query, signal }) {
  const { data: endpoints } = await get("admin/webhooks", { limit: 100 }, signal);
  if (signal.aborted) return;
  const known = endpoints.data;
  if (known.length === 0) {
    draw(
      main,
      { title: "Deliveries" },
      empty(
        "Nothing to deliver to",
        "Add a webhook, and what is sent to it stands here.",
        h.a(
          { class: "button main", href: link("/settings/developer/webhooks") },
          "To the webhooks",
        ),
      ),
    );
    return;
  }
  const asked = { ...query };
  let loading = new AbortController();
  signal.addEventListener("abort", () => loading.abort());
  const rows = [];
  const results = h.div({ class: "results" });
  const more = h.div({ class: "pager" });
  const count = h.p({ class: "count soft", "aria-hidden": "true" });
  const all = (names) => [
    ["", "All"],
    ...names.map((each) => [each, each.includes(".") ? each : words(each)]),
  ];
  const filter = (settings) =>
    field({
      ...settings,
      value: asked[settings.name] ?? "",
      oninput: ({ target }) => {
        asked[target.name] = target.value;
        rewrite(path, asked);
        load();
      },
    });
  draw(
    main,
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
      filter({ name: "status", label: "State", options: all(STATUSES) }),
      filter({ name: "event", label: "Event", options: all(KINDS) }),
      filter({
        name: "since",
        label: "Since",
        options: Object.entries(SINCE).sort(([a], [b]) => a - b),
      }),
    ),
    h.div({ class: "above" }, count),
    results,
    more,
  );
  await load();

  async function load(cursor) {
    loading.abort();
    loading = new AbortController();
    const mine = loading.signal;
    if (!cursor) rows.length = 0;
    results.setAttribute("aria-busy", "true");
    const { webhook, status, event, since } = asked;
    try {
      let next = cursor;
      // Where a filter lets little through, a page may be empty before the end.
      do {
        const after = since ? new Date(Date.now() - since * 3_600_000).toISOString() : "";
        const { data } = await get(
          webhook
            ? `admin/webhooks/${encodeURIComponent(webhook)}/deliveries`
            : "admin/deliveries",
          { status, event, since: after, limit: 50, cursor: next },
          mine,
        );
        rows.push(...data.data);
        next = data.nextCursor;
      } while (next && rows.length === 0);
      if (mine.aborted) return;
      fill(next);
    } catch (refusal) {
      if (!mine.aborted)
        replace(
          results,
          problem(refusal, () => load(cursor)),
        );
    }
    if (!mine.aborted) results.removeAttribute("aria-busy");
  }

  function fill(next) {
    const { webhook } = asked;
    const filtered = asked.status || asked.event || asked.since;
    const none = filtered
      ? empty("No delivery fits", "Choose another state, event or time.")
      : empty(
          "No deliveries yet",
          "The next event is sent at once; a test can be sent now.",
          h.a(
            {
              class: "button",
              href: link(["/settings/developer/webhooks", webhook].filter(Boolean).join("/")),
            },
            webhook ? "To the webhook" : "To the webhooks",
          ),
        );
    replace(results, rows.length ? deliveryTable(rows, webhook ? null : known) : none);
    replace(
      more,
      next && h.button({ type: "button", onclick: () => load(next) }, "Show older ones"),
    );
    const older = next ? ", and there are older ones" : "";
    const shown = `${plural(rows.length, "delivery", "deliveries")}${older}`;
    replace(count, rows.length > 0 && shown);
    announce(`${shown}.`);
  }
}
