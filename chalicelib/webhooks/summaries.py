"""At most one e-mail an hour about an endpoint (docs/webhooks.md#when-a-receiver-fails).

It says how many deliveries failed since the last, that the endpoint has been failing for an hour,
or that it answers again.

What it reported, and the hour, are written after the e-mail was sent. A sender that crashed before
that may have sent it: a minute later it runs again, and sends it again.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from chalicelib import aws, settings, telemetry
from chalicelib.storage.attributes import Item
from chalicelib.storage.conditions import Attr
from chalicelib.storage.table import sk
from chalicelib.values import clock
from chalicelib.webhooks import deliveries, store
from chalicelib.webhooks.model import Endpoint

_HOUR: Final = 3_600
_SENDING: Final = 50  # seconds: a call to SES ends within 30; Lambda repeats a run after 60
_LATE: Final = timedelta(minutes=1)  # records written now may have a slightly earlier time
_WARNED_AFTER: Final = timedelta(hours=1)


@dataclass
class _Failed:
    """The report of failed deliveries. There may be a million: they are counted, not kept."""

    by_event: Counter[str] = field(default_factory=Counter)
    first: Item = field(default_factory=dict)
    last: Item = field(default_factory=dict)

    def add_entries(self, entries: Sequence[Item]) -> None:
        """Count the next failed deliveries, the oldest first; keep the first and last of all."""
        if entries:
            self.by_event.update(entry["event"] for entry in entries)
            self.first, self.last = self.first or entries[0], entries[-1]

    def __len__(self) -> int:
        return self.by_event.total()


@dataclass(frozen=True)
class _News:
    failed: _Failed
    until: str
    warns: bool
    recovered: bool

    def __bool__(self) -> bool:
        return bool(self.failed) or self.warns or self.recovered


def send() -> None:
    """Send the summary e-mail of each endpoint with news, at most one an hour.

    A failure is logged, and the others are sent. Raises RuntimeError at the end if some could not
    be sent; the next run sends them.
    """
    failed = 0
    for endpoint in store.load_all():
        try:
            _send_summary(endpoint)
        except Exception as error:
            telemetry.error("summary was not sent", error, webhookId=endpoint.id)
            failed += 1
    if failed:
        raise RuntimeError(f"{failed} summaries were not sent")


def _send_summary(endpoint: Endpoint) -> None:
    """Send an endpoint's summary if there is news, and then store that it was sent.

    The sending is claimed before, so nothing is sent twice in one hour of the clock. Nothing is
    sent without an address, or without a sender of this deployment. Stored are the hour, and until
    when failures are reported; after a warning, or the news that the endpoint answers,
    `warnedSince` too. A crash before that sends it again.
    """
    if not endpoint.summary_email or not settings.mail_from():
        return
    news = _collect_news(endpoint, clock.now())
    hour = clock.unix() // _HOUR
    if not news or not _claim_sending(endpoint, hour):
        return
    aws.client("ses").send_email(
        Source=settings.mail_from(),
        Destination={"ToAddresses": [endpoint.summary_email]},
        Message={
            "Subject": {"Data": _write_subject(news), "Charset": "UTF-8"},
            "Body": {"Text": {"Data": "\n".join(_write_lines(endpoint, news)), "Charset": "UTF-8"}},
        },
    )
    noted: dict[str, object] = {"mailHour": hour, "mailing": None, "mailedUntil": news.until}
    if news.warns or news.recovered:
        noted["warnedSince"] = endpoint.failing_since
    store.note(endpoint.id, noted)
    telemetry.info("summary sent", webhookId=endpoint.id, failed=len(news.failed))


def _collect_news(endpoint: Endpoint, now: datetime) -> _News:
    """Read what an endpoint's owner does not know yet, up to a minute ago, and return it.

    That is deliveries that failed since the last summary, that it has been failing for an hour,
    unless an e-mail has said so, or that it answers again after such a warning. Nothing is stored.
    """
    until = clock.iso(now - _LATE)
    since = f"{endpoint.mailed_until}~" if endpoint.mailed_until else "0"
    failed = _Failed()
    if since < until:
        for page in deliveries.list_failed(endpoint.id, sk.between(since, f"{until}~")):
            failed.add_entries(page)
    failing = endpoint.failing_since
    return _News(
        failed=failed,
        until=until,
        warns=failing is not None
        and failing <= clock.iso(now - _WARNED_AFTER)
        and endpoint.warned_since != failing,
        recovered=failing is None and endpoint.warned_since is not None,
    )


def _claim_sending(endpoint: Endpoint, hour: int) -> bool:
    """Claim the sending of a summary for 50 seconds; return whether this sender has it.

    It does not if another is at work, or has sent one in this hour or since the endpoint was read.
    """
    now, sent, mailing = clock.unix(), Attr("mailHour"), Attr("mailing")
    is_due = sent.not_exists() | sent.lt(hour)
    is_free = mailing.not_exists() | mailing.lt(now)
    until = Attr("mailedUntil")
    is_new = until.eq(endpoint.mailed_until) if endpoint.mailed_until else until.not_exists()
    return store.note_if(endpoint.id, {"mailing": now + _SENDING}, is_due & is_free & is_new)


def _write_subject(news: _News) -> str:
    """Return the mail's subject, by the first that there is: failures, a warning, a recovery."""
    if news.failed:
        number = len(news.failed)
        return f"{number} webhook {'delivery' if number == 1 else 'deliveries'} failed"
    if news.warns:
        return "A webhook has been failing for an hour"
    return "A webhook answers again"


def _write_lines(endpoint: Endpoint, news: _News) -> Iterator[str]:
    """Yield the lines of a summary's text, without line ends.

    They are the webhook's URL and description, whether it answers again or since when it has been
    failing, and what failed. Nothing is sent.
    """
    yield f"Webhook: {endpoint.url} ({endpoint.id})"
    if endpoint.description:
        yield f"Description: {endpoint.description}"
    yield ""
    if news.recovered:
        yield "It answers again."
    if endpoint.failing_since:
        yield f"It has been failing since {endpoint.failing_since}."
        yield "New events are still sent at once, and retried for a week."
    if news.failed:
        yield from _write_failures(endpoint, news.failed)


def _write_failures(endpoint: Endpoint, failed: _Failed) -> Iterator[str]:
    """Yield the lines about failed deliveries: how many by event, when, and what to do."""
    since = _failure_time(failed.first)
    yield ""
    yield f"These failed after all retries, between {since} and {_failure_time(failed.last)}:"
    for event, number in sorted(failed.by_event.items()):
        yield f"  {event}: {number}"
    yield f"The last error: {failed.last['error']}"
    yield ""
    yield "When the receiver works again, resend them all in the console"
    yield "(Developer, Webhooks, this webhook, Resend failed deliveries), or with:"
    yield f"  POST /api/admin/webhooks/{endpoint.id}/recover"
    yield f'  {{"since": "{since}", "dryRun": false}}'
    yield "Single ones can be replayed in the Deliveries view, for 30 days."


def _failure_time(entry: dict[str, object]) -> str:
    """Return the time with which the sort key of a failed delivery's entry begins."""
    return str(entry["sk"]).partition("#")[0]
