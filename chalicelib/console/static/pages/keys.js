// Settings → API keys, for Owners.

import { h, newKey } from "../dom.js";
import { ago, date, number, words } from "../format.js";
import { badge } from "../parts/badge.js";
import { copied } from "../parts/copy.js";
import { field, form } from "../parts/form.js";
import { list } from "../parts/list.js";
import { empty } from "../parts/page.js";
import { momentOf } from "../parts/zone.js";
import { who } from "../session.js";

const ROLES = [
  ["READER", "Reader: can read, not change"],
  ["STAFF", "Staff: products, orders, customers, imports"],
  ["ADMIN", "Admin: webhooks too"],
  ["OWNER", "Owner: keys and deleting orders too"],
];

export async function show(visit) {
  const into = h.div();
  visit.draw(
    {
      title: "API keys",
      actions: h.button({ type: "button", class: "main", onclick: create }, "Create API key"),
    },
    into,
  );
  const { load } = await list(visit, {
    into,
    api: "admin/keys",
    name: "key",
    filters: [],
    columns: [
      {
        title: "Name",
        cell: ({ id, name }) => [
          h.b(name),
          id === who().id && h.span({ class: "soft small" }, " current key"),
        ],
      },
      { title: "Role", cell: ({ role }) => badge(role) },
      {
        title: "Requests per minute",
        cell: ({ limits }) => `${number(limits.read)} reads, ${number(limits.write)} writes`,
        class: "wide",
      },
      { title: "Created", cell: ({ createdAt }) => ago(createdAt), class: "wide" },
      { title: "Last used", cell: ({ lastUsedAt }) => lastUsedAt ?? "never", class: "wide" },
      {
        title: "Expires",
        cell: ({ expiresAt }) => (expiresAt ? date(expiresAt) : "never"),
        class: "wide",
      },
      {
        title: h.span({ class: "unseen" }, "Actions"),
        cell: (key) =>
          h.button(
            {
              type: "button",
              class: "small bad",
              "aria-label": `Revoke ${key.name}`,
              onclick: visit.once(() => revoke(key)),
            },
            "Revoke",
          ),
        class: "number",
      },
    ],
    none: empty("No keys", "Create one for each person and each app."),
  });

  function create() {
    // A retry after a lost connection shows the key that was created.
    const idempotencyKey = newKey();
    const dialog = visit.modal("Create API key", [
      form({
        fields: [
          field({ name: "name", label: "Name", hint: "Who or what will use it.", autocomplete: "off" }),
          field({ name: "role", label: "Role", value: "STAFF", options: ROLES, wide: true }),
          field({ name: "expiresAt", label: "Expires", type: "date", hint: "Leave blank for never." }),
        ],
        submit: "Create",
        cancel: h.button({ type: "button", onclick: () => dialog.close() }, "Cancel"),
        async save(typed) {
          const { data } = await visit.send("POST", "admin/keys", {
            body: { ...typed, expiresAt: typed.expiresAt ? momentOf(`${typed.expiresAt}T00:00`) : null },
            idempotencyKey,
            success: `API key ${typed.name} created.`,
          });
          dialog.close();
          shownOnce(visit, data);
          await load();
        },
      }),
    ]);
  }

  async function revoke(key) {
    const own = key.id === who().id;
    if (
      !(await visit.ask({
        title: `Revoke ${key.name}?`,
        text: own
          ? "You are signed in with this key. You will need another one to continue."
          : "Anything that uses this key stops working immediately.",
        yes: "Revoke",
        bad: true,
      }))
    )
      return;
    await visit.send("DELETE", `admin/keys/${key.id}`, { success: `${key.name} revoked.` });
    await load();
  }
}

function shownOnce(visit, { name, role, key }) {
  const dialog = visit.modal(
    `API key for ${name}`,
    [
      h.p("This key is shown only once. Copy it now."),
      copied(visit, key),
      h.p({ class: "soft" }, `Role: ${words(role)}`),
      h.div(
        { class: "actions" },
        h.button(
          { type: "button", class: "main", onclick: () => dialog.close() },
          "I have stored it",
        ),
      ),
    ],
    { stays: true },
  );
  visit.guard("key", () => dialog.open, "The key cannot be shown again.");
}
