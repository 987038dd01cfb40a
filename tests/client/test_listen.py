"""`backroom listen` loses no event if the shop restarts, the receiver fails, or it crashes."""

import json
import random
import stat
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from backroom import ApiError, BackroomError, Policy, ServerError, Unreachable, verify
from backroom.cli.listen import (
    AlreadyListening,
    Attempt,
    Listener,
    Progress,
    ProgressFile,
    delivery_id,
    new_secret,
)

from tests.client.inside import client
from tests.support.shop import Shop
from tests.support.webhook_world import World, announce

URL, RECEIVER, BEGIN = "http://shop.test", "http://127.0.0.1:9000/hook", "2026-01-01T00:00:00Z"


class Killed(BaseException):
    """The listener was killed."""


class Receiver:
    """Accepts signed events. `answers`: the next statuses or errors; after them always 200."""

    def __init__(self, secret: str) -> None:
        self.secret = secret
        self.taken: list[Any] = []
        self.ids: list[str] = []
        self.answers: Iterator[int | Exception] = iter(())

    def __call__(self, request: httpx.Request) -> httpx.Response:
        assert str(request.url) == RECEIVER
        event = verify(request.content, request.headers, self.secret)
        answer = next(self.answers, 200)
        if isinstance(answer, Exception):
            raise answer
        if answer == 200:
            self.taken.append({"event": event["event"], "data": event["data"]})
            self.ids.append(event["id"])
        return httpx.Response(answer)


@pytest.fixture
def kept(tmp_path: Path) -> ProgressFile:
    return ProgressFile(tmp_path, URL, RECEIVER, [])


class Desk:
    """A shop, a receiver, and listeners that each continue where the last one stopped."""

    def __init__(self, world: World, kept: ProgressFile) -> None:
        self.world, self.kept = world, kept
        self.shop = Shop()
        self.receiver = Receiver(new_secret())
        self.attempts: list[Attempt] = []
        self.trouble: list[str] = []
        self.slept: list[float] = []

    def listener(self, **options: Any) -> Listener:
        backroom, self.inside = client(self.shop, policy=Policy(retries=0, sleep=self.sleep))
        progress = self.kept.read() or Progress(URL, RECEIVER, self.receiver.secret, since=BEGIN)
        return Listener(
            backroom,
            self.kept,
            progress,
            on_attempt=self.attempts.append,
            on_trouble=self.trouble.append,
            http=httpx.Client(transport=httpx.MockTransport(self.receiver)),
            sleep=self.sleep,
            **options,
        )

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.world.sleep(seconds=seconds)

    def events(self) -> list[Any]:
        return [{"event": each["event"], "data": each["data"]} for each in self._committed()]

    def expected(self) -> list[str]:
        """The ids of the deliveries of all events, in the order of the feed."""
        return [delivery_id(each["id"], RECEIVER) for each in self._committed()]

    def _committed(self) -> list[Any]:
        found = self.shop.get("/api/admin/events?limit=500").json["data"]
        assert len(found) < 500
        return list(found)


@pytest.fixture
def desk(world: World, kept: ProgressFile) -> Desk:
    return Desk(world, kept)


def happen(desk: Desk, times: int) -> None:
    for _ in range(times):
        announce("product.updated")
    desk.world.run(timedelta(seconds=1))
    desk.world.sleep(minutes=1)


def test_events_are_posted_signed_and_in_order(desk: Desk) -> None:
    happen(desk, 5)
    desk.listener().run(once=True)
    assert desk.receiver.taken == desk.events()
    assert desk.receiver.ids == desk.expected()
    assert len(set(desk.receiver.ids)) == 5
    desk.listener().run(once=True)
    assert len(desk.receiver.taken) == 5, "a second run goes on behind the first"


def test_a_failing_receiver_is_retried_until_it_accepts(desk: Desk) -> None:
    happen(desk, 2)
    desk.receiver.answers = iter([500, httpx.ConnectError("refused"), 302, 200])
    desk.listener().run(once=True)
    assert desk.receiver.taken == desk.events()
    failed = [attempt.error for attempt in desk.attempts if attempt.error]
    assert failed == ["HTTP 500", "ConnectError: refused", "HTTP 302"]
    assert desk.slept == [1, 2, 4]


def test_an_event_is_skipped_only_on_request(desk: Desk) -> None:
    happen(desk, 2)
    desk.receiver.answers = iter([500, 500])
    listener = desk.listener(tries=2)
    listener.run(once=True)
    assert listener.left_out == 1
    assert desk.receiver.ids == desk.expected()[1:]


def listen(desk: Desk, monkeypatch: pytest.MonkeyPatch, *answers: Any) -> None:
    """Runs a listener whose requests to the shop get these answers, of which None is the shop's,
    and that is then killed."""
    listener, whole, left = desk.listener(), httpx.Client.send, iter(answers)

    def send(http: httpx.Client, request: httpx.Request, **more: Any) -> httpx.Response:
        answer = next(left, Killed()) if request.url.host == "shop.test" else None
        if isinstance(answer, BaseException):
            raise answer
        return answer or whole(http, request, **more)

    with monkeypatch.context() as patched, pytest.raises(Killed):
        patched.setattr(httpx.Client, "send", send)
        listener.run()


def test_the_listener_waits_while_the_shop_restarts(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    happen(desk, 3)
    refused, cut = httpx.ConnectError("refused"), httpx.ReadError("cut")
    listen(desk, monkeypatch, refused, None, cut, None)
    assert desk.receiver.taken == desk.events()
    assert len(desk.trouble) == 2 and "again in 2 s" in desk.trouble[0]


def of_the_gateway(status: int) -> httpx.Response:
    return httpx.Response(status, json={"message": "Not Found"})


@pytest.mark.parametrize("status", [403, 404])
def test_the_listener_waits_while_the_shop_is_deployed_again(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    happen(desk, 3)
    listen(desk, monkeypatch, None, of_the_gateway(status), None)
    assert desk.receiver.taken == desk.events()
    assert len(desk.trouble) == 1 and "Not Found" in desk.trouble[0]


@pytest.mark.parametrize("status", [403, 404])
def test_a_wrong_address_is_reported_without_retries(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    monkeypatch.setattr(httpx.Client, "send", lambda *_, **__: of_the_gateway(status))
    with pytest.raises(ApiError, match="Not Found"):
        desk.listener().run()
    assert desk.trouble == []


@pytest.mark.thorough
def test_a_crash_loses_no_event_and_repeats_at_most_one(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance, whole, write = random.Random(3), httpx.Client.send, ProgressFile.write
    deaths = 0

    def perhaps(share: float) -> None:
        nonlocal deaths
        if chance.random() < share:
            deaths += 1
            raise Killed

    def send(http: httpx.Client, request: httpx.Request, **more: Any) -> httpx.Response:
        if request.url.host == "shop.test":
            if chance.random() < 0.3:
                raise httpx.ConnectError("the shop restarts")
            return whole(http, request, **more)
        perhaps(0.02)
        answer = whole(http, request, **more)
        perhaps(0.05)  # accepted, but not recorded
        return answer

    def keep(kept: ProgressFile, progress: Progress) -> None:
        perhaps(0.02)
        write(kept, progress)
        perhaps(0.02)

    monkeypatch.setattr(httpx.Client, "send", send)
    monkeypatch.setattr(ProgressFile, "write", keep)
    for _ in range(40):
        happen(desk, chance.randrange(8))
        desk.receiver.answers = iter([200] * chance.randrange(9) + [503])
        while True:
            try:
                desk.listener().run(once=True)
            except Killed:
                continue
            except (Unreachable, ServerError):
                desk.world.sleep(seconds=10)
                continue
            break
    times = Counter(desk.receiver.ids)
    assert deaths > 10
    assert len(times) == len(desk.events()) > 60, "none is missing"
    assert sum(times.values()) - len(times) <= deaths
    assert list(times) == desk.expected(), "and each comes first in its turn"


def test_the_progress_file_is_private_and_used_by_one_listener(
    desk: Desk, kept: ProgressFile
) -> None:
    desk.listener().run(once=True)
    assert stat.S_IMODE(kept.file.stat().st_mode) == 0o600
    other = ProgressFile(kept.file.parent, URL, RECEIVER, [])
    with kept.hold_lock(), pytest.raises(AlreadyListening), other.hold_lock():
        pass
    kept.file.write_text("{")
    with pytest.raises(BackroomError, match="--reset"):
        kept.read()


def test_a_listener_starting_now_gets_no_past_events(desk: Desk, kept: ProgressFile) -> None:
    happen(desk, 2)
    now = desk.world.now.astimezone(UTC).isoformat()
    kept.write(Progress(URL, RECEIVER, desk.receiver.secret, since=now))
    desk.listener().run(once=True)
    assert desk.receiver.taken == []
    happen(desk, 1)
    desk.listener().run(once=True)
    assert len(desk.receiver.taken) == 1
    assert json.loads(kept.file.read_text())["after"]
