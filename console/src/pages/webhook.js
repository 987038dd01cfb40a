// One webhook: its events, its secret, its newest deliveries.

import { button, h, replace } from "../dom.js";
import { EVENT_KINDS, LONGEST_OVERLAP } from "../facts.js";
import { dateTime, number, plural, whole } from "../format.js";
import { badge } from "../parts/badge.js";
import { deliveryTable } from "../parts/deliveries.js";
import { dialogForm } from "../parts/dialog-form.js";
import { endpointFields, readEndpoint, showSecret, stateOf } from "../parts/endpoint.js";
import { health } from "../parts/health.js";
import { eventField, filterTrial } from "../parts/filter-trial.js";
import { field, form } from "../parts/form.js";
import { menu } from "../parts/menu.js";
import { card, empty, facts, skeleton } from "../parts/page.js";
import { tell } from "../parts/notice.js";
import { LONGEST, recoverDialog, recovered, resend } from "../parts/recover.js";
import { Record } from "../parts/record.js";
import { link } from "../router.js";

export async function show(visit) {
  const record = new Record(visit, {
    path: `admin/webhooks/${encodeURIComponent(visit.params.id)}`,
    method: "PUT",
    what: "webhook",
    fields: ({ url, events, email, description, filter }) => ({
      url,
      events: EVENT_KINDS.filter((kind) => events.includes(kind)),
      email,
      description,
      filter,
    }),
    draw: () => page(visit, record),
  });
  await record.load();
}

const COUNTED = 100; // deliveries that wait; of more, the question says how many

// Without the common part, so that several URLs of one host can be distinguished.
const addressOf = (url) => url.replace(/^https:\/\//, "").replace(/\/$/, "");

function page(visit, record) {
  const { data: endpoint, path } = record;
  const deliveries = h.div(skeleton(3));
  const past = h.div({ class: "stack tight" }, skeleton(3));
  const offer = h.div();
  const { recovery } = endpoint;
  const node = form({
    fields: endpointFields(endpoint),
    submit: "Save",
    save: () => record.save(),
    kind: "",
  });
  record.edits(node, () => readEndpoint(node));
  visit.draw(
    {
      title: endpoint.description || addressOf(endpoint.url),
      back: [link("/settings/developer/webhooks"), "Webhooks"],
      badges: badge(stateOf(endpoint)),
      actions: [
        endpoint.enabled ? action("Send test", test) : action("Resume", pause, "main"),
        menu([
          endpoint.enabled && action("Pause", pause),
          action("Rotate secret", rotate),
          endpoint.enabled &&
            action("Resend failed deliveries", () => recoverDialog(visit, path, () => record.load())),
          action("Delete", remove, "bad"),
        ]),
      ],
    },
    offer,
    !endpoint.enabled &&
      h.p(
        { class: "notice warn" },
        "Paused: new events are not delivered. Waiting deliveries are kept as long as their event: 30 days.",
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
        card("Last 24 hours", past),
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
        recovery && card("Last recovery", recovered(recovery)),
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
  visit.fill(deliveries, newest);
  visit.fill(past, () => health(visit, path));
  waiting().catch(tell);

  function action(name, work, kind = "") {
    return button(name, visit.once(work), { class: kind });
  }

  function pause() {
    const success = endpoint.enabled ? "Webhook paused." : "Webhook resumed.";
    return record.change({ enabled: !endpoint.enabled }, success);
  }

  // Once it works, what an outage has left is one click.
  async function waiting() {
    const isBusy = recovery && !recovery.completedAt;
    if (!endpoint.enabled || endpoint.failingSince || isBusy) return;
    const asked = { status: "RETRYING,FAILED", limit: COUNTED };
    const { data } = await visit.get(`${path}/deliveries`, asked, visit.latest("waiting"));
    if (data.data.length === 0) return;
    const count = `${number(data.data.length)}${data.nextCursor ? "+" : ""}`;
    const send = async () => {
      if (await resend(visit, path, new Date(Date.now() - LONGEST).toISOString())) await record.load();
    };
    replace(
      offer,
      h.div(
        { class: "notice warn waits" },
        h.p("Deliveries wait for a later attempt, or ran out of retries."),
        action(`Send them now (${count})`, send, "main"),
      ),
    );
  }

  async function newest() {
    const { data } = await visit.get(`${path}/deliveries`, { limit: 8 }, visit.latest("newest"));
    return data.data.length
      ? deliveryTable(data.data)
      : empty("No deliveries yet", "Send a test to see what your receiver gets.");
  }

  function isEdited() {
    return Object.keys(record.unsaved).length > 0;
  }

  function test() {
    dialogForm(visit, "Send test", {
      intro: h.p(
        "Sends sample data like a real event, with the header ",
        h.code("X-Service-Test: true"),
        ".",
        isEdited() && " Your changes to this webhook are saved first.",
      ),
      fields: eventField(endpoint),
      submit: isEdited() ? "Save and send" : "Send",
      async save({ event }) {
        if (isEdited() && !(await record.save())) return false;
        return visit.send("POST", `${path}/test`, { body: { event }, success: "Test sent." });
      },
      async then({ data }) {
        await visit.sleep(300);
        visit.go(`/settings/developer/deliveries/${data.id}`);
      },
    });
  }

  function rotate() {
    dialogForm(visit, "Rotate secret", {
      intro: h.p(
        "Deliveries are signed with the new secret immediately. If you keep the old one for a while, both sign: the header ",
        h.code("X-Service-Signature"),
        " then has two ",
        h.code("v1"),
        " values, the new one first, and your receiver must accept either.",
      ),
      fields: field({
        name: "overlapHours",
        label: "Keep the old secret for (hours)",
        value: "0",
        inputmode: "numeric",
        hint: `0 to ${LONGEST_OVERLAP}. With 0 the old secret ends immediately.`,
      }),
      submit: "Rotate",
      async save({ overlapHours }) {
        const body = { overlapHours: whole(overlapHours.trim()) };
        const { data } = await visit.send("POST", `${path}/rotate-secret`, { body, success: "Secret rotated." });
        return { ...data, hours: body.overlapHours };
      },
      async then({ secret, hours }) {
        const both = `The old secret stays valid for ${plural(hours, "hour")}: t=…,v1=<new>,v1=<old>.`;
        await showSecret(visit, "New signing secret", secret, hours > 0 && both);
        await record.load();
      },
    });
  }

  function remove() {
    const text = `Waiting deliveries to ${endpoint.url} will be cancelled.`;
    return record.remove("/settings/developer/webhooks", text, "this webhook");
  }
}
