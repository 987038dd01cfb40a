// Settings → API keys, for Owners.

import { button, h, newKey } from "../dom.js";
import { ago, date, number, words } from "../format.js";
import { badge } from "../parts/badge.js";
import { shownOnce } from "../parts/copy.js";
import { dialogForm } from "../parts/dialog-form.js";
import { field } from "../parts/form.js";
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
  const { load } = await list(visit, {
    top: { title: "API keys", actions: button("Create API key", create, { class: "main" }) },
    api: "admin/keys",
    name: "key",
    columns: [
      {
        title: "Name",
        cell: ({ id, name }) => [h.b(name), id === who().id && h.span({ class: "soft small" }, " current key")],
      },
      { title: "Role", cell: ({ role }) => badge(role) },
      {
        title: "Requests per minute",
        cell: ({ limits }) => `${number(limits.read)} reads, ${number(limits.write)} writes`,
        class: "wide",
      },
      { title: "Created", cell: ({ createdAt }) => ago(createdAt), class: "wide" },
      { title: "Last used", cell: ({ lastUsedAt }) => lastUsedAt ?? "never", class: "wide" },
      { title: "Expires", cell: ({ expiresAt }) => (expiresAt ? date(expiresAt) : "never"), class: "wide" },
      {
        title: h.span({ class: "unseen" }, "Actions"),
        cell: (key) => {
          const more = { class: "small bad", "aria-label": `Revoke ${key.name}` };
          return button("Revoke", visit.once(() => revoke(key)), more);
        },
        class: "number",
      },
    ],
    none: empty("No keys", "Create one for each person and each app."),
  });

  function create() {
    // A retry after a lost connection shows the key that was created.
    const idempotencyKey = newKey();
    dialogForm(visit, "Create API key", {
      fields: [
        field({ name: "name", hint: "Who or what will use it." }),
        field({ name: "role", value: "STAFF", options: ROLES, wide: true }),
        field({ name: "expiresAt", label: "Expires", type: "date", hint: "Leave blank for never." }),
      ],
      submit: "Create",
      save: (typed) =>
        visit.send("POST", "admin/keys", {
          body: { ...typed, expiresAt: typed.expiresAt ? momentOf(`${typed.expiresAt}T00:00`) : null },
          idempotencyKey,
          success: `API key ${typed.name} created.`,
        }),
      then({ data: { name, role, key } }) {
        shownOnce(visit, `API key for ${name}`, "Copy it now.", key, `Role: ${words(role)}`);
        return load();
      },
    });
  }

  async function revoke(key) {
    const text =
      key.id === who().id
        ? "You are signed in with this key. You will need another one to continue."
        : "Anything that uses this key stops working immediately.";
    if (!(await visit.ask({ title: `Revoke ${key.name}?`, text, yes: "Revoke", bad: true }))) return;
    await visit.send("DELETE", `admin/keys/${key.id}`, { success: `${key.name} revoked.` });
    await load();
  }
}
