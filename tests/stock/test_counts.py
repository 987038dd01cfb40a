"""Counts of stock: lines are kept while the shop sells, and applied by their difference, once."""

import itertools
import random
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from chalicelib.stocktaking import model, store
from tests.audit.build import of_request
from tests.orders.build import (
    before_the_commit,
    line,
    placed,
    product,
    product_path,
    stock_of,
    variant,
    variants,
)
from tests.stock.build import agrees, fanned_out, movements
from tests.support.dynamodb_double import Double, Fault
from tests.support.job_desk import JobDesk
from tests.support.shop import Answer, Shop

COUNTS = "/api/admin/stock/counts"


def started(shop: Shop, *ids: str, **fields: Any) -> Any:
    chosen = {"variantIds": list(ids)} if ids else {}
    return shop.made(COUNTS, {"name": "Shelf A", **chosen, **fields})


def at(count: Any) -> str:
    return f"{COUNTS}/{count['id']}"


def enter(shop: Shop, count: Any, *lines: tuple[str, int], key: str = "", **more: Any) -> Answer:
    sent = [{"variantId": id, "counted": n, **more} for id, n in lines]
    headers = {"Idempotency-Key": key} if key else {}
    return shop.put(f"{at(count)}/lines", {"lines": sent}, headers=headers)


def lines(shop: Shop, count: Any, query: str = "") -> list[tuple[Any, ...]]:
    """Expected, counted and difference of each."""
    answer = shop.read(f"{at(count)}/lines{query}")
    names = ("expected", "counted", "difference")
    return [tuple(one[name] for name in names) for one in answer["data"]]


def applied(jobs: JobDesk, count: Any) -> Any:
    return jobs.done(f"{at(count)}/apply")


def outcome(job: Any) -> tuple[int, ...]:
    assert job["status"] == "COMPLETED"
    return tuple(job[name] for name in ("total", "updated", "unchanged", "failed"))


def test_what_is_sold_while_a_count_is_made_stays_sold(shop: Shop, jobs: JobDesk) -> None:
    id, other = variant(shop, 10, name="Mug", sku="MUG"), variant(shop, 4)
    count = started(shop, id, other)
    assert (count["status"], count["variants"], count["counted"]) == ("OPEN", 2, 0)
    kept = enter(shop, count, (id, 9)).json["lines"]
    assert [(one["title"], one["expected"], one["difference"]) for one in kept] == [
        ("Mug / V0", 10, -1)
    ]
    placed(shop, line(id, 3))
    job = applied(jobs, count)
    assert (outcome(job), job["type"]) == ((1, 1, 0, 0), "stock_count")
    assert (stock_of(shop, id), stock_of(shop, other)) == (6, 4)
    shown = shop.get(at(count)).json
    assert (shown["status"], shown["jobId"], shown["different"]) == ("APPLIED", job["id"], 1)
    fanned_out(jobs.dynamodb)
    (entry,) = movements(shop, jobId=job["id"])
    assert (entry["cause"], entry["by"], entry["stock"]) == ("COUNT", -1, 6)
    assert (entry["countId"], entry["reason"]) == (count["id"], "COUNTED")
    assert entry["actor"]["keyName"] == "a OWNER of the tests"
    assert agrees(shop) == 4


def test_a_count_is_applied_once_and_can_be_undone(shop: Shop, jobs: JobDesk) -> None:
    id = variant(shop, 10)
    count = started(shop, id)
    enter(shop, count, (id, 12))
    key = {"Idempotency-Key": "apply"}
    job = jobs.done(f"{at(count)}/apply", headers=key)
    for headers in ({}, key):
        again = shop.post(f"{at(count)}/apply", headers=headers)
        assert (again.status, again.json) == (202, {"jobId": job["id"]})
        assert ("Idempotent-Replayed" in again.headers) == bool(headers)
    other = started(shop, id)
    applied(jobs, other)
    reused = shop.post(f"{at(other)}/apply", headers=key)
    assert reused.json["code"] == "idempotency_key_reused"
    jobs.work()
    assert stock_of(shop, id) == 12
    placed(shop, line(id, 1))
    refused = shop.post(f"/api/admin/jobs/{job['id']}/cancel")
    assert (refused.status, refused.json["code"]) == (409, "cannot_cancel")
    undo = jobs.done(f"/api/admin/jobs/{job['id']}/undo")
    assert (undo["updated"], stock_of(shop, id)) == (1, 9)
    jobs.done(f"/api/admin/jobs/{undo['id']}/undo")
    assert stock_of(shop, id) == 11
    fanned_out(jobs.dynamodb)
    assert [one["cause"] for one in movements(shop, variantId=id)] == [
        *("TRACKED", "COUNT", "SALE", "UNDO", "UNDO")
    ]
    agrees(shop)


def test_a_request_with_lines_that_is_sent_again_counts_once(shop: Shop) -> None:
    id = variant(shop, 10)
    count = started(shop, id)
    first = enter(shop, count, (id, 2), key="scan 1", add=True)
    placed(shop, line(id, 1))
    again = enter(shop, count, (id, 2), key="scan 1", add=True)
    assert (again.text, again.headers["Idempotent-Replayed"]) == (first.text, "true")
    enter(shop, count, (id, 3), add=True)
    assert lines(shop, count) == [(10, 5, -5)]
    enter(shop, count, (id, 8))  # counted anew: of what is there now
    assert lines(shop, count) == [(9, 8, -1)]
    sent = {"name": "Shelf", "all": True}
    made = shop.post(COUNTS, sent, headers={"Idempotency-Key": "new"}).json
    shop.delete(product_path(id))  # there is nothing to count any more
    assert shop.post(COUNTS, sent, headers={"Idempotency-Key": "new"}).json == made
    assert shop.get(COUNTS).json["total"] == 2


def test_a_repeat_that_finds_the_count_closed_gets_the_first_answer(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = variant(shop, 10)
    count, get, first = started(shop, id), store.get, list[Answer]()

    def overtaken(count_id: str) -> Any:
        monkeypatch.setattr(store, "get", get)
        first.append(enter(shop, count, (id, 2), key="scan 1"))
        assert shop.post(f"{at(count)}/cancel").status == 200
        return get(count_id)

    monkeypatch.setattr(store, "get", overtaken)
    again = enter(shop, count, (id, 2), key="scan 1")
    assert (again.status, again.text) == (200, first[0].text)


def test_the_audit_log_has_what_was_counted(shop: Shop, dynamodb: Double) -> None:
    id = variant(shop, 10)
    count = started(shop, id)
    enter(shop, count, (id, 2))
    (entry,) = of_request(shop, dynamodb, enter(shop, count, (id, 3)))
    assert [(one["before"], one["after"]) for one in entry["changes"]] == [(2, 3)]


def test_one_request_may_name_a_variant_several_times(shop: Shop) -> None:
    id, other = variant(shop, 10), variant(shop, 5)
    count = started(shop, id, other)
    answer = enter(shop, count, (id, 4), (other, 5), (id, 3), add=True)
    assert [one["counted"] for one in answer.json["lines"]] == [7, 5]
    shown = shop.get(at(count)).json
    assert (shown["counted"], shown["different"]) == (2, 1)


def test_a_number_is_kept_only_over_what_was_shown(shop: Shop) -> None:
    """A model of three clients: a scan adds, also when its answer is lost; a number that was typed
    over an old one changes nothing, and says what is there."""
    chance = random.Random(70)
    ids = sorted(variants(shop, 5, 5, 5))
    count = started(shop, *ids)
    now: dict[str, int | None] = dict.fromkeys(ids)
    shown = [dict(now) for _ in range(3)]
    overlapped = 0
    for n in range(150):
        seen, id = chance.choice(shown), chance.choice(ids)
        act = chance.choice(["scan", "scan", "type", "look"])
        if act == "look":
            seen |= {
                line["variantId"]: line["counted"]
                for line in shop.read(f"{at(count)}/lines")["data"]
            }
        elif act == "scan":
            for _ in range(chance.choice([1, 1, 2])):  # of which the first answer was lost
                answer = enter(shop, count, (id, 1), key=f"scan-{n}", add=True)
            seen[id] = now[id] = (now[id] or 0) + 1
            assert answer.json["lines"][0]["counted"] == now[id]
        else:
            typed = chance.randint(0, 9)
            answer = enter(shop, count, (id, typed), key=f"type-{n}", before=seen[id])
            if seen[id] == now[id]:
                assert answer.status == 200
                now[id] = typed
            else:
                overlapped += 1
                assert (answer.status, answer.json["code"]) == (409, "count_changed")
                assert [one["counted"] for one in answer.json["lines"]] == [now[id]]
            seen[id] = now[id]
    held = {one["variantId"]: one["counted"] for one in shop.read(f"{at(count)}/lines")["data"]}
    assert held == now and overlapped > 5


def test_of_lines_of_which_one_is_outdated_none_is_kept(shop: Shop) -> None:
    red, blue = sorted(variants(shop, 5, 5))
    count = started(shop, red, blue)
    enter(shop, count, (red, 2))
    sent = {"lines": [{"variantId": blue, "counted": 1, "add": True}]}
    sent["lines"].append({"variantId": red, "counted": 4, "before": None})
    answer = shop.put(f"{at(count)}/lines", sent)
    assert (answer.status, answer.json["lines"][0]["counted"]) == (409, 2)
    assert lines(shop, count) == [(5, 2, -3), (None, None, None)]
    sent["lines"][1]["before"] = 2
    # A scan of the same request is not somebody else's.
    sent["lines"] += [{"variantId": red, "counted": 1, "add": True}]
    sent["lines"] += [{"variantId": red, "counted": 7, "before": 5}]
    assert shop.put(f"{at(count)}/lines", sent).status == 200
    assert sorted(lines(shop, count)) == [(5, 1, -4), (5, 7, 2)]


def test_scans_of_eight_devices_at_once_are_all_counted(shop: Shop) -> None:
    all_ids = variants(shop, 50, 50, 50)
    count = started(shop, *all_ids)

    def scan(n: int) -> int:
        return enter(shop, count, (all_ids[n % 3], 1), key=f"scan {n}", add=True).status

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(scan, range(60))) == {200}
    assert lines(shop, count) == [(50, 20, -30)] * 3
    assert shop.get(at(count)).json["different"] == 3


@pytest.mark.thorough
@pytest.mark.parametrize("fault", [Fault.CRASH, Fault.CRASH_AFTER, Fault.LOST_AFTER])
def test_a_count_whose_job_crashes_at_any_write_is_applied_once(
    shop: Shop, jobs: JobDesk, fault: Fault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "_TOGETHER", 7)
    monkeypatch.setattr("chalicelib.stocktaking.work._AT_ONCE", 4)
    all_ids = [id for _ in range(3) for id in variants(shop, *range(3, 9))]
    for nth in itertools.count(1):
        found = {id: int(stock_of(shop, id) or 0) + place % 3 for place, id in enumerate(all_ids)}
        count = started(shop, *all_ids)
        enter(shop, count, *found.items())
        failed = jobs.dynamodb.failed_calls
        job_id = jobs.start(f"{at(count)}/apply")
        jobs.dynamodb.fails(fault, "TransactWriteItems", nth, perhaps=True)
        jobs.work()
        jobs.dynamodb.faults = lambda operation, request: None
        assert outcome(jobs.job(job_id)) == (18, 12, 6, 0)
        assert {id: stock_of(shop, id) for id in all_ids} == found
        if jobs.dynamodb.failed_calls == failed:
            break
    assert nth > 8
    jobs.failed.clear()
    fanned_out(jobs.dynamodb)
    agrees(shop)


def test_lines_that_cannot_be_applied_are_errors_of_the_job(shop: Shop, jobs: JobDesk) -> None:
    sold, untracked, fine, same, dropped = variants(shop, 5, 5, 5, 5, 5)
    gone = variant(shop, 5)
    count = started(shop, sold, untracked, fine, same, gone, dropped)
    enter(shop, count, (sold, 1), (untracked, 1), (fine, 6), (same, 5), (gone, 1), (dropped, 1))
    placed(shop, line(sold, 4))
    shown = {one["variantId"]: one["stock"] for one in shop.read(f"{at(count)}/lines")["data"]}
    assert (shown[sold], shown[same]) == (1, 5)
    wanted = [{"id": sold}, {"id": untracked, "stock": None}, {"id": fine}, {"id": same}]
    shop.put(product_path(sold), {"variants": wanted})
    shop.delete(product_path(gone))
    job = applied(jobs, count)
    assert outcome(job) == (6, 1, 1, 4)
    codes = {one["id"]: one["code"] for one in job["errors"]}
    names = {one["id"]: one["name"] for one in job["errors"]}
    assert names[gone] is None and names[sold].startswith("Blue shirt"), names
    lost = dict.fromkeys((untracked, gone, dropped), "not_tracked")
    assert codes == {sold: "insufficient_stock", **lost}
    assert [stock_of(shop, id) for id in (sold, untracked, fine, same)] == [1, None, 6, 5]
    shown = shop.get(f"{at(count)}/lines").json["data"]
    titles = {one["variantId"]: one["title"] for one in shown}
    assert titles[gone] is titles[dropped] is None
    fanned_out(jobs.dynamodb)
    agrees(shop)


def test_a_cancelled_count_changes_nothing(shop: Shop) -> None:
    id = variant(shop, 5)
    count = started(shop, id)
    enter(shop, count, (id, 3))
    path = at(count)
    for _ in range(2):
        answer = shop.post(f"{path}/cancel")
        assert (answer.status, answer.json["status"]) == (200, "CANCELLED")
    for refused in (enter(shop, count, (id, 4)), shop.post(f"{path}/apply")):
        assert (refused.status, refused.json["code"]) == (409, "count_closed")
        assert refused.json["status"] == "CANCELLED"
    assert (stock_of(shop, id), lines(shop, count)) == (5, [(5, 3, -2)])


def test_a_line_and_the_end_of_a_count_at_once(jobs: JobDesk) -> None:
    """The line is refused, or it is applied."""
    shop = jobs.shop
    id = variant(shop, 5)
    count = started(shop, id)
    before_the_commit(jobs.dynamodb, lambda: shop.post(f"{at(count)}/apply"))
    refused = enter(shop, count, (id, 4))
    assert (refused.status, refused.json["status"]) == (409, "APPLIED")
    jobs.work()
    assert (stock_of(shop, id), lines(shop, count)) == (5, [(None, None, None)])


@pytest.mark.parametrize(
    ("first", "then", "ended"),
    [("apply", "cancel", (409, "APPLIED")), ("cancel", "apply", (409, "CANCELLED"))],
)
def test_a_count_that_ends_in_two_ways_at_once_ends_in_the_first(
    jobs: JobDesk, first: str, then: str, ended: tuple[int, str]
) -> None:
    path = f"{COUNTS}/{started(jobs.shop, variant(jobs.shop, 5))['id']}"
    before_the_commit(jobs.dynamodb, lambda: jobs.shop.post(f"{path}/{first}"))
    refused = jobs.shop.post(f"{path}/{then}")
    assert (refused.status, refused.json["status"]) == ended
    assert jobs.shop.get(path).json["status"] == ended[1]


def test_filters_choose_the_tracked_variants(shop: Shop) -> None:
    made = product(shop, 5, None, 7, vendor="Kestrel")
    product(shop, 9, vendor="Other")
    count = started(shop, filters={"vendor": "Kestrel"})
    assert (count["variants"], count["filters"]) == (2, {"vendor": "Kestrel"})
    assert len(lines(shop, count)) == 2
    assert started(shop, all=True)["variants"] == 3
    unknown = enter(shop, count, (made["variants"][1]["id"], 3))
    assert (unknown.status, unknown.json["errors"][0]["code"]) == (422, "not_in_count")


def test_lines_are_listed_by_their_state(shop: Shop) -> None:
    first, second, third = variants(shop, 5, 6, 7)
    count = started(shop, first, second, third)
    enter(shop, count, (second, 6))
    enter(shop, count, (third, 1))
    assert lines(shop, count) == [(7, 1, -6), (6, 6, 0), (None, None, None)]
    assert lines(shop, count, "?state=COUNTED") == [(7, 1, -6), (6, 6, 0)]
    assert lines(shop, count, "?state=different") == [(7, 1, -6)]
    assert lines(shop, count, "?state=UNCOUNTED") == [(None, None, None)]
    page = shop.get(f"{at(count)}/lines?limit=2&page=2").json
    assert (page["total"], len(page["data"]), page["pagination"]["totalPages"]) == (3, 1, 2)


VARIANT = "var_01KB0000000000000000000000AAAAAAAAAA"


@pytest.mark.parametrize(
    ("sent", "field"),
    [
        ({"name": "Shelf"}, "body"),
        ({"name": "Shelf", "all": True, "variantIds": [VARIANT]}, "body"),
        ({"name": "\t\u200b", "all": True}, "name"),
        ({"name": "  ", "all": True}, "name"),
        ({"name": "Shelf", "variantIds": []}, "variantIds"),
        ({"name": "Shelf", "variantIds": [VARIANT] * 10_001}, "variantIds"),
        ({"name": "Shelf", "variantIds": [VARIANT]}, "variantIds.0"),
        ({"name": "Shelf", "filters": {"colour": "red"}}, "filters.colour"),
        ({"name": "Shelf", "filters": {"vendor": "Nobody"}}, "filters"),
    ],
)
def test_a_count_that_cannot_be_started_names_the_field(
    shop: Shop, sent: dict[str, Any], field: str
) -> None:
    assert shop.post(COUNTS, sent).refused == [field]


@pytest.mark.parametrize(
    ("sent", "field"),
    [
        ([], "lines"),
        ([{"variantId": VARIANT, "counted": 1}] * 501, "lines"),
        ([{"variantId": VARIANT, "counted": 1}], "lines.0.variantId"),
        ([{"variantId": VARIANT}], "lines.0.counted"),
        ([{"variantId": VARIANT, "counted": -1}], "lines.0.counted"),
        ([{"variantId": VARIANT, "counted": 1.5}], "lines.0.counted"),
        ([{"variantId": VARIANT, "counted": "1"}], "lines.0.counted"),
    ],
)
def test_lines_that_cannot_be_kept_name_the_field(
    shop: Shop, sent: Sequence[Any], field: str
) -> None:
    count = started(shop, variant(shop, 5))
    assert shop.put(f"{at(count)}/lines", {"lines": sent}).refused == [field]


def test_more_pieces_than_can_be_in_stock_are_refused(shop: Shop) -> None:
    id = variant(shop, 5)
    count = started(shop, id)
    enter(shop, count, (id, 1_000_000_000))
    answer = enter(shop, count, (id, 1), add=True)
    assert answer.json["errors"][0]["field"] == "lines.0.counted"


def test_an_answer_too_long_to_be_kept_is_refused(shop: Shop) -> None:
    """Without a key it need not be kept."""
    title = "鹿" * 190
    many = [{"title": f"{title}{n}", "stock": 5} for n in range(50)]
    all_ids = [id for _ in range(7) for id in variants(shop, name=title, variants=many)]
    count = started(shop, *all_ids)
    sent = [(id, 4) for id in all_ids]
    refused = enter(shop, count, *sent, key="shelf")
    assert refused.refused == ["lines"]
    assert enter(shop, count, *sent[:200], key="shelf").status == 200
    assert enter(shop, count, *sent).status == 200


@pytest.mark.parametrize("path", ["", "/lines", "/apply", "/cancel"])
def test_an_unknown_count_is_not_found(shop: Shop, path: str) -> None:
    call = shop.get if path in {"", "/lines"} else shop.post
    answer = call(f"{COUNTS}/cnt_none{path}")
    assert (answer.status, answer.json["message"]) == (404, "There is no count 'cnt_none'.")


def test_more_variants_than_a_count_may_have_are_refused(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "MOST_VARIANTS", 3)
    product(shop, 1, 2, 3)
    assert started(shop, all=True)["variants"] == 3
    product(shop, 4)
    answer = shop.post(COUNTS, {"name": "All", "all": True})
    assert answer.json["errors"][0]["code"] == "too_many"


@pytest.mark.thorough
def test_ten_thousand_variants_and_500_lines_fit_into_transactions(shop: Shop) -> None:
    all_ids = [id for _ in range(20) for id in variants(shop, *[5] * 500)]
    count = started(shop, all=True)
    assert count["variants"] == model.MOST_VARIANTS == len(all_ids)
    sent = [(id, 4) for id in all_ids[:: len(all_ids) // 500]]
    assert enter(shop, count, *sent).status == 200
    assert shop.get(at(count)).json["counted"] == 500


def test_a_step_reads_one_part_of_the_lines(jobs: JobDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many variants a count has."""
    monkeypatch.setattr(store, "_TOGETHER", 3)
    shop = jobs.shop
    ids = variants(shop, *[5] * 20)
    count = started(shop, *ids)
    enter(shop, count, *((id, 4) for id in ids))
    read: list[str] = []

    def note(operation: str, request: Any) -> None:
        if "lines#" in str(request):
            read.append(operation)

    jobs.dynamodb.faults = note
    assert outcome(applied(jobs, count)) == (20, 20, 0, 0)
    assert Counter(read) == {"GetItem": 7}
