// One webhook: its events, its secret, its newest deliveries.

import { isLeft } from "../api.js";
import { h, replace } from "../dom.js";
import { EVENT_KINDS, LONGEST_OVERLAP } from "../facts.js";
import { dateTime, plural } from "../format.js";
import { badge } from "../parts/badge.js";
import { deliveryTable } from "../parts/deliveries.js";
import {
  endpointFields,
  readEndpoint,
  showSecret,
  stateOf,
  writeEndpoint,
} from "../parts/endpoint.js";
import { filterTrial } from "../parts/filter-trial.js";
import { field, form } from "../parts/form.js";
import { toast } from "../parts/notice.js";
import { card, empty, facts, skeleton } from "../parts/page.js";
import { recoverForm } from "../parts/recover.js";
import { differing, whichStays } from "../parts/stale.js";
import { link } from "../router.js";

const NAMES = {
  url: "Endpoint URL",
  events: "Events",
  email: "Email",
  description: "Description",
  filter: "Filter",
};

export async function show(visit) {
  const path = `admin/webhooks/${encodeURIComponent(visit.params.id)}`;
  const { data, etag } = await visit.get(path);
  page(visit, path, data, etag);
}

// Without the common part, so that several URLs of one host can be distinguished.
const addressOf = (url) => url.replace(/^https:\/\//, "").replace(/\/$/, "");

// `typed`: what is in the form and not saved yet.
function page(visit, path, endpoint, etag, typed = {}) {
  const again = ({ data, etag: next }) => page(visit, path, data, next);
  const onward = ({ data, etag: next }) => page(visit, path, data, next, unsaved());
  const deliveries = h.div(skeleton(3));
  const node = form({
    fields: endpointFields(endpoint),
    submit: "Save",
    save: () => save(readEndpoint(node), etag),
  });
  visit.draw(
    {
      title: endpoint.description || addressOf(endpoint.url),
      back: [link("/settings/developer/webhooks"), "Webhooks"],
      badges: badge(stateOf(endpoint)),
      actions: [
        h.button(
          { type: "button", class: "main", onclick: test, disabled: !endpoint.enabled },
          "Send test",
        ),
        h.button(
          {
            type: "button",
            onclick: visit.once(async () =>
              onward(
                await visit.send("PUT", path, {
                  body: { enabled: !endpoint.enabled },
                  success: endpoint.enabled ? "Webhook paused." : "Webhook resumed.",
                }),
              ),
            ),
          },
          endpoint.enabled ? "Pause" : "Resume",
        ),
        h.button({ type: "button", onclick: rotate }, "Rotate secret"),
        h.button({ type: "button", class: "bad", onclick: visit.once(remove) }, "Delete"),
      ],
    },
    !endpoint.enabled &&
      h.p(
        { class: "notice warn" },
        "Paused: new events are not delivered. Waiting deliveries are kept as long as their event: 60 days.",
      ),
    endpoint.failingSince &&
      h.p(
        { class: "notice bad" },
        "No successful delivery since ",
        dateTime(endpoint.failingSince),
        ".",
      ),
    endpoint.notices.map(({ message }) => h.p({ class: "notice warn" }, message)),
    h.div(
      { class: "columns" },
      h.div(
        card(
          "Recent deliveries",
          deliveries,
          h.p(
            h.a(
              { href: link("/settings/developer/deliveries", { webhook: endpoint.id }) },
              "View all deliveries",
            ),
          ),
        ),
        card("Endpoint settings", node),
        card(
          "Filter and sample",
          filterTrial(visit, endpoint, path, () => readEndpoint(node).filter),
        ),
      ),
      h.div(
        card("Resend failed deliveries", recoverForm(visit, endpoint, path, onward)),
        card(
          "Overview",
          facts([
            ["Added", dateTime(endpoint.createdAt)],
            ["Last changed", dateTime(endpoint.updatedAt)],
            endpoint.previousSecretExpiresAt && [
              "Old secret valid until",
              dateTime(endpoint.previousSecretExpiresAt),
            ],
            ["Webhook ID", h.code(endpoint.id)],
          ]),
        ),
      ),
    ),
  );
  const was = readEndpoint(node);
  writeEndpoint(node, typed);
  const unsaved = () => {
    const mine = readEndpoint(node);
    return Object.fromEntries(differing(was, mine).map((name) => [name, mine[name]]));
  };
  visit.guard(
    "webhook",
    () => Object.keys(unsaved()).length > 0,
    "Your changes to this webhook have not been saved.",
  );
  newest();

  async function newest() {
    try {
      const { data } = await visit.get(`${path}/deliveries`, { limit: 8 }, visit.latest("newest"));
      replace(
        deliveries,
        data.data.length
          ? deliveryTable(data.data)
          : empty("No deliveries yet", "Send a test to see what your receiver gets."),
      );
    } catch (refusal) {
      if (!isLeft(refusal))
        replace(deliveries, h.p({ class: "error" }, refusal.message));
    }
  }

  async function save(mine, known) {
    const sent = Object.fromEntries(differing(was, mine).map((name) => [name, mine[name]]));
    if (Object.keys(sent).length === 0) return toast("There are no changes to save.");
    try {
      const success = "Saved.";
      return again(await visit.send("PUT", path, { body: sent, ifMatch: known, success }));
    } catch (refusal) {
      if (refusal.status !== 412) throw refusal;
    }
    const latest = await visit.get(path);
    const now = Object.fromEntries(Object.keys(was).map((name) => [name, latest.data[name]]));
    if (differing(was, now).length === 0) return save(mine, latest.etag);
    const stays = await whichStays(visit, { was, now, mine, names: NAMES, what: "webhook" });
    if (stays === "theirs") again(latest);
    if (stays === "mine")
      again(await visit.send("PUT", path, { body: sent, ifMatch: latest.etag, success: "Saved." }));
    return undefined;
  }

  function test() {
    const dialog = visit.modal("Send test", [
      h.p(
        "Sends sample data like a real event, with the header ",
        h.code("X-Service-Test: true"),
        ".",
      ),
      form({
        fields: [
          field({
            name: "event",
            label: "Event",
            value: endpoint.events[0],
            options: EVENT_KINDS.map((each) => [each, each]),
          }),
        ],
        submit: "Send",
        cancel: h.button({ type: "button", onclick: () => dialog.close() }, "Cancel"),
        async save({ event }) {
          const { data } = await visit.send("POST", `${path}/test`, {
            body: { event },
            success: "Test sent.",
          });
          dialog.close();
          await visit.sleep(300);
          visit.go(`/settings/developer/deliveries/${data.id}`);
        },
      }),
    ]);
  }

  function rotate() {
    const dialog = visit.modal("Rotate secret", [
      h.p(
        "Deliveries are signed with the new secret immediately. If you keep the old one for a while, both sign: the header ",
        h.code("X-Service-Signature"),
        " then has two ",
        h.code("v1"),
        " values, the new one first, and your receiver must accept either.",
      ),
      form({
        fields: [
          field({
            name: "overlapHours",
            label: "Keep the old secret for (hours)",
            value: "0",
            inputmode: "numeric",
            hint: `0 to ${LONGEST_OVERLAP}. With 0 the old secret ends immediately.`,
          }),
        ],
        submit: "Rotate",
        cancel: h.button({ type: "button", onclick: () => dialog.close() }, "Cancel"),
        async save({ overlapHours }) {
          const hours = /^\d+$/.test(overlapHours.trim()) ? Number(overlapHours) : overlapHours;
          const answer = await visit.send("POST", `${path}/rotate-secret`, {
            body: { overlapHours: hours },
            success: "Secret rotated.",
          });
          dialog.close();
          await showSecret(
            visit,
            "New signing secret",
            answer.data.secret,
            hours > 0
              ? `The old secret stays valid for ${plural(hours, "hour")}: t=…,v1=<new>,v1=<old>.`
              : null,
          );
          onward(await visit.get(path));
        },
      }),
    ]);
  }

  async function remove() {
    if (
      !(await visit.ask({
        title: "Delete this webhook?",
        text: `Waiting deliveries to ${endpoint.url} will be cancelled. This cannot be undone.`,
        yes: "Delete",
        bad: true,
      }))
    )
      return;
    await visit.send("DELETE", path, { success: "Webhook deleted." });
    visit.go("/settings/developer/webhooks");
  }
}
