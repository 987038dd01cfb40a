// Settings → Developer → Webhooks.

import { button, h, newKey } from "../dom.js";
import { ago, plural } from "../format.js";
import { badge } from "../parts/badge.js";
import { dialogForm } from "../parts/dialog-form.js";
import { endpointFields, readEndpoint, showSecret, stateOf } from "../parts/endpoint.js";
import { list } from "../parts/list.js";
import { empty } from "../parts/page.js";
import { link } from "../router.js";

export async function show(visit) {
  await list(visit, {
    top: { title: "Webhooks", actions: button("Add webhook", () => add(visit), { class: "main" }) },
    intro: h.p(
      { class: "soft" },
      "Events are sent to these URLs by HTTP POST, with a signature, and retried for a week until a 2xx response.",
    ),
    api: "admin/webhooks",
    name: "webhook",
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
    ),
  });
}

function add(visit) {
  // A retry after a lost connection does not add a second webhook, and shows the secret of the first.
  const idempotencyKey = newKey();
  const node = dialogForm(visit, "Add webhook", {
    broad: true,
    fields: endpointFields(null),
    submit: "Add webhook",
    save: () =>
      visit.send("POST", "admin/webhooks", { body: readEndpoint(node), idempotencyKey, success: "Webhook added." }),
    async then({ data }) {
      const notices = data.notices.map(({ message }) => message).join(" ");
      await showSecret(visit, "Signing secret", data.secret, notices);
      visit.go(`/settings/developer/webhooks/${data.id}`);
    },
  });
}
