"""The Deliveries view, replay and recovery."""

from dataclasses import replace
from datetime import timedelta

import pytest

from chalicelib.safe_post.post import Failure, PostResult
from chalicelib.values import clock
from chalicelib.webhooks import deliveries, redrive, view
from tests.support import dynamodb_double
from tests.support.webhook_world import OK, World, announce, failed
from tests.webhooks.build import URL, add, failing, given_up


@pytest.mark.parametrize(
    ("headers", "body", "records"),
    [({"a": "b" * 999}, 1_000, 0), ({"a": "b" * 999}, 1_001, 1), ({}, 2_001, 1)],
)
def test_a_long_answer_to_the_first_attempt_has_a_record_of_its_own(
    world: World, headers: dict[str, str], body: int, records: int
) -> None:
    webhook = add(world)
    world.answer = lambda posted: replace(OK, headers=headers, body=b"x" * body)
    announce()
    world.run()
    delivery = webhook.only()
    (attempt,) = delivery["attempts"]
    assert (attempt["response"]["headers"], attempt["response"]["body"]) == (headers, "x" * body)
    assert len([one for one in world.stored() if one["pk"] == delivery["id"]]) == records


def test_a_success_on_the_third_try_ends_the_schedule_and_every_attempt_is_shown_completely(
    world: World,
) -> None:
    webhook = add(world)
    body = "<h1>Über</h1>".encode() + b"\xff"
    refused = failed(headers={"content-type": "text/html"}, body=body, truncated=True)
    silent = PostResult(duration_ms=10_000, error=Failure.TIMEOUT, message="No complete answer.")
    answers = iter([replace(refused, address="127.0.0.1", duration_ms=1_234), silent, OK])
    world.answer = lambda posted: next(answers)
    announce(name="Größe")
    world.run()
    delivery = webhook.only()
    assert delivery["status"] == "DELIVERED"
    assert len({(posted.delivery, posted.body) for posted in world.posted}) == 1
    assert len({posted.headers["X-Service-Signature"] for posted in world.posted}) == 3
    first, second, third = delivery["attempts"]
    assert [one["number"] for one in (first, second, third)] == [1, 2, 3]
    assert (first["durationMs"], first["address"], first["error"]) == (1_234, "127.0.0.1", "status")
    assert first["url"] == URL
    assert first["message"] == "The receiver answered 500."
    assert first["response"] == {
        **{"status": 500, "headers": {"content-type": "text/html"}},
        **{"body": "<h1>Über</h1>\ufffd", "truncated": True},
    }
    assert (second["error"], second["response"], second["durationMs"]) == ("timeout", None, 10_000)
    assert third["error"] is None and third["request"]["headers"] == world.posted[2].headers
    assert delivery["body"] == '{"event":"product.created","data":{"name":"Größe"}}'
    assert delivery["body"] == world.posted[0].body.decode()


def test_of_a_delivery_that_is_replayed_all_day_the_newest_attempts_are_shown(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deliveries, "MOST_ATTEMPTS", 4)
    webhook = given_up(world)
    assert [one["number"] for one in webhook.only()["attempts"]] == [10, 11, 12, 13]
    with monkeypatch.context() as patched:
        patched.setattr(dynamodb_double, "ANSWER_BYTES", 700)
        assert [one["number"] for one in webhook.only()["attempts"]] == [10, 11, 12, 13]
    announce()
    world.run()
    arrived = world.posted[-1].delivery
    for _ in range(4):
        world.shop.post(f"/api/admin/deliveries/{arrived}/replay")
        world.run()
    shown = world.shop.read(f"/api/admin/deliveries/{arrived}")["attempts"]
    assert [one["number"] for one in shown] == [2, 3, 4, 5], "the first was stored elsewhere"


def test_deliveries_are_listed_newest_first_page_by_page(world: World) -> None:
    webhook = add(world)
    for _ in range(23):
        announce()
        world.sleep(seconds=1)
    whole = [one["id"] for one in webhook.listed("?limit=100")]
    assert len(whole) == 23 and whole == sorted(whole, reverse=True)
    pages = [*world.shop.pages(f"{webhook.path}/deliveries?limit=5", "")]
    assert max(len(page.json["data"]) for page in pages) <= 5
    assert [one["id"] for page in pages for one in page.json["data"]] == whole


def test_deliveries_are_filtered_by_status_event_and_time(world: World) -> None:
    webhook = add(world, "order.paid", "order.created")
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
        return sorted(one["event"] for one in webhook.listed(query))

    assert events("?status=RETRYING") == ["order.paid"]
    assert events("?status=DELIVERED,RETRYING&event=order.paid") == ["order.paid"]
    assert events("?event=order.created") == ["order.created"] * 2
    assert events(f"?since={since}") == ["order.created", "order.paid"]
    assert events("?status=CANCELLED") == []


@pytest.mark.parametrize("query", ["status=LOST", "event=x", "since=soon", "limit=0", "cursor=1"])
def test_a_bad_filter_is_refused_by_name(world: World, query: str) -> None:
    (field,) = add(world).fetch(f"/deliveries?{query}").refused
    assert field.partition(".")[0] == query.partition("=")[0]


def test_a_filter_with_few_matches_finds_distant_ones(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(view, "_LOOKED_AT", 3)
    monkeypatch.setattr(view, "_ROUNDS", 2)
    webhook = add(world, "order.paid", "order.created")
    announce("order.paid")
    for _ in range(60):
        world.sleep(seconds=1)
        announce("order.created")
    world.run()
    pages = [*world.shop.pages(f"{webhook.path}/deliveries?event=order.paid", "")]
    found = [one["event"] for page in pages for one in page.json["data"]]
    assert found == ["order.paid"] and len(pages) > 1


def test_the_deliveries_of_all_webhooks_are_one_list(world: World) -> None:
    first, second = add(world, "order.paid"), add(world, "order.paid", "order.created")
    for kind in ("order.paid", "order.created") * 6:
        announce(kind)
        world.sleep(seconds=1)
    world.run()
    both = [one["id"] for each in (first, second) for one in each.listed("?limit=100")]
    pages = world.shop.pages("/api/admin/deliveries?limit=4", "")
    walked = [one for page in pages for one in page.json["data"]]
    assert [one["id"] for one in walked] == sorted(both, reverse=True) and len(both) == 18
    assert {one["endpointId"] for one in walked} == {first["id"], second["id"]}
    only_created = world.shop.get("/api/admin/deliveries?event=order.created").json["data"]
    assert [one["endpointId"] for one in only_created] == [second["id"]] * 6
    second.delete()
    left = world.shop.get("/api/admin/deliveries?limit=100").json["data"]
    assert {one["endpointId"] for one in left} == {first["id"]}


def test_the_list_of_all_webhooks_reads_only_as_far_as_the_page(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(view, "_LOOKED_AT", 1)
    reads = []
    next_call = view._Shard.next_call
    monkeypatch.setattr(view._Shard, "next_call", lambda *of: reads.append(of) or next_call(*of))
    add(world, "order.created")
    paid = add(world, "order.paid")
    for kind in ("order.created",) * 40 + ("order.paid",) * 8:
        announce(kind)
        world.sleep(seconds=1)
    world.run()
    page = world.shop.get("/api/admin/deliveries?event=order.paid&limit=2").json
    assert 0 < len(reads) < 20
    newest = [one["id"] for one in paid.listed()][:2]
    assert [one["id"] for one in page["data"]] == newest and page["nextCursor"]


def test_a_shop_without_webhooks_has_no_deliveries(world: World) -> None:
    assert world.shop.get("/api/admin/deliveries").json == {"data": [], "nextCursor": None}


def test_a_replay_of_a_failed_delivery_restarts_the_schedule(world: World) -> None:
    webhook = given_up(world)
    world.answer = lambda posted: failed()
    id = webhook.only()["id"]
    world.shop.post(f"/api/admin/deliveries/{id}/replay")
    world.run(timedelta(seconds=1))
    assert webhook.only()["status"] == "RETRYING"
    world.run()
    delivery = webhook.only()
    assert (delivery["status"], delivery["attemptCount"]) == ("FAILED", 26)


def test_a_failed_replay_does_not_change_a_running_schedule(world: World) -> None:
    webhook = failing(world, minutes=2)
    before = webhook.listed()[0]
    world.shop.post(f"/api/admin/deliveries/{before['id']}/replay")
    world.run(timedelta(minutes=1))
    after = webhook.only()
    assert (after["status"], after["attemptCount"]) == ("RETRYING", before["attemptCount"] + 1)
    assert after["nextAttemptAt"] == before["nextAttemptAt"] and world.stored("due#") == []
    assert [one["replay"] for one in after["attempts"]] == [False, False, True]
    world.run()
    assert webhook.only()["attemptCount"] == 14


def test_a_replay_to_a_paused_webhook_is_refused(world: World) -> None:
    webhook = given_up(world)
    webhook.put({"enabled": False})
    replay = world.shop.post(f"/api/admin/deliveries/{webhook.only()['id']}/replay")
    trial = webhook.post("/test", {})
    recovery = webhook.post("/recover", {"since": "2026-01-01", "dryRun": False})
    for refused in (replay, trial, recovery):
        assert (refused.status, refused.json["code"]) == (409, "webhook_paused")


def test_a_replay_of_an_ended_delivery_posts_the_same_request_while_its_event_is_kept(
    world: World,
) -> None:
    webhook = add(world)
    announce()
    world.run()
    path = f"/api/admin/deliveries/{webhook.only()['id']}/replay"
    world.sleep(days=29)
    assert world.shop.post(path).status == 202
    world.run()
    first, again = world.posted
    assert (again.body, again.delivery) == (first.body, first.delivery)
    delivery = webhook.only()
    assert (delivery["status"], delivery["attemptCount"]) == ("DELIVERED", 2)
    world.sleep(days=1, seconds=1)  # DynamoDB deletes it later
    assert world.stored("deliveries#") and webhook.listed() == []
    for gone in (world.shop.post(path), world.shop.get(path.removesuffix("/replay"))):
        assert (gone.status, gone.json["code"]) == (404, "not_found")


@pytest.mark.parametrize("begin", ["U", "Z", "7Z", "I1"])
def test_an_id_that_no_delivery_can_have_is_not_found(world: World, begin: str) -> None:
    path = f"/api/admin/deliveries/dlv_{begin:Z<54}"
    for answer in (world.shop.get(path), world.shop.post(f"{path}/replay")):
        assert (answer.status, answer.json["code"]) == (404, "not_found")


def test_a_recovery_counts_first_and_then_sends_all_failed_deliveries(world: World) -> None:
    webhook = given_up(world, 7)
    since = "2026-01-01T00:00:00Z"
    assert webhook.post("/recover", {"since": since}).json == {"count": 7}
    assert webhook.post("/recover", {"since": since, "dryRun": None}).json == {"count": 7}
    assert webhook.post("/recover", {"since": "2100-01-01"}).json == {"count": 0}
    world.run()
    assert world.posted == []
    begun = webhook.post("/recover", {"since": since, "dryRun": False})
    assert (begun.status, begun.json["count"]) == (202, 7)
    world.run()
    assert len(world.posted) == 7
    assert webhook.statuses() == {"DELIVERED"}
    recovery = webhook.fetch().json["recovery"]
    assert (recovery["count"], recovery["sent"]) == (7, 7) and recovery["completedAt"]
    assert webhook.post("/recover", {"since": since}).json == {"count": 0}


def test_a_recovery_sends_at_a_limited_rate(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redrive, "PAGE", 20)
    monkeypatch.setattr(redrive, "PER_SECOND", 4)
    webhook = given_up(world, 50)
    webhook.post("/recover", {"since": "2026-01-01", "dryRun": False})
    world.run()
    assert len(world.posted) == 50
    seconds = sorted(int(posted.at.timestamp()) for posted in world.posted)
    for second in seconds:
        assert seconds.count(second) <= 4


@pytest.mark.thorough
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("n", range(1, 29))
def test_a_recovery_that_crashes_at_any_call_is_completed(
    world: World, n: int, after: bool
) -> None:
    webhook = given_up(world, 3)
    webhook.post("/recover", {"since": "2026-01-01", "dryRun": False})
    world.calls.clear()
    world.crash = (n, after)
    world.run()
    assert world.crash is None, "it made fewer calls"
    assert webhook.statuses() == {"DELIVERED"}
    # Only a delivery whose sender crashed between the POST and its record is posted again.
    repeated = world.calls[n - 1] == ("Post" if after else "PutItem")
    assert len(world.posted) == 3 + repeated and len({one.delivery for one in world.posted}) == 3


def test_a_recovery_waits_while_its_webhook_is_paused(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redrive, "PAGE", 2)
    webhook = given_up(world, 3)
    webhook.post("/recover", {"since": "2026-01-01", "dryRun": False})
    for seconds, sent in ((0, 0), (30, 2)):
        world.run(timedelta(seconds=seconds))
        webhook.put({"enabled": False})
        world.run()
        assert len(world.posted) == sent
        webhook.put({"enabled": True})
    world.run(timedelta(seconds=40))
    assert len(world.posted) == 3, "half a minute later"


def test_a_recovery_without_failed_deliveries_ends(world: World) -> None:
    webhook = given_up(world)
    world.sleep(seconds=1)
    webhook.post("/recover", {"since": "2100-01-01", "dryRun": False})
    world.run()
    recovery = webhook.fetch().json["recovery"]
    assert (recovery["count"], recovery["sent"]) == (0, 0) and recovery["completedAt"]
    assert world.posted == []


def test_a_cursor_before_since_returns_an_empty_page(world: World) -> None:
    webhook = add(world)
    announce()
    world.sleep(days=1)
    cursor = webhook.listed()[0]["id"]
    answer = webhook.fetch(f"/deliveries?cursor={cursor}&since={clock.iso(world.now)}")
    assert answer.json == {"data": [], "nextCursor": None}


@pytest.mark.parametrize("since", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"])
def test_a_time_outside_the_range_of_utc_is_refused(since: str, world: World) -> None:
    webhook = add(world)
    for dry_run in (True, False):
        assert webhook.post("/recover", {"since": since, "dryRun": dry_run}).refused == ["since"]


def test_a_recovery_of_an_endpoint_deleted_meanwhile_is_not_found(world: World) -> None:
    webhook = given_up(world)
    world.meanwhile("Query", webhook.delete)
    asked = {"since": "2026-01-01T00:00:00Z", "dryRun": False}
    assert webhook.post("/recover", asked).status == 404


def test_the_list_has_the_subject_and_last_result_of_each_delivery(world: World) -> None:
    webhook = add(world, "order.created", "product.created", "customer.created", "payment.created")
    world.answer = lambda posted: failed()
    announce("payment.created", id="pay_1", orderId="ord_3", orderNumber="1043")
    announce("order.created", id="ord_1", number="1042", customer={"email": "a@example.com"})
    announce("product.created", id="prod_1", name="Linen " * 20)
    announce("customer.created", id="cus_1", firstName="Ada", email="a@example.com", name="Ada")
    world.sleep(seconds=20)
    rows = {row["event"]: row for row in webhook.listed()}
    assert {(row["lastStatus"], row["lastError"]) for row in rows.values()} == {(500, "status")}
    assert {row["status"] for row in rows.values()} == {"RETRYING"}
    assert {event: row["subject"] for event, row in rows.items()} == {
        "order.created": {"id": "ord_1", "name": "1042"},
        "product.created": {"id": "prod_1", "name": ("Linen " * 20)[:100]},
        "customer.created": {"id": "cus_1", "name": None},
        "payment.created": {"id": "ord_3", "name": "1043"},
    }
    world.answer = lambda posted: OK
    world.run()
    (row,) = webhook.listed("?subject=ord_1")
    assert (row["event"], row["lastStatus"], row["lastError"]) == ("order.created", 200, None)
    last = world.shop.get(f"/api/admin/deliveries/{row['id']}").json["attempts"][-1]
    assert row["lastDurationMs"] == last["durationMs"] > 0
    assert webhook.listed("?subject=ord_2") == []
