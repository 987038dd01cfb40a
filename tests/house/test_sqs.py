"""Batches to a queue: all messages are sent, several batches concurrently."""

import threading
from typing import Any

import pytest

from chalicelib import aws, deadline, sqs


class Queue:
    """Holds each call until `together` of them have arrived, and refuses messages in `refused`."""

    def __init__(self) -> None:
        self.together = threading.Barrier(1)
        self.calls: list[list[dict[str, Any]]] = []
        self.refused: set[str] = set()

    def send_message_batch(self, QueueUrl: str, Entries: list[dict[str, Any]]) -> Any:
        self.calls.append(Entries)
        self.together.wait(60)
        failed = [entry["Id"] for entry in Entries if entry["MessageBody"] in self.refused]
        return {"Failed": [{"Id": id, "Code": "Busy"} for id in failed]} if failed else {}


@pytest.fixture
def queue(monkeypatch: pytest.MonkeyPatch) -> Queue:
    made = Queue()
    monkeypatch.setattr(aws, "client", lambda service: made)
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    return made


def messages(many: int) -> list[dict[str, Any]]:
    return [{"MessageBody": str(number)} for number in range(many)]


@pytest.mark.parametrize("many", [0, 1, 9, 10, 11, 25])
def test_messages_are_sent_once_in_batches_of_ten(queue: Queue, many: int) -> None:
    sqs.send("q", messages(many))
    sent = [entry["MessageBody"] for call in queue.calls for entry in call]
    assert sorted(sent, key=int) == [str(number) for number in range(many)]
    assert len(queue.calls) == -(-many // 10)


def test_only_refused_messages_are_sent_again(queue: Queue) -> None:
    queue.refused = {"3", "5"}
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(deadline, "attempts", lambda: range(3))
        with pytest.raises(sqs.Unsent, match=r"SQS refused 2 entries: \['Busy'\]"):
            sqs.send("q", messages(8))
    sizes = [[entry["MessageBody"] for entry in call] for call in queue.calls]
    assert sizes == [[str(number) for number in range(8)], ["3", "5"], ["3", "5"]]


@pytest.mark.parametrize("refused", ["3", "169"])
def test_a_refusal_in_any_of_many_batches_is_an_error(
    queue: Queue, monkeypatch: pytest.MonkeyPatch, refused: str
) -> None:
    queue.refused = {refused}
    monkeypatch.setattr(deadline, "attempts", lambda: range(2))
    with pytest.raises(sqs.Unsent, match="SQS refused 1 entries"):
        sqs.send("q", messages(170))


def test_eight_batches_are_sent_concurrently(queue: Queue) -> None:
    queue.together = threading.Barrier(8)
    sqs.send("q", messages(160))
    assert len(queue.calls) == 16
