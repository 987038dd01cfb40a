"""The Deliveries view, replay and recovery."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.safe_post.post import Failure, PostResult
from chalicelib.values import clock
from chalicelib.webhooks import view
from tests.support.shop import Shop
from tests.support.webhook_world import OK, World, announce, failed
from tests.webhooks.test_delivery import add, failing, listed, only


def given_up(world: World, merchant: Shop, count: int = 1) -> dict[str, Any]:
    """A webhook with `count` failed deliveries, whose receiver works again."""
    webhook = failing(world, merchant, count)
    assert {one["status"] for one in listed(merchant, webhook, "?limit=100")} == {"FAILED"}
    world.posted.clear()
    world.answer = lambda posted: OK
    return webhook


@pytest.mark.parametrize(
    ("headers", "body", "records"),
    [({"a": "b" * 999}, 1_000, 0), ({"a": "b" * 999}, 1_001, 1), ({}, 2_001, 1)],
)
def test_a_long_answer_to_the_first_attempt_has_a_record_of_its_own(
    world: World, merchant: Shop, headers: dict[str, str], body: int, records: int
) -> None:
    webhook = add(merchant)
    world.answer = lambda posted: replace(OK, headers=headers, body=b"x" * body)
    announce()
    world.run()
    delivery = only(merchant, webhook)
    (attempt,) = delivery["attempts"]
    assert (attempt["response"]["headers"], attempt["response"]["body"]) == (headers, "x" * body)
    assert len([one for one in world.stored() if one["pk"] == delivery["id"]]) == records


def test_every_attempt_is_shown_completely(world: World, merchant: Shop) -> None:
    webhook = add(merchant)
    answers = iter(
        [
            PostResult(
                status=500,
                headers={"content-type": "text/html"},
                body="<h1>Über</h1>".encode() + b"\xff",
                truncated=True,
                duration_ms=1_234,
                address="127.0.0.1",
                error=Failure.STATUS,
                message="The receiver answered 500.",
            ),
            PostResult(duration_ms=10_000, error=Failure.TIMEOUT, message="No complete answer."),
            OK,
        ]
    )
    world.answer = lambda posted: next(answers)
    announce()
    world.run()
    delivery = only(merchant, webhook)
    first, second, third = delivery["attempts"]
    assert (first["durationMs"], first["address"], first["error"]) == (1_234, "127.0.0.1", "status")
    assert first["message"] == "The receiver answered 500."
    assert first["response"] == {
        "status": 500,
        "headers": {"content-type": "text/html"},
        "body": "<h1>Über</h1>\ufffd",
        "truncated": True,
    }
    assert (second["error"], second["response"], second["durationMs"]) == ("timeout", None, 10_000)
    assert third["error"] is None and third["request"]["headers"] == world.posted[2].headers
    assert delivery["body"] == world.posted[0].body.decode()


def test_deliveries_are_listed_newest_first_page_by_page(world: World, merchant: Shop) -> None:
    webhook = add(merchant)
    for _ in range(23):
        announce()
        world.sleep(seconds=1)
    whole = [one["id"] for one in listed(merchant, webhook, "?limit=100")]
    assert len(whole) == 23 and whole == sorted(whole, reverse=True)
    pages = [*merchant.pages(f"/api/admin/webhooks/{webhook['id']}/deliveries?limit=5", "")]
    assert max(len(page.json["data"]) for page in pages) <= 5
    assert [one["id"] for page in pages for one in page.json["data"]] == whole


def test_deliveries_are_filtered_by_status_event_and_time(world: World, merchant: Shop) -> None:
    webhook = add(merchant, "order.paid", "order.created")
    world.answer = lambda posted: (
        failed() if posted.headers["X-Service-Event"] == "order.paid" else OK
    )
    announce("order.created")
    world.sleep(seconds=10)
    since = clock.iso(world.now)
    announce("order.paid")
    announce("order.created")
    world.sleep(seconds=10)

    def events(query: str) -> list[str]:
        return sorted(one["event"] for one in listed(merchant, webhook, query))

    assert events("?status=RETRYING") == ["order.paid"]
    assert events("?status=DELIVERED,RETRYING&event=order.paid") == ["order.paid"]
    assert events("?event=order.created") == ["order.created"] * 2
    assert events(f"?since={since}") == ["order.created", "order.paid"]
    assert events("?status=CANCELLED") == []


@pytest.mark.parametrize("query", ["status=LOST", "event=x", "since=soon", "limit=0", "cursor=1"])
def test_a_bad_filter_is_refused_by_name(merchant: Shop, query: str) -> None:
    path = f"/api/admin/webhooks/{add(merchant)['id']}/deliveries?{query}"
    answer = merchant.get(path)
    assert answer.status == 422
    assert answer.json["errors"][0]["field"].partition(".")[0] == query.partition("=")[0]


def test_a_filter_with_few_matches_finds_distant_ones(
    world: World, merchant: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(view, "_LOOKED_AT", 3)
    monkeypatch.setattr(view, "_ROUNDS", 2)
    webhook = add(merchant, "order.paid", "order.created")
    announce("order.paid")
    for _ in range(60):
        world.sleep(seconds=1)
        announce("order.created")
    world.run()
    path = f"/api/admin/webhooks/{webhook['id']}/deliveries?event=order.paid"
    pages = [*merchant.pages(path, "")]
    found = [one["event"] for page in pages for one in page.json["data"]]
    assert found == ["order.paid"] and len(pages) > 1


def test_the_deliveries_of_all_webhooks_are_one_list(world: World, merchant: Shop) -> None:
    first, second = add(merchant, "order.paid"), add(merchant, "order.paid", "order.created")
    for kind in ("order.paid", "order.created") * 6:
        announce(kind)
        world.sleep(seconds=1)
    world.run()
    both = [one["id"] for each in (first, second) for one in listed(merchant, each, "?limit=100")]
    pages = merchant.pages("/api/admin/deliveries?limit=4", "")
    walked = [one for page in pages for one in page.json["data"]]
    assert [one["id"] for one in walked] == sorted(both, reverse=True) and len(both) == 18
    assert {one["endpointId"] for one in walked} == {first["id"], second["id"]}
    only_created = merchant.get("/api/admin/deliveries?event=order.created").json["data"]
    assert [one["endpointId"] for one in only_created] == [second["id"]] * 6
    merchant.delete(f"/api/admin/webhooks/{second['id']}")
    left = merchant.get("/api/admin/deliveries?limit=100").json["data"]
    assert {one["endpointId"] for one in left} == {first["id"]}


def test_the_list_of_all_webhooks_reads_only_as_far_as_the_page(
    world: World, merchant: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(view, "_LOOKED_AT", 1)
    reads = []
    read = view._Shard.read
    monkeypatch.setattr(view._Shard, "read", lambda *of: reads.append(of) or read(*of))
    add(merchant, "order.created")
    paid = add(merchant, "order.paid")
    for kind in ("order.created",) * 40 + ("order.paid",) * 8:
        announce(kind)
        world.sleep(seconds=1)
    world.run()
    page = merchant.get("/api/admin/deliveries?event=order.paid&limit=2").json
    assert 0 < len(reads) < 20
    newest = [one["id"] for one in listed(merchant, paid)][:2]
    assert [one["id"] for one in page["data"]] == newest and page["nextCursor"]


def test_a_shop_without_webhooks_has_no_deliveries(merchant: Shop) -> None:
    assert merchant.get("/api/admin/deliveries").json == {"data": [], "nextCursor": None}


def test_a_replay_of_an_ended_delivery_posts_the_same_request(world: World, merchant: Shop) -> None:
    webhook = add(merchant)
    announce()
    world.run()
    id = only(merchant, webhook)["id"]
    assert merchant.post(f"/api/admin/deliveries/{id}/replay").status == 202
    world.run()
    first, again = world.posted
    assert (again.body, again.delivery) == (first.body, first.delivery)
    delivery = only(merchant, webhook)
    assert (delivery["status"], delivery["attemptCount"]) == ("DELIVERED", 2)


def test_a_replay_of_a_failed_delivery_restarts_the_schedule(world: World, merchant: Shop) -> None:
    webhook = given_up(world, merchant)
    world.answer = lambda posted: failed()
    id = only(merchant, webhook)["id"]
    merchant.post(f"/api/admin/deliveries/{id}/replay")
    world.run(timedelta(seconds=1))
    assert only(merchant, webhook)["status"] == "RETRYING"
    world.run()
    delivery = only(merchant, webhook)
    assert (delivery["status"], delivery["attemptCount"]) == ("FAILED", 26)


def test_a_failed_replay_does_not_change_a_running_schedule(world: World, merchant: Shop) -> None:
    webhook = failing(world, merchant, minutes=2)
    before = listed(merchant, webhook)[0]
    merchant.post(f"/api/admin/deliveries/{before['id']}/replay")
    world.run(timedelta(minutes=1))
    after = only(merchant, webhook)
    assert (after["status"], after["attemptCount"]) == ("RETRYING", before["attemptCount"] + 1)
    assert after["nextAttemptAt"] == before["nextAttemptAt"]
    assert [one["replay"] for one in after["attempts"]] == [False, False, True]
    world.run()
    assert only(merchant, webhook)["attemptCount"] == 14


def test_a_replay_that_succeeds_ends_a_running_schedule(world: World, merchant: Shop) -> None:
    webhook = failing(world, merchant, hours=5)
    posts = len(world.posted)
    world.answer = lambda posted: OK
    merchant.post(f"/api/admin/deliveries/{only(merchant, webhook)['id']}/replay")
    world.run()
    assert len(world.posted) == posts + 1
    assert only(merchant, webhook)["status"] == "DELIVERED"


def test_a_replay_to_a_paused_webhook_is_refused(world: World, merchant: Shop) -> None:
    webhook = given_up(world, merchant)
    path = f"/api/admin/webhooks/{webhook['id']}"
    merchant.put(path, {"enabled": False})
    replay = merchant.post(f"/api/admin/deliveries/{only(merchant, webhook)['id']}/replay")
    trial = merchant.post(f"{path}/test", {})
    recovery = merchant.post(f"{path}/recover", {"since": "2026-01-01", "dryRun": False})
    for refused in (replay, trial, recovery):
        assert (refused.status, refused.json["code"]) == (409, "webhook_paused")


def test_a_replay_of_a_too_old_delivery_is_refused(world: World, merchant: Shop) -> None:
    webhook = add(merchant)
    announce()
    world.run()
    path = f"/api/admin/deliveries/{only(merchant, webhook)['id']}/replay"
    world.sleep(days=29)
    assert merchant.post(path).status == 202
    world.sleep(days=24)
    answer = merchant.post(path)
    assert (answer.status, answer.json["code"]) == (409, "event_expired")


def test_a_recovery_counts_first_and_then_sends_all_failed_deliveries(
    world: World, merchant: Shop
) -> None:
    webhook = given_up(world, merchant, 7)
    path = f"/api/admin/webhooks/{webhook['id']}"
    since = "2026-01-01T00:00:00Z"
    assert merchant.post(f"{path}/recover", {"since": since}).json == {"count": 7}
    assert merchant.post(f"{path}/recover", {"since": "2100-01-01"}).json == {"count": 0}
    world.run()
    assert world.posted == []
    begun = merchant.post(f"{path}/recover", {"since": since, "dryRun": False})
    assert (begun.status, begun.json["count"]) == (202, 7)
    world.run()
    assert len(world.posted) == 7
    assert {one["status"] for one in listed(merchant, webhook)} == {"DELIVERED"}
    recovery = merchant.get(path).json["recovery"]
    assert (recovery["count"], recovery["sent"]) == (7, 7) and recovery["completedAt"]
    assert merchant.post(f"{path}/recover", {"since": since}).json == {"count": 0}


def test_a_recovery_sends_at_a_limited_rate(
    world: World, merchant: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    from chalicelib.webhooks.parked import redrive

    monkeypatch.setattr(redrive, "PAGE", 20)
    monkeypatch.setattr(redrive, "PER_SECOND", 4)
    webhook = given_up(world, merchant, 50)
    path = f"/api/admin/webhooks/{webhook['id']}/recover"
    merchant.post(path, {"since": "2026-01-01", "dryRun": False})
    world.run()
    assert len(world.posted) == 50
    seconds = sorted(int(posted.at.timestamp()) for posted in world.posted)
    for second in seconds:
        assert seconds.count(second) <= 4


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("n", range(1, 29))
def test_a_recovery_that_crashes_at_any_call_is_completed(
    world: World, merchant: Shop, n: int, after: bool
) -> None:
    webhook = given_up(world, merchant, 3)
    path = f"/api/admin/webhooks/{webhook['id']}/recover"
    merchant.post(path, {"since": "2026-01-01", "dryRun": False})
    world.calls.clear()
    world.crash = (n, after)
    world.run()
    assert world.crash is None, "it made fewer calls"
    assert {one["status"] for one in listed(merchant, webhook)} == {"DELIVERED"}
    # Only a delivery whose sender crashed between the POST and its record is posted again.
    repeated = world.calls[n - 1] == ("Post" if after else "PutItem")
    assert len(world.posted) == 3 + repeated and len({one.delivery for one in world.posted}) == 3


def test_a_recovery_waits_while_its_webhook_is_paused(world: World, merchant: Shop) -> None:
    webhook = given_up(world, merchant, 3)
    path = f"/api/admin/webhooks/{webhook['id']}"
    merchant.post(f"{path}/recover", {"since": "2026-01-01", "dryRun": False})
    merchant.put(path, {"enabled": False})
    world.run()
    assert world.posted == []
    merchant.put(path, {"enabled": True})
    world.run()
    assert len(world.posted) == 3


def test_a_recovery_without_failed_deliveries_ends(world: World, merchant: Shop) -> None:
    path = f"/api/admin/webhooks/{given_up(world, merchant)['id']}"
    world.sleep(seconds=1)
    merchant.post(f"{path}/recover", {"since": "2100-01-01", "dryRun": False})
    world.run()
    recovery = merchant.get(path).json["recovery"]
    assert (recovery["count"], recovery["sent"]) == (0, 0) and recovery["completedAt"]
    assert world.posted == []


def test_a_cursor_before_since_returns_an_empty_page(world: World, merchant: Shop) -> None:
    webhook = add(merchant)
    announce()
    world.sleep(days=1)
    cursor = listed(merchant, webhook)[0]["id"]
    path = f"/api/admin/webhooks/{webhook['id']}/deliveries?cursor={cursor}"
    answer = merchant.get(f"{path}&since={clock.iso(world.now)}")
    assert answer.json == {"data": [], "nextCursor": None}


@pytest.mark.parametrize("since", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"])
def test_a_time_outside_the_range_of_utc_is_refused(
    since: str, world: World, merchant: Shop
) -> None:
    path = f"/api/admin/webhooks/{add(merchant)['id']}/recover"
    for dry_run in (True, False):
        answer = merchant.post(path, {"since": since, "dryRun": dry_run})
        assert answer.status == 422
        assert [error["field"] for error in answer.json["errors"]] == ["since"]


def test_a_recovery_of_an_endpoint_deleted_meanwhile_is_not_found(
    world: World, merchant: Shop
) -> None:
    webhook = given_up(world, merchant)
    path = f"/api/admin/webhooks/{webhook['id']}"
    world.meanwhile("Query", lambda: merchant.delete(path))
    asked = {"since": "2026-01-01T00:00:00Z", "dryRun": False}
    assert merchant.post(f"{path}/recover", asked).status == 404


def test_the_list_has_the_subject_and_last_result_of_each_delivery(
    world: World, merchant: Shop
) -> None:
    webhook = add(merchant, "order.created", "product.created", "customer.created")
    world.answer = lambda posted: failed()
    announce("order.created", id="ord_1", number="1042", customer={"email": "a@example.com"})
    announce("product.created", id="prod_1", name="Linen " * 20)
    announce("customer.created", id="cus_1", firstName="Ada", email="a@example.com", name="Ada")
    world.sleep(seconds=20)
    rows = {row["event"]: row for row in listed(merchant, webhook)}
    assert {(row["lastStatus"], row["lastError"]) for row in rows.values()} == {(500, "status")}
    assert {row["status"] for row in rows.values()} == {"RETRYING"}
    assert {event: row["subject"] for event, row in rows.items()} == {
        "order.created": {"id": "ord_1", "name": "1042"},
        "product.created": {"id": "prod_1", "name": ("Linen " * 20)[:100]},
        "customer.created": {"id": "cus_1", "name": None},
    }
    world.answer = lambda posted: OK
    world.run()
    (row,) = listed(merchant, webhook, "?subject=ord_1")
    assert (row["event"], row["lastStatus"], row["lastError"]) == ("order.created", 200, None)
    last = merchant.get(f"/api/admin/deliveries/{row['id']}").json["attempts"][-1]
    assert row["lastDurationMs"] == last["durationMs"] > 0
    assert listed(merchant, webhook, "?subject=ord_2") == []
