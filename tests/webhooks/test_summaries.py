"""The e-mails about failing endpoints: each is sent once."""

import re
from datetime import timedelta
from typing import Any
from unittest import mock

import pytest
from botocore.exceptions import EndpointConnectionError

from chalicelib.safe_post.post import PostResult
from chalicelib.storage import table
from chalicelib.values import clock
from chalicelib.webhooks import deliveries, store, summaries
from tests.support import dynamodb_double
from tests.support.dynamodb_double import Crash
from tests.support.webhook_world import OK, World, announce, failed
from tests.webhooks.build import add, given_up


def subject_and_text(mail: dict[str, Any]) -> tuple[str, str]:
    return mail["Message"]["Subject"]["Data"], mail["Message"]["Body"]["Text"]["Data"]


def test_one_mail_lists_all_failed_deliveries_and_how_to_recover(world: World) -> None:
    more = {"email": "ops@example.com", "description": "Till at the door"}
    webhook = add(world, "order.paid", "order.created", **more)
    silent = add(world, "order.paid")
    world.answer = lambda posted: failed(502)
    for kind in ("order.paid", "order.paid", "order.created"):
        announce(kind)
    world.run()
    world.sleep(hours=1)
    summaries.send()
    world.now -= timedelta(seconds=1)  # the clock of another function
    summaries.send()
    world.sleep(hours=1)
    summaries.send()
    (mail,) = world.mails
    assert mail["Source"] == "shop@example.com"
    assert mail["Destination"] == {"ToAddresses": ["ops@example.com"]}
    subject, text = subject_and_text(mail)
    assert subject == "3 webhook deliveries failed"
    assert "\nDescription: Till at the door\n" in text
    first, last = re.findall(r"between (\S+) and (\S+):", text)[0]
    assert first < last
    assert "order.paid: 2" in text and "order.created: 1" in text
    assert "The last error: The receiver answered 502." in text
    assert f"{webhook.path}/recover" in text and silent["id"] not in text
    since = text.partition('"since": "')[2].partition('"')[0]
    assert webhook.post("/recover", {"since": since}).json == {"count": 3}


def test_failed_deliveries_on_all_pages_are_counted(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    webhook = given_up(world, 9)
    webhook.put({"email": "ops@example.com"})
    world.sleep(hours=1)
    monkeypatch.setattr(dynamodb_double, "ANSWER_BYTES", 300)
    assert webhook.post("/recover", {"since": "2026-01-01"}).json == {"count": 9}
    summaries.send()
    (mail,) = world.mails
    assert subject_and_text(mail)[0] == "9 webhook deliveries failed"
    assert "product.created: 9" in subject_and_text(mail)[1]


def test_every_long_outage_is_mailed_once_and_short_ones_are_not(world: World) -> None:
    add(world, email="ops@example.com")

    def minutes(many: int, answer: PostResult) -> None:
        world.answer = lambda posted: answer
        for _ in range(many // 15):
            announce()
            world.sleep(minutes=15)
            summaries.send()

    for outage in (300, 75):
        minutes(outage, failed(503))
        minutes(180, OK)
    world.answer = lambda posted: failed(503)
    for _ in range(4):
        announce()
    world.sleep(minutes=20)
    summaries.send()
    minutes(180, OK)
    subjects = [subject_and_text(mail)[0] for mail in world.mails]
    assert subjects == ["A webhook has been failing for an hour", "A webhook answers again"] * 2
    warned, answered, *_ = (subject_and_text(mail)[1] for mail in world.mails)
    assert warned.partition("\n\n")[2].startswith("It has been failing since 20")
    assert answered.partition("\n\n")[2] == "It answers again."
    assert "Description" not in warned + answered


def test_a_mail_is_sent_once_an_hour_and_leaves_out_nothing(world: World) -> None:
    """It begins to fail again; a failure of a moment ago is stored after the mail."""
    webhook = given_up(world)
    webhook.put({"email": "ops@example.com"})
    world.now = world.now.replace(minute=0) + timedelta(hours=1)
    store.note(webhook["id"], {"failingSince": clock.iso(world.now)})
    summaries.send()
    failed_at = clock.iso(world.now - timedelta(seconds=30))
    pk = deliveries.failed_partition(webhook["id"])
    table.put({"pk": pk, "sk": f"{failed_at}#dlv_1", "event": "order.paid", "error": "gone"})
    world.sleep(minutes=20)
    summaries.send()
    assert [subject_and_text(mail)[0] for mail in world.mails] == ["1 webhook delivery failed"]
    assert store.get(webhook["id"]).warned_since is None
    world.sleep(minutes=50)
    summaries.send()
    subject, text = subject_and_text(world.mails[1])
    assert subject == "1 webhook delivery failed" and "order.paid: 1" in text
    assert store.get(webhook["id"]).warned_since


@pytest.mark.parametrize("after", [False, True])
def test_a_summary_whose_sender_crashed_is_sent_later(world: World, after: bool) -> None:
    webhook = given_up(world)
    webhook.put({"email": "ops@example.com"})
    world.sleep(hours=1)
    crashes = 0
    for n in range(1, 9):
        world.crash = (n, after)
        try:
            summaries.send()
        except Crash:
            crashes += 1
        world.crash = None
        world.sleep(minutes=1)  # then Lambda runs it again
    assert crashes
    summaries.send()
    assert len(world.mails) >= 1
    count = len(world.mails)
    world.sleep(hours=1)
    summaries.send()
    assert len(world.mails) == count


def test_a_refused_mail_is_retried_and_delays_no_other(world: World) -> None:
    for _ in range(2):
        webhook = given_up(world)
        webhook.put({"email": "ops@example.com"})
    world.sleep(hours=1)
    world.refusals["send_email"] = 1
    with pytest.raises(RuntimeError, match=r"^1 summaries"):
        summaries.send()
    assert len(world.mails) == 1
    # Lambda tries the failed run again twice, within minutes; then there is an alarm.
    world.sleep(minutes=1)
    unreachable = EndpointConnectionError(endpoint_url="https://email")
    with (
        mock.patch.object(world, "send_email", side_effect=unreachable),
        pytest.raises(RuntimeError, match=r"^1 summaries"),
    ):
        summaries.send()
    assert len(world.mails) == 1
    world.sleep(minutes=2)
    summaries.send()
    subjects = {subject_and_text(mail)[0] for mail in world.mails}
    assert subjects == {"1 webhook delivery failed", "2 webhook deliveries failed"}


def test_the_summary_of_a_webhook_without_an_address_goes_to_the_shop(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NOTIFY_EMAIL", "owner@example.com")
    webhook = given_up(world)
    its_own = add(world, email="ops@example.com")
    assert (webhook["summaryEmail"], webhook["notices"]) == ("owner@example.com", [])
    assert its_own["summaryEmail"] == "ops@example.com"
    world.sleep(hours=1)
    for missing in ("NOTIFY_EMAIL", "MAIL_FROM"):
        with monkeypatch.context() as patched:
            patched.setenv(missing, "")
            summaries.send()
    assert world.mails == []
    summaries.send()
    (mail,) = world.mails
    assert mail["Destination"] == {"ToAddresses": ["owner@example.com"]}
    assert webhook["id"] in subject_and_text(mail)[1]


def test_a_new_webhook_without_summaries_shows_a_warning(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def added(**more: Any) -> tuple[Any, list[str]]:
        webhook = add(world, **more)
        return webhook["summaryEmail"], [notice["code"] for notice in webhook["notices"]]

    assert added() == (None, ["no_summary_address"])
    assert added(email="ops@example.com") == ("ops@example.com", [])
    monkeypatch.setenv("MAIL_FROM", "")
    monkeypatch.setenv("NOTIFY_EMAIL", "owner@example.com")
    assert added() == (None, ["no_summary_sender"])
    assert added(email="ops@example.com") == (None, ["no_summary_sender"])


@pytest.mark.parametrize("moment", ["Query", "UpdateItem", "send_email"])
def test_a_summary_is_sent_by_one_sender(world: World, moment: str) -> None:
    """Another one sends it, and the next hour begins: before the first asks what failed, or writes
    that it sends, or while it does."""
    given_up(world).put({"email": "ops@example.com"})
    world.now = world.now.replace(minute=59, second=59) + timedelta(hours=1)
    before = len(world.calls)

    def meanwhile(operation: str) -> None:
        if operation == moment and "Query" in world.calls[before:-1]:  # of the webhooks
            world.fate = lambda operation: None
            summaries.send()
            world.now += timedelta(seconds=1)

    world.fate = meanwhile
    summaries.send()
    assert len(world.mails) == 1
