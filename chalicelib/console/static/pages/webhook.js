// One webhook: what it takes, its secret, its newest deliveries.

import { call, get, post, sleep } from "../api.js";
import { h, replace } from "../dom.js";
import { dateTime, plural } from "../format.js";
import { badge } from "../parts/badge.js";
import { deliveryTable } from "../parts/deliveries.js";
import { ask, modal } from "../parts/dialog.js";
import {
  endpointFields,
  KINDS,
  readEndpoint,
  showSecret,
  stateOf,
  writeEndpoint,
} from "../parts/endpoint.js";
import { field, form } from "../parts/form.js";
import { toast } from "../parts/notice.js";
import { card, draw, empty, facts } from "../parts/page.js";
import { recoverForm } from "../parts/recover.js";
import { differing, whichStays } from "../parts/stale.js";
import { go, guard, link } from "../router.js";

export async function show(main, { params, signal }) {
  const path = `admin/webhooks/${encodeURIComponent(params.id)}`;
  const { data, etag } = await get(path, {}, signal);
  if (!signal.aborted) page(main, path, data, etag, signal);
}

// `typed`: what is in the form and not saved yet.
function page(main, path, endpoint, etag, signal, typed = {}) {
  const again = ({ data, etag: next }) => page(main, path, data, next, signal);
  const onward = ({ data, etag: next }) => page(main, path, data, next, signal, unsaved());
  const deliveries = h.div(h.p({ class: "soft turning" }, "Loading "));
  const node = form({
    fields: endpointFields(endpoint),
    submit: "Save",
    save: () => save(readEndpoint(node), etag),
  });
  draw(
    main,
    {
      title: new URL(endpoint.url).host,
      back: [link("/settings/developer/webhooks"), "Webhooks"],
      beside: badge(stateOf(endpoint)),
      actions: [
        h.button(
          { type: "button", class: "main", onclick: test, disabled: !endpoint.enabled },
          "Send a test",
        ),
        h.button(
          {
            type: "button",
            onclick: () =>
              act(
                () => call("PUT", path, { body: { enabled: !endpoint.enabled } }),
                endpoint.enabled ? "Paused." : "It goes on.",
              ),
          },
          endpoint.enabled ? "Pause" : "Resume",
        ),
        h.button({ type: "button", onclick: rotate }, "Rotate the secret"),
        h.button({ type: "button", class: "bad", onclick: remove }, "Delete"),
      ],
    },
    !endpoint.enabled &&
      h.p(
        { class: "notice warn" },
        "Paused: new events make no deliveries, and those that wait go on waiting, up to 30 days.",
      ),
    endpoint.failingSince &&
      h.p({ class: "notice bad" }, "No success since ", dateTime(endpoint.failingSince), "."),
    endpoint.notices.map(({ message }) => h.p({ class: "notice warn" }, message)),
    h.div(
      { class: "columns" },
      h.div(
        card(
          "Newest deliveries",
          deliveries,
          h.p(
            h.a(
              { href: link("/settings/developer/deliveries", { webhook: endpoint.id }) },
              "All deliveries",
            ),
          ),
        ),
        card("What it takes", node),
      ),
      h.div(
        card("Recover", recoverForm(endpoint, path, onward)),
        card(
          "Record",
          facts([
            ["Added", dateTime(endpoint.createdAt)],
            ["Changed", dateTime(endpoint.updatedAt)],
            endpoint.previousSecretExpiresAt && [
              "Secret before signs until",
              dateTime(endpoint.previousSecretExpiresAt),
            ],
            ["Identifier", h.code(endpoint.id)],
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
  guard(
    () => node.isConnected && Object.keys(unsaved()).length > 0,
    () =>
      ask({
        title: "Leave without saving?",
        text: "What you changed here is not saved.",
        yes: "Leave",
        no: "Stay",
        bad: true,
      }),
  );
  newest();

  async function newest() {
    try {
      const { data } = await get(`${path}/deliveries`, { limit: 8 }, signal);
      replace(
        deliveries,
        data.data.length
          ? deliveryTable(data.data)
          : empty("No deliveries yet", "Send a test to see what arrives."),
      );
    } catch (refusal) {
      if (refusal.name !== "AbortError")
        replace(deliveries, h.p({ class: "error" }, refusal.message));
    }
  }

  async function save(mine, known) {
    const sent = Object.fromEntries(differing(was, mine).map((name) => [name, mine[name]]));
    if (Object.keys(sent).length === 0) return toast("Nothing was changed.");
    try {
      again(await call("PUT", path, { body: sent, ifMatch: known }));
      return toast("Saved.");
    } catch (refusal) {
      if (refusal.status !== 412) throw refusal;
    }
    const latest = await get(path);
    const now = Object.fromEntries(Object.keys(was).map((name) => [name, latest.data[name]]));
    if (differing(was, now).length === 0) return save(mine, latest.etag);
    const stays = await whichStays({ was, now, mine, what: "webhook" });
    if (stays === "theirs") again(latest);
    if (stays === "mine") {
      again(await call("PUT", path, { body: sent, ifMatch: latest.etag }));
      toast("Saved.");
    }
    return undefined;
  }

  async function act(change, told) {
    try {
      onward(await change());
      toast(told);
    } catch (refusal) {
      toast(refusal.message);
    }
  }

  function test() {
    const dialog = modal("Send a test", [
      h.p(
        "Made-up data takes the way of every event, with the header ",
        h.code("X-Service-Test: true"),
        ".",
      ),
      form({
        fields: [
          field({
            name: "event",
            label: "Event",
            value: endpoint.events[0],
            options: KINDS.map((each) => [each, each]),
          }),
        ],
        submit: "Send",
        cancel: h.button({ type: "button", onclick: () => dialog.close() }, "Cancel"),
        async save({ event }) {
          const { data } = await post(`${path}/test`, { event });
          dialog.close();
          toast("The test is on its way.");
          await sleep(300, signal);
          go(`/settings/developer/deliveries/${data.id}`);
        },
      }),
    ]);
  }

  function rotate() {
    const dialog = modal("Rotate the secret", [
      h.p(
        "The new secret signs at once, and the one before ends. With hours of overlap both sign: the header ",
        h.code("X-Service-Signature"),
        " then has two ",
        h.code("v1"),
        ", that of the new secret first, and your receiver has to accept either.",
      ),
      form({
        fields: [
          field({
            name: "overlapHours",
            label: "Hours in which both sign",
            value: "0",
            inputmode: "numeric",
            hint: "0 to 72. With 0 the secret before ends at once, and the header keeps one v1.",
          }),
        ],
        submit: "Rotate",
        cancel: h.button({ type: "button", onclick: () => dialog.close() }, "Cancel"),
        async save({ overlapHours }) {
          const hours = /^\d+$/.test(overlapHours.trim()) ? Number(overlapHours) : overlapHours;
          const answer = await post(`${path}/rotate-secret`, { overlapHours: hours });
          dialog.close();
          await showSecret(
            "Its new secret",
            answer.data.secret,
            hours > 0
              ? `The one before signs as well for ${plural(hours, "hour")}: t=…,v1=<new>,v1=<before>.`
              : null,
          );
          onward(await get(path));
        },
      }),
    ]);
  }

  async function remove() {
    if (
      !(await ask({
        title: "Delete this webhook?",
        text: `Deliveries that wait for ${endpoint.url} are cancelled. This cannot be undone.`,
        yes: "Delete",
        bad: true,
      }))
    )
      return;
    try {
      await call("DELETE", path);
      guard(null);
      toast("The webhook was deleted.");
      go("/settings/developer/webhooks");
    } catch (refusal) {
      toast(refusal.message);
    }
  }
}
