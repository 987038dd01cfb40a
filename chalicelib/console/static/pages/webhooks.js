// Settings → Developer → Webhooks.

import { h, newKey } from "../dom.js";
import { ago, plural } from "../format.js";
import { badge } from "../parts/badge.js";
import { endpointFields, readEndpoint, showSecret, stateOf } from "../parts/endpoint.js";
import { form } from "../parts/form.js";
import { list } from "../parts/list.js";
import { empty } from "../parts/page.js";
import { link } from "../router.js";

export async function show(visit) {
  const into = h.div();
  const adding = () => h.button({ type: "button", class: "main", onclick: () => add(visit) }, "Add webhook");
  visit.draw(
    { title: "Webhooks", actions: adding() },
    h.p(
      { class: "soft" },
      "Events are sent to these URLs by HTTP POST, with a signature, and retried for 7 days until a 2xx response.",
    ),
    into,
  );
  await list(visit, {
    into,
    api: "admin/webhooks",
    name: "webhook",
    filters: [],
    columns: [
      {
        title: "Endpoint",
        cell: ({ id, url, description }) =>
          h.div(
            h.a({ class: "row", href: link(`/settings/developer/webhooks/${id}`) }, url),
            description && h.div({ class: "soft small" }, description),
          ),
      },
      {
        title: "Status",
        cell: (endpoint) => [
          badge(stateOf(endpoint)),
          endpoint.failingSince &&
            h.span({ class: "soft small" }, " since ", ago(endpoint.failingSince)),
        ],
      },
      { title: "Events", cell: ({ events }) => plural(events.length, "event"), class: "wide" },
      { title: "Added", cell: ({ createdAt }) => ago(createdAt), class: "wide" },
    ],
    none: empty(
      "No webhooks yet",
      "Add the URL of your receiver and choose its events. Sending starts immediately.",
      adding(),
    ),
  });
}

function add(visit) {
  // A retry after a lost connection does not add a second webhook, and shows the secret of the first.
  const idempotencyKey = newKey();
  const node = form({
    fields: endpointFields(null),
    submit: "Add webhook",
    cancel: h.button({ type: "button", onclick: () => dialog.close() }, "Cancel"),
    async save() {
      const { data } = await visit.send("POST", "admin/webhooks", {
        body: readEndpoint(node),
        idempotencyKey,
        success: "Webhook added.",
      });
      dialog.close();
      const notices = data.notices.map(({ message }) => message).join(" ");
      await showSecret(visit, "Signing secret", data.secret, notices || null);
      visit.go(`/settings/developer/webhooks/${data.id}`);
    },
  });
  const dialog = visit.modal("Add webhook", [node], { broad: true });
}
