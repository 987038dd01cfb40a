// Settings → Developer → Webhooks.

import { post } from "../api.js";
import { h } from "../dom.js";
import { ago, plural } from "../format.js";
import { badge } from "../parts/badge.js";
import { modal } from "../parts/dialog.js";
import { endpointFields, readEndpoint, showSecret, stateOf } from "../parts/endpoint.js";
import { form } from "../parts/form.js";
import { list } from "../parts/list.js";
import { draw, empty } from "../parts/page.js";
import { go, link } from "../router.js";

export async function show(main, { path, query, signal }) {
  const into = h.div();
  const adding = () => h.button({ type: "button", class: "main", onclick: add }, "Add a webhook");
  draw(
    main,
    { title: "Webhooks", actions: adding() },
    h.p(
      { class: "soft" },
      "Events of the shop are posted to these addresses, signed, and repeated for a week until a 2xx answers.",
    ),
    into,
  );
  await list({
    into,
    api: "admin/webhooks",
    name: "webhook",
    path,
    query,
    signal,
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
        title: "State",
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
      "Add the address of your receiver and choose its events. Sending starts at once.",
      adding(),
    ),
  });
}

function add() {
  const node = form({
    fields: endpointFields(null),
    submit: "Add the webhook",
    cancel: h.button({ type: "button", onclick: () => dialog.close() }, "Cancel"),
    async save() {
      const { data } = await post("admin/webhooks", readEndpoint(node));
      dialog.close();
      const told = data.notices.map(({ message }) => message).join(" ");
      await showSecret("Its secret", data.secret, told || null);
      go(`/settings/developer/webhooks/${data.id}`);
    },
  });
  const dialog = modal("Add a webhook", [node]);
  dialog.classList.add("broad");
}
