// Settings → API keys, for Owners.

import { call, post } from "../api.js";
import { h } from "../dom.js";
import { ago, number, words } from "../format.js";
import { badge } from "../parts/badge.js";
import { copied } from "../parts/copy.js";
import { ask, modal } from "../parts/dialog.js";
import { field, form } from "../parts/form.js";
import { list } from "../parts/list.js";
import { toast } from "../parts/notice.js";
import { draw, empty } from "../parts/page.js";
import { who } from "../session.js";

const ROLES = [
  ["STAFF", "Staff: products, orders, customers, imports"],
  ["ADMIN", "Admin: webhooks too"],
  ["OWNER", "Owner: keys and deleting orders too"],
];

export async function show(main, { path, query, signal }) {
  const into = h.div();
  draw(
    main,
    {
      title: "API keys",
      actions: h.button({ type: "button", class: "main", onclick: create }, "Create a key"),
    },
    into,
  );
  const { load } = await list({
    into,
    api: "admin/keys",
    name: "key",
    path,
    query,
    signal,
    filters: [],
    columns: [
      {
        title: "Name",
        cell: ({ id, name }) => [
          h.b(name),
          id === who().id && h.span({ class: "soft small" }, " in use here"),
        ],
      },
      { title: "Role", cell: ({ role }) => badge(role) },
      {
        title: "Requests a minute",
        cell: ({ limits }) => `${number(limits.read)} reads, ${number(limits.write)} writes`,
        class: "wide",
      },
      { title: "Created", cell: ({ createdAt }) => ago(createdAt), class: "wide" },
      {
        title: h.span({ class: "unseen" }, "Actions"),
        cell: (key) =>
          h.button(
            {
              type: "button",
              class: "small bad",
              "aria-label": `Revoke ${key.name}`,
              onclick: () => revoke(key),
            },
            "Revoke",
          ),
        class: "number",
      },
    ],
    none: empty("No keys", "Create one for each person and each program."),
  });

  function create() {
    const dialog = modal("Create a key", [
      form({
        fields: [
          field({ name: "name", label: "Name", hint: "Who or what uses it.", autocomplete: "off" }),
          field({ name: "role", label: "Role", value: "STAFF", options: ROLES, wide: true }),
        ],
        submit: "Create",
        cancel: h.button({ type: "button", onclick: () => dialog.close() }, "Cancel"),
        async save(typed) {
          const { data } = await post("admin/keys", typed);
          dialog.close();
          shownOnce(data);
          await load();
        },
      }),
    ]);
  }

  async function revoke(key) {
    const own = key.id === who().id;
    if (
      !(await ask({
        title: `Revoke ${key.name}?`,
        text: own
          ? "This is the key you are signed in with: you will need another."
          : "It opens nothing from then on.",
        yes: "Revoke",
        bad: true,
      }))
    )
      return;
    try {
      await call("DELETE", `admin/keys/${key.id}`);
      toast(`${key.name} is revoked.`);
      await load();
    } catch (refusal) {
      toast(refusal.message);
    }
  }
}

function shownOnce({ name, role, key }) {
  const dialog = modal(
    `The key of ${name}`,
    [
      h.p("This is the only time that it is shown."),
      copied(key),
      h.p({ class: "soft" }, `Its role: ${words(role)}.`),
      h.div(
        { class: "actions" },
        h.button(
          { type: "button", class: "main", onclick: () => dialog.close() },
          "I have kept it",
        ),
      ),
    ],
    { stays: true },
  );
}
