// One delivery: what was sent, what came back, when, and what comes next.

import { get, post, sleep } from "../api.js";
import { h } from "../dom.js";
import { dateTime, due, exact, milliseconds, number, words } from "../format.js";
import { badge } from "../parts/badge.js";
import { copyButton } from "../parts/copy.js";
import { toast } from "../parts/notice.js";
import { card, draw, facts } from "../parts/page.js";
import { link } from "../router.js";

const LOOKS = 20; // after a replay, at most
const PAUSE = 1500; // milliseconds
const TIMEOUT = 10_000; // milliseconds; a receiver has no longer

export async function show(main, { params, signal }) {
  const path = `admin/deliveries/${encodeURIComponent(params.id)}`;
  const { data } = await get(path, {}, signal);
  if (signal.aborted) return;
  page(main, path, data, signal);
  // What was just sent, or is about to be, shows its outcome by itself.
  if (isSoon(data)) follow(main, path, data.attempts.length, signal);
}

const isSoon = ({ status, nextAttemptAt }) =>
  status === "PENDING" || (nextAttemptAt !== null && new Date(nextAttemptAt) - Date.now() < 30_000);

async function follow(main, path, known, signal) {
  try {
    for (let look = 0; look < LOOKS; look++) {
      await sleep(PAUSE, signal);
      const { data } = await get(path, {}, signal);
      if (data.attempts.length > known) {
        page(main, path, data, signal);
        const { error } = data.attempts.at(-1);
        toast(error ? `Attempt ${data.attempts.length} failed: ${error}.` : "It was delivered.");
        return;
      }
    }
  } catch (error) {
    if (error.name !== "AbortError") toast(error.message);
  }
}

function page(main, path, delivery, signal) {
  const { attempts } = delivery;
  draw(
    main,
    {
      title: delivery.event,
      back: [
        link("/settings/developer/deliveries", { webhook: delivery.endpointId }),
        "Deliveries",
      ],
      beside: [badge(delivery.status), delivery.test && badge("TEST")],
      actions: h.button({ type: "button", class: "main", onclick: replay }, "Replay"),
    },
    h.div(
      { class: "stack" },
      card(
        null,
        facts([
          [
            "Next attempt",
            delivery.nextAttemptAt
              ? [
                  dateTime(delivery.nextAttemptAt),
                  h.span({ class: "soft" }, " ", due(delivery.nextAttemptAt)),
                ]
              : "none",
          ],
          ["Attempts", number(attempts.length)],
          ["Begun", exact(delivery.createdAt)],
          [
            "Webhook",
            h.a(
              { href: link(`/settings/developer/webhooks/${delivery.endpointId}`) },
              attempts.at(-1)?.url ?? delivery.endpointId,
            ),
          ],
          ["Identifier", h.code(delivery.id)],
        ]),
      ),
      h.section(
        { class: "stack tight" },
        h.h2("Attempts"),
        attempts.length === 0
          ? h.p({ class: "soft" }, "Not tried yet.")
          : attempts.toReversed().map((each, at) => attempt(each, at === 0)),
      ),
      card(
        h.span("Body that every attempt sends"),
        delivery.body === null
          ? h.p({ class: "soft" }, "It is not kept any more.")
          : [h.div(copyButton(delivery.body)), block("Body", pretty(delivery.body))],
      ),
    ),
  );

  async function replay({ target }) {
    if (target.ariaBusy) return;
    target.ariaBusy = "true";
    try {
      await post(`${path}/replay`);
      toast("It is posted again.");
      await follow(main, path, attempts.length, signal);
    } catch (refusal) {
      if (refusal.name !== "AbortError") toast(refusal.message);
    }
    target.ariaBusy = null;
  }
}

function attempt(each, newest) {
  const { response, error } = each;
  const share = Math.min(100, Math.max(1, (100 * each.durationMs) / TIMEOUT));
  return h.details(
    { class: "attempt", open: newest },
    h.summary(
      h.span({ class: "strong" }, `${each.number}.`),
      h.span(
        { class: `badge ${error ? "bad" : "good"}` },
        response ? String(response.status) : words(error),
      ),
      exact(each.at),
      each.replay && h.span({ class: "badge" }, "replay"),
      h.span(
        { class: "timing", "aria-hidden": "true" },
        h.span({ class: error ? "bad" : "good", style: { width: `${share}%` } }),
      ),
      h.span(
        { class: "soft took" },
        milliseconds(each.durationMs),
        h.span({ class: "small" }, ` of ${milliseconds(TIMEOUT)}`),
      ),
    ),
    error &&
      h.p({ class: "notice bad" }, each.message ?? words(error)),
    h.div(
      { class: "halves" },
      h.div(
        { class: "stack tight" },
        h.h3("Request"),
        h.p({ class: "small soft" }, `POST ${each.url}`, each.address ? ` (${each.address})` : ""),
        headers("Request headers", each.request.headers),
      ),
      h.div(
        { class: "stack tight" },
        h.h3("Response"),
        response
          ? [
              h.p({ class: "small soft" }, `Status ${response.status}`),
              headers("Response headers", response.headers),
              response.body
                ? block("Response body", response.body)
                : h.p({ class: "soft" }, "No body."),
              response.truncated && h.p({ class: "hint" }, "The body went on, or broke off."),
            ]
          : h.p({ class: "soft" }, "There was none."),
      ),
    ),
  );
}

const block = (name, content) =>
  h.pre({ tabindex: "0", role: "region", "aria-label": name }, content);
function headers(name, all) {
  const lines = Object.entries(all).map(([header, value]) => `${header}: ${value}`);
  return lines.length ? block(name, lines.join("\n")) : h.p({ class: "soft" }, "No headers.");
}

function pretty(body) {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}
