"""The messages of the queues, and the two lanes.

There are two lanes, so that new events never wait for retries: `deliveries` for first attempts,
`retries` for the rest and for first attempts to a failing endpoint. A message names a
delivery and a step of its schedule; everything else is read when it arrives. A message may come
twice, late, or at the same time as another.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from chalicelib import settings, sqs
from chalicelib.values import clock
from chalicelib.webhooks.model import endpoint_of


@dataclass(frozen=True, slots=True)
class Message:
    """An attempt to make: the `step` of a `schedule`, or a replay.

    `replay`: a ULID, of a request or of a recovery. `only_failed`: a recovery skips deliveries
    that have not failed, or were replayed meanwhile. `due`: when the step is due.
    """

    delivery: str
    schedule: int = 0
    step: int = 0
    due: datetime | None = None
    replay: str = ""
    only_failed: bool = False

    def text(self) -> str:
        """Return the JSON that `parse` reads: the body of the message on the queue.

        `step` and `schedule` are not in that of a replay; `due` is in it if the message has it.
        """
        fields: dict[str, object] = {"delivery": self.delivery}
        if self.replay:
            fields |= {"replay": self.replay, "onlyFailed": self.only_failed}
        else:
            fields |= {"schedule": self.schedule, "step": self.step}
        if self.due:
            fields["due"] = clock.iso(self.due)
        return json.dumps(fields, separators=(",", ":"))


def parse(text: str) -> Message:
    """Return the message of a body that `Message.text` made.

    Raises ValueError, KeyError, TypeError or AttributeError for an unknown one.
    """
    fields = json.loads(text)
    return Message(
        delivery=fields["delivery"],
        schedule=int(fields.get("schedule", 0)),
        step=int(fields.get("step", 0)),
        due=clock.parse(fields["due"]) if "due" in fields else None,
        replay=fields.get("replay", ""),
        only_failed=fields.get("onlyFailed", False),
    )


@dataclass(frozen=True, slots=True)
class Posted:
    """A message with its lane; `delay` in seconds, 900 at most (SQS)."""

    message: Message
    failing_lane: bool = True
    delay: int = 0


def send(posted: Iterable[Posted]) -> None:
    """Put messages on the queues of their lanes, in no particular order.

    Raises sqs.Unsent, or what botocore raises; some may be on the queue by then.
    """
    lanes: dict[str, list[Posted]] = {}
    for each in posted:
        url = settings.retries_queue_url() if each.failing_lane else settings.deliveries_queue_url()
        lanes.setdefault(url, []).append(each)
    for url, waiting in lanes.items():
        sqs.send(url, map(_sqs_entry, waiting))


def _sqs_entry(posted: Posted) -> dict[str, object]:
    """Return {MessageBody, DelaySeconds, MessageGroupId} of a message for a SendMessageBatch call.

    The group is the id of its endpoint. The entry's own id is added later.
    """
    return {
        "MessageBody": posted.message.text(),
        "DelaySeconds": posted.delay,
        # Fair queues: a busy endpoint's messages do not delay the others'.
        "MessageGroupId": endpoint_of(posted.message.delivery),
    }
