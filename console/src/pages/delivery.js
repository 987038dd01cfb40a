// One delivery: its requests, responses, times, and the next attempt.

import { button, h } from "../dom.js";
import { RECEIVER_SECONDS } from "../facts.js";
import { dateTime, due, exact, number, words } from "../format.js";
import { badge } from "../parts/badge.js";
import { copyButton } from "../parts/copy.js";
import { tell, toast } from "../parts/notice.js";
import { card, facts } from "../parts/page.js";
import { subjectLink } from "../parts/subject.js";
import { link } from "../router.js";

const LOOKS = 20; // after a replay, at most
const PAUSE = 1500; // milliseconds
const TIMEOUT = RECEIVER_SECONDS * 1000; // milliseconds

export async function show(visit) {
  const path = `admin/deliveries/${encodeURIComponent(visit.params.id)}`;
  const { data } = await visit.get(path);
  page(visit, path, data);
  // A delivery that was just sent, or is about to be, updates automatically.
  if (isSoon(data)) follow(visit, path, data.attempts.length);
}

const isSoon = ({ status, nextAttemptAt }) =>
  status === "PENDING" || (nextAttemptAt !== null && new Date(nextAttemptAt) - Date.now() < 30_000);

async function follow(visit, path, known) {
  try {
    for (let look = 0; look < LOOKS; look++) {
      await visit.sleep(PAUSE);
      const { data } = await visit.get(path);
      if (data.attempts.length > known) page(visit, path, data);
      // An attempt is recorded first, and the delivery's new state a moment later.
      if (data.attempts.length > known && data.status !== "PENDING") {
        const newest = data.attempts.at(-1);
        toast(
          newest.error
            ? `Attempt ${newest.number} failed: ${reason(newest)}.`
            : `Attempt ${newest.number} was delivered.`,
          newest.error ? "bad" : "",
        );
        return;
      }
    }
  } catch (refusal) {
    tell(refusal);
  }
}

function page(visit, path, delivery) {
  const { attempts } = delivery;
  visit.draw(
    {
      title: delivery.event,
      back: [link("/settings/developer/deliveries", { webhook: delivery.endpointId }), "Deliveries"],
      badges: [badge(delivery.status), delivery.test && badge("TEST")],
      actions: button("Replay", visit.once(replay), { class: "main" }),
    },
    h.div(
      { class: "stack" },
      card(
        null,
        facts([
          [
            "Next attempt",
            delivery.nextAttemptAt
              ? [dateTime(delivery.nextAttemptAt), h.span({ class: "soft" }, " ", due(delivery.nextAttemptAt))]
              : "none",
          ],
          delivery.subject && ["About", subjectLink(delivery.subject)],
          ["Attempts", number(attempts.length)],
          ["Created", exact(delivery.createdAt)],
          [
            "Webhook",
            h.a(
              { href: link(`/settings/developer/webhooks/${delivery.endpointId}`) },
              attempts.at(-1)?.url ?? delivery.endpointId,
            ),
          ],
          ["Delivery ID", h.code(delivery.id)],
        ]),
      ),
      h.section(
        { class: "stack tight" },
        h.h2("Attempts"),
        attempts.length === 0
          ? h.p({ class: "soft" }, "No attempts yet.")
          : attempts.toReversed().map((each, at) => attempt(each, at === 0)),
      ),
      card(
        "Request body",
        delivery.body === null
          ? h.p({ class: "soft" }, "This body is no longer stored.")
          : [h.div(copyButton(visit, delivery.body)), block("Body", pretty(delivery.body))],
      ),
    ),
  );

  async function replay() {
    await visit.send("POST", `${path}/replay`, { success: "Sending again." });
    await follow(visit, path, attempts.length);
  }
}

// HTTP 500, or the error if there is no status.
const reason = ({ response, error }) => (response ? `HTTP ${response.status}` : words(error));

function attempt(each, newest) {
  const { response, error } = each;
  const share = Math.min(100, Math.max(1, (100 * each.durationMs) / TIMEOUT));
  return h.details(
    { class: "attempt", open: newest },
    h.summary(
      h.span({ class: "strong" }, `${each.number}.`),
      h.span({ class: `badge ${error ? "bad" : "good"}` }, reason(each)),
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
    error && h.p({ class: "notice bad" }, each.message ?? words(error)),
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
              h.p({ class: "small soft" }, `HTTP ${response.status}`),
              headers("Response headers", response.headers),
              response.body
                ? block("Response body", response.body)
                : h.p({ class: "soft" }, "No body."),
              response.truncated && h.p({ class: "hint" }, "Only the beginning of the response is stored."),
            ]
          : h.p({ class: "soft" }, "No response."),
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

const milliseconds = (ms) =>
  ms >= 1000 ? `${number(Math.round(ms / 10) / 100)} s` : `${number(Math.round(ms))} ms`;
