"""POST …/bulk-edit: one change to many products or orders, each independently."""

import json
from typing import Any
from unittest.mock import Mock

import pytest

from chalicelib import sqs
from chalicelib.bulk_edits import work
from chalicelib.jobs import queue, run, store
from chalicelib.jobs.model import Job, progress
from chalicelib.orders import store as orders
from chalicelib.problems import Gone
from tests.orders.build import before_the_commit, keys_written
from tests.support.dynamodb_double import Fault
from tests.support.job_desk import PRODUCTS, JobDesk

EDIT = f"{PRODUCTS}/bulk-edit"
EDIT_ORDERS = "/api/admin/orders/bulk-edit"


def edit(jobs: JobDesk, change: Any, *records: Any, **more: Any) -> Any:
    """A bulk edit after its end."""
    return jobs.finished(editing(jobs, change, *records, **more))


def editing(jobs: JobDesk, change: Any, *records: Any, **more: Any) -> str:
    path = EDIT_ORDERS if records[0]["id"].startswith("ord_") else EDIT
    return jobs.start(path, {"ids": [one["id"] for one in records], "change": change, **more})


def missing(many: int) -> list[dict[str, str]]:
    """Products that do not exist."""
    return [{"id": f"prod_{n}"} for n in range(many)]


@pytest.mark.thorough
def test_many_products_are_changed_by_one_request(jobs: JobDesk) -> None:
    products = [jobs.product(tags=["old", f"t{n}"], vendor="A") for n in range(60)]
    change = {
        "status": "ACTIVE",
        "published": False,
        "storefront": "eu",
        "type": "Shirts",
        "vendor": None,
        "lowStockThreshold": 3,
        "addTags": ["new"],
        "removeTags": ["old"],
    }
    job = edit(jobs, change, *products)
    assert jobs.counted(job) == {"updated": 60} and job["type"] == "bulk_edit"
    assert (job["progress"], job["preview"]) == (100, [])
    for n, product in enumerate(products):
        now = jobs.now(product)
        assert {name: now[name] for name in change if name in now} == {
            name: value for name, value in change.items() if name in now
        }
        assert now["tags"] == [f"t{n}", "new"]
    updated = [e for e in jobs.shop.events() if e["event"] == "product.updated"]
    assert len(updated) == 60


def test_a_search_of_nothing_visible_changes_nothing(jobs: JobDesk) -> None:
    product = jobs.product()
    body = {"filters": {"search": "\u200b"}, "change": {"addTags": ["new"]}}
    assert jobs.counted(jobs.done(EDIT, body)) == {}
    assert jobs.now(product)["tags"] == []


@pytest.mark.parametrize(
    "case",
    [
        ("USD", "19.99", {"percent": 10}, "21.99"),
        ("USD", "10.05", {"percent": -50}, "5.03"),  # half a cent rounds up
        ("USD", "19.99", {"percent": "12.5", "roundTo": "0.05"}, "22.50"),
        ("USD", "19.99", {"add": "-0.49"}, "19.50"),
        ("USD", "19.99", {"set": "5"}, "5.00"),
        ("USD", "19.99", {"set": 0}, "0.00"),
        ("USD", "19.99", {"set": "7.48", "roundTo": "0.05"}, "7.50"),
        ("USD", "19.99", {"set": 0, "roundTo": 5}, "0.00"),
        ("JPY", "1990", {"percent": 10}, "2189"),
        ("JPY", "1995", {"percent": 10}, "2195"),  # 2194.5
        ("JPY", "1990", {"percent": 10, "roundTo": 100}, "2200"),
        ("KWD", "1.999", {"percent": 5}, "2.099"),
        ("KWD", "1.999", {"percent": 5, "roundTo": "0.250"}, "2.000"),
    ],
)
def test_prices_are_rounded_to_the_currency_or_to_a_multiple(
    jobs: JobDesk, monkeypatch: pytest.MonkeyPatch, case: tuple[str, str, Any, str]
) -> None:
    currency, price, change, expected = case
    monkeypatch.setenv("CURRENCY", currency)
    own = jobs.product(price=price)
    variants: Any = [{"title": "S", "price": price}, {"title": "M"}]
    several = jobs.product(price=price, variants=variants)
    each = jobs.product(price=None, variants=[*variants, {"title": "L", "price": price}][::2])
    assert jobs.counted(edit(jobs, {"price": change}, own, several, each)) == {"updated": 3}
    assert jobs.now(own)["price"] == expected
    for now in (jobs.now(several), jobs.now(each)):
        assert [now["price"], *(v["price"] for v in now["variants"])] == [expected] * 3


@pytest.mark.parametrize(
    ("price", "change", "code"),
    [
        ("10", {"add": -11}, "negative_price"),
        ("10", {"add": "-10.01"}, "negative_price"),
        ("10", {"add": "-10.00"}, "price_to_zero"),
        ("10", {"percent": -100}, "price_to_zero"),
        ("10", {"set": 2, "roundTo": 5}, "price_to_zero"),
        ("0.01", {"percent": -60}, "price_to_zero"),  # it would be rounded to zero
        ("99999999999", {"percent": 1_000}, "validation_failed"),
    ],
)
def test_a_price_that_falls_to_zero_or_grows_too_large_fails_only_its_product(
    jobs: JobDesk, price: str, change: Any, code: str
) -> None:
    wrong, free = jobs.product(price=price), jobs.product(price=0)
    job = edit(jobs, {"price": {"percent": 10}}, free)
    assert jobs.counted(job) == {"unchanged": 1}, "a price of zero may stay zero"
    job = edit(jobs, {"price": change}, wrong, jobs.product(price="100"))
    (error, *_) = job["errors"]
    assert (error["id"], error["name"], error["code"]) == (wrong["id"], wrong["name"], code)
    of_any_price = change.get("percent") == -100 or "set" in change
    assert job["failed"] == (2 if of_any_price else 1)
    assert jobs.now(wrong) == wrong


def test_a_job_shows_its_first_100_errors(jobs: JobDesk) -> None:
    job = edit(jobs, {"vendor": "B"}, *missing(101))
    assert (job["failed"], len(job["errors"])) == (101, 100)


def test_unchanged_products_are_not_written_and_counted_as_deleted_ones_are(
    jobs: JobDesk,
) -> None:
    product, gone = jobs.product(vendor="A"), jobs.product()
    jobs.shop.delete(f"{PRODUCTS}/{gone['id']}")
    written = keys_written(jobs.dynamodb)
    job = edit(jobs, {"vendor": "A"}, product, gone)
    assert jobs.counted(job) == {"unchanged": 1, "failed": 1}
    assert [(e["id"], e["code"]) for e in job["errors"]] == [(gone["id"], "not_found")]
    assert (product["id"], "product") not in written
    assert jobs.counted(edit(jobs, {"vendor": "B"}, product)) == {"updated": 1}
    assert (product["id"], "product") in written


def test_a_sale_keeps_the_old_price_as_the_compare_at_price(jobs: JobDesk) -> None:
    product = jobs.product(price="20")
    change: Any = {"price": {"percent": -25}, "compareAtPrice": {"fromPrice": True}}
    edit(jobs, change, product)
    now = jobs.now(product)
    assert (now["price"], now["compareAtPrice"]) == ("15.00", "20.00")
    edit(jobs, {"compareAtPrice": {"set": 30}}, product)
    assert jobs.now(product)["compareAtPrice"] == "30.00"
    for not_at_all in ({"clear": False}, {"fromPrice": False}):
        assert jobs.counted(edit(jobs, {"compareAtPrice": not_at_all}, product)) == {"unchanged": 1}
    edit(jobs, {"price": {"set": 20}, "compareAtPrice": {"clear": True}}, product)
    assert jobs.now(product)["compareAtPrice"] is None


def test_null_in_a_change_means_that_the_field_was_not_sent(jobs: JobDesk) -> None:
    product = jobs.product(price="20", compareAtPrice="25", tags=["old"])
    only: Any = {
        "price": {"percent": 10, "set": None, "add": None, "roundTo": None},
        "compareAtPrice": {"fromPrice": True, "set": None, "clear": None},
        "addTags": ["new"],
        "removeTags": None,
    }
    assert jobs.counted(edit(jobs, only, product, filters=None, dryRun=None)) == {"updated": 1}
    now = jobs.now(product)
    assert (now["price"], now["compareAtPrice"], now["tags"]) == ("22.00", "20.00", ["old", "new"])


def test_a_dry_run_shows_before_and_after_and_changes_nothing(jobs: JobDesk) -> None:
    products = [jobs.product(price=n + 1) for n in range(3)]
    job = edit(jobs, {"price": {"add": "0.50"}}, *products, dryRun=True)
    assert jobs.counted(job) == {"updated": 3} and job["dryRun"] is True
    first = job["preview"][0]
    assert first["id"] == products[0]["id"]
    assert (first["before"]["price"], first["after"]["price"]) == ("1.00", "1.50")
    assert first["before"].keys() == first["after"].keys() == {"price", "variants"}
    assert [jobs.now(p) for p in products] == products


def test_a_job_that_is_no_import_is_neither_run_nor_retried_as_one(jobs: JobDesk) -> None:
    product = jobs.product()
    dry = edit(jobs, {"vendor": "A"}, product, dryRun=True)["id"]
    cancelled = editing(jobs, {"vendor": "A"}, product)

    def refused(job_id: str, action: str, body: Any = None) -> str:
        answer = jobs.shop.post(f"/api/admin/jobs/{job_id}/{action}", body)
        assert answer.status == 409, answer.text
        return str(answer.json["code"])

    assert refused(cancelled, "run") == refused(cancelled, "retry") == "job_not_finished"
    assert refused(cancelled, "mapping", {"format": "shopify"}) == "job_not_waiting"
    assert jobs.shop.post(f"/api/admin/jobs/{cancelled}/cancel").status == 200
    jobs.work()
    for id in (dry, cancelled):
        assert refused(id, "run") == "not_a_dry_run"
        assert refused(id, "retry") == "nothing_to_retry"


def test_filters_choose_products_as_the_list_does(jobs: JobDesk) -> None:
    drafts = [jobs.product(type="Hats") for _ in range(30)]
    active = jobs.product(type="Hats", status="ACTIVE")
    other = jobs.product(type="Socks")
    asked = {"filters": {"type": "Hats", "status": "DRAFT"}, "change": {"status": "ARCHIVED"}}
    assert jobs.counted(jobs.done(EDIT, asked)) == {"updated": 30}
    assert {jobs.now(p)["status"] for p in drafts} == {"ARCHIVED"}
    assert (jobs.now(active), jobs.now(other)) == (active, other)


@pytest.mark.parametrize(("many", "steps"), [(25, 1), (26, 2)])
def test_a_step_changes_up_to_25_records(jobs: JobDesk, many: int, steps: int) -> None:
    job = edit(jobs, {"vendor": "B"}, *missing(many))
    assert jobs.counted(job) == {"failed": many}
    assert store.get(job["id"]).step == steps


@pytest.mark.parametrize(("seconds", "sent"), [(20, [0]), (-1, [0, 1, 2])])
def test_a_job_that_takes_long_continues_with_another_message(
    jobs: JobDesk, monkeypatch: pytest.MonkeyPatch, seconds: int, sent: list[int]
) -> None:
    steps: list[int] = []
    send = queue.send
    monkeypatch.setattr(queue, "send", lambda *all: steps.append(all[1]) or send(*all))
    monkeypatch.setattr(run, "_SECONDS", seconds)
    job = edit(jobs, {"vendor": "B"}, *missing(60))
    assert (jobs.counted(job), steps) == ({"failed": 60}, sent)


def test_only_a_completed_job_is_measured_by_its_results(
    jobs: JobDesk, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def measured() -> list[Any]:
        lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        return [line for line in lines if line["message"] == "job finished"]

    product = jobs.product()
    job = edit(jobs, {"vendor": "B"}, product)
    (line,) = measured()
    assert (line["jobId"], line["type"], line["RecordsUpdated"]) == (job["id"], "bulk_edit", 1)
    step = work.step
    monkeypatch.setattr(work, "step", lambda job: store.cancel(job.id) or step(job))
    assert edit(jobs, {"vendor": "C"}, product)["status"] == "CANCELLED"
    assert measured() == []


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"ids": ["prod_1"], "change": {}}, "change"),
        ({"change": {"status": "ACTIVE"}}, "body"),
        ({"ids": [], "all": True, "change": {"status": "ACTIVE"}}, "body"),
        ({"filters": {}, "change": {"status": "ACTIVE"}}, "body"),
        ({"filters": {"type": "A"}, "all": True, "change": {"status": "ACTIVE"}}, "body"),
        ({"filters": {"vendor": ""}, "change": {"status": "ACTIVE"}}, "filters.vendor"),
        ({"filters": {"vendor": None}, "change": {"status": "ACTIVE"}}, "filters.vendor"),
        ({"filters": {"status": []}, "change": {"status": "ACTIVE"}}, "filters.status"),
        ({"filters": {"status": ["DRAFT", " "]}, "change": {"type": "A"}}, "filters.status"),
        ({"filters": {"status": ", ,"}, "change": {"status": "ACTIVE"}}, "filters.status"),
        ({"ids": ["p"] * 501, "change": {"status": "ACTIVE"}}, "ids"),
        ({"filters": {"colour": "red"}, "change": {"status": "ACTIVE"}}, "filters.colour"),
        ({"all": True, "change": {"colour": "red"}}, "change.colour"),
        ({"all": True, "change": {"price": {"add": 1, "set": 1}}}, "change.price"),
        ({"all": True, "change": {"price": {}}}, "change.price"),
        ({"all": True, "change": {"price": {"percent": "NaN"}}}, "change.price.percent"),
        ({"all": True, "change": {"price": {"percent": "5_0"}}}, "change.price.percent"),
        ({"all": True, "change": {"price": {"percent": "1000.01"}}}, "change.price.percent"),
        ({"all": True, "change": {"price": {"percent": "-100.01"}}}, "change.price.percent"),
        ({"all": True, "change": {"price": {"add": "5_0"}}}, "change.price.add"),
        ({"all": True, "change": {"price": {"add": "1e12"}}}, "change.price.add"),
        ({"all": True, "change": {"price": {"add": "-1e12"}}}, "change.price.add"),
        ({"ids": [""], "change": {"type": "A"}}, "ids.0"),
        ({"ids": ["p" * 61], "change": {"type": "A"}}, "ids.0"),
        ({"ids": ["p"], "change": {"type": "A" * 256}}, "change.type"),
        ({"ids": ["p"], "change": {"vendor": "A" * 256}}, "change.vendor"),
        ({"ids": ["p"], "change": {"storefront": "A" * 101}}, "change.storefront"),
        ({"ids": ["p"], "change": {"addTags": [""]}}, "change.addTags.0"),
        ({"ids": ["p"], "change": {"addTags": ["A" * 101]}}, "change.addTags.0"),
        ({"ids": ["p"], "change": {"removeTags": ["A"] * 101}}, "change.removeTags"),
        ({"all": True, "change": {"compareAtPrice": {}}}, "change.compareAtPrice"),
        # Nothing but null
        ({"all": True, "change": {"price": {"percent": None}}}, "change.price"),
        ({"all": True, "change": {"price": {"add": None}}}, "change.price"),
        ({"all": True, "change": {"price": {"set": None, "roundTo": 1}}}, "change.price"),
        ({"all": True, "change": {"compareAtPrice": {"set": None}}}, "change.compareAtPrice"),
        (
            {"all": True, "change": {"price": None, "compareAtPrice": None, "addTags": None}},
            "change",
        ),
        ({"ids": None, "change": {"vendor": "A"}}, "body"),
    ],
)
def test_an_invalid_edit_is_refused_by_field_and_starts_no_job(
    jobs: JobDesk, body: Any, field: str
) -> None:
    answer = jobs.shop.post(EDIT, body)
    assert answer.status == 422, answer.text
    assert [error["field"] for error in answer.json["errors"]] == [field]
    assert jobs.shop.get("/api/admin/jobs").json["total"] == 0


def test_a_job_is_the_same_in_the_list_and_alone(jobs: JobDesk) -> None:
    shown = edit(jobs, {"vendor": "B"}, jobs.product())
    (listed,) = jobs.shop.get("/api/admin/jobs").json["data"]
    assert listed == {name: shown[name] for name in listed}
    assert shown.keys() - listed.keys() == {"errors", "preview", "downloadUrl", "bytes"}


def test_a_repeated_request_returns_the_same_job(jobs: JobDesk) -> None:
    product, key = jobs.product(price=10), {"Idempotency-Key": "raise-1"}
    body = {"ids": [product["id"]], "change": {"price": {"percent": 10}}}
    first = jobs.shop.post(EDIT, body, headers=key)
    again = jobs.shop.post(EDIT, body, headers=key)
    assert (again.status, again.text) == (202, first.text)
    jobs.work()
    assert jobs.now(product)["price"] == "11.00"


@pytest.mark.thorough
@pytest.mark.parametrize("nth", range(1, 9))
@pytest.mark.parametrize("after", [False, True])
def test_a_bulk_edit_that_crashes_anywhere_changes_each_product_once(
    jobs: JobDesk, nth: int, after: bool
) -> None:
    products = [jobs.product(price="10.00") for _ in range(7)]
    job = editing(jobs, {"price": {"percent": 10}}, *products)
    jobs.crash("TransactWriteItems", nth, after=after)
    assert jobs.counted(jobs.finished(job)) == {"updated": 7}
    assert [jobs.now(product)["price"] for product in products] == ["11.00"] * 7


@pytest.mark.thorough
@pytest.mark.parametrize("nth", range(1, 8))
@pytest.mark.parametrize("after", [False, True])
def test_records_that_no_longer_match_the_filters_are_counted_after_a_crash(
    jobs: JobDesk, monkeypatch: pytest.MonkeyPatch, nth: int, after: bool
) -> None:
    monkeypatch.setattr(work, "MOST_AT_ONCE", 3)
    products = [jobs.product(status="DRAFT") for _ in range(4)]
    asked = {"filters": {"status": "DRAFT"}, "change": {"status": "ACTIVE"}}
    job = jobs.start(EDIT, asked)
    jobs.crash("TransactWriteItems", nth, after=after)
    assert jobs.counted(jobs.finished(job)) == {"updated": 4}
    assert {jobs.now(product)["status"] for product in products} == {"ACTIVE"}


def test_a_change_that_cannot_be_made_twice_counts_as_made_after_a_crash(jobs: JobDesk) -> None:
    product = jobs.product(price="10.00")
    job = editing(jobs, {"price": {"add": "-6.00"}}, product)
    jobs.crash("TransactWriteItems")
    done = jobs.finished(job)
    assert (jobs.counted(done), done["errors"]) == ({"updated": 1}, [])
    assert jobs.now(product)["price"] == "4.00"


def test_a_concurrent_edit_is_neither_lost_nor_applied_twice(jobs: JobDesk) -> None:
    product = jobs.product(price="10.00", vendor="A")
    job = editing(jobs, {"price": {"percent": 10}}, product)
    other = {"price": "20.00", "vendor": "B"}
    before_the_commit(jobs.dynamodb, lambda: jobs.shop.put(f"{PRODUCTS}/{product['id']}", other))
    assert jobs.counted(jobs.finished(job)) == {"updated": 1}
    now = jobs.now(product)
    assert (now["price"], now["vendor"]) == ("22.00", "B")


def test_an_edit_cancelled_before_it_begins_changes_nothing(jobs: JobDesk) -> None:
    product = jobs.product(vendor="A")
    job = editing(jobs, {"vendor": "B"}, product)
    assert jobs.shop.post(f"/api/admin/jobs/{job}/cancel").json["status"] == "CANCELLED"
    jobs.work()
    assert (jobs.job(job)["status"], jobs.job(job)["processed"]) == ("CANCELLED", 0)
    assert jobs.now(product) == product


def test_an_edit_cancelled_during_a_step_counts_the_products_of_that_step(
    jobs: JobDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    products, step = [jobs.product() for _ in range(26)], work.step
    monkeypatch.setattr(work, "step", lambda job: store.cancel(job.id) or step(job))
    job = edit(jobs, {"vendor": "B"}, *products)
    assert (job["status"], job["processed"], job["updated"]) == ("CANCELLED", 25, 25)
    assert [jobs.now(product)["vendor"] for product in products] == ["B"] * 25 + [None]


def test_the_first_step_of_a_job_has_no_delay(
    jobs: JobDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[Any] = []
    monkeypatch.setattr(sqs, "send", lambda url, messages: sent.extend(messages))
    job_id = editing(jobs, {"vendor": "B"}, jobs.product())
    body = json.dumps({"job": job_id, "step": 0})
    assert sent == [{"MessageBody": body, "DelaySeconds": 0}]


def test_a_step_of_a_missing_job_is_dropped_after_four_retries(
    jobs: JobDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[int] = []
    monkeypatch.setattr(sqs, "hide", lambda url, messages: waits.extend(messages.values()))
    jobs.product()  # its key is there
    jobs.dynamodb.faults = lambda operation, request: (
        Fault.CONFLICT if operation == "TransactWriteItems" else None
    )
    asked = {"ids": ["prod_1"], "change": {"vendor": "B"}}
    assert jobs.shop.post(EDIT, asked).status == 503
    jobs.dynamodb.faults = lambda operation, request: None
    jobs.work()
    assert len(jobs.failed) == 4  # it waits a little for the job, then it is dropped
    assert waits == list(run._RETRY_SECONDS[:4])
    jobs.failed.clear()


def test_a_job_that_cannot_be_done_fails_with_the_reason_and_is_not_retried(
    jobs: JobDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work, "step", Mock(side_effect=Gone("The list has changed.")))
    job = jobs.done(EDIT, {"all": True, "change": {"vendor": "B"}})
    assert (job["status"], job["processed"]) == ("FAILED", 0)
    assert job["error"] == {"code": "cursor_expired", "message": "The list has changed."}


def test_only_a_completed_job_shows_100_percent() -> None:
    def shown(status: str, done: int, total: int | None) -> int:
        return progress(Job({"status": status, "processed": done, "total": total}))

    assert [shown("RUNNING", n, 300) for n in (0, 1, 3, 200, 299, 300)] == [0, 0, 1, 66, 99, 99]
    assert (shown("RUNNING", 5, None), shown("CANCELLED", 3, 4)) == (0, 75)
    assert (shown("COMPLETED", 0, None), shown("COMPLETED", 0, 0)) == (100, 100)


def test_a_preview_has_100_records_and_at_most_200_000_bytes() -> None:
    job = Job({"preview": '["before"]'})
    largest = "é" * ((200_000 - len('["before", ""]')) // 2)
    assert json.loads(store.extend_preview(job, [largest])["preview"]) == ["before", largest]
    assert store.extend_preview(job, [largest + "x"]) == {}
    assert len(json.loads(store.extend_preview(job, [{}] * 100)["preview"])) == 100


# --- Orders ---------------------------------------------------------------------------------------


def order(jobs: JobDesk, **fields: Any) -> Any:
    variant = jobs.product()["variants"][0]["id"]
    sent = {"lineItems": [{"variantId": variant, "quantity": 1}], **fields}
    return jobs.shop.made("/api/admin/orders", sent)


def test_orders_make_allowed_moves_and_others_count_as_failed(jobs: JobDesk) -> None:
    paid = order(jobs, paymentStatus="PAID", tags=["a"])
    pending = order(jobs)
    change = {"status": "PROCESSING", "salesRepId": "emp_ann", "addTags": ["b"]}
    job = edit(jobs, change, paid, pending)
    assert jobs.counted(job) == {"updated": 1, "failed": 1}
    assert [(e["id"], e["code"]) for e in job["errors"]] == [(pending["id"], "invalid_transition")]
    now = jobs.now(paid)
    assert (now["status"], now["salesRepId"], now["tags"]) == ("PROCESSING", "emp_ann", ["a", "b"])
    assert jobs.now(pending) == pending


def test_filters_choose_orders_as_their_list_does(jobs: JobDesk) -> None:
    ours, other = order(jobs, source="FAIR"), order(jobs)
    asked = {"filters": {"source": "FAIR"}, "change": {"addTags": ["a"]}}
    assert jobs.counted(jobs.done(EDIT_ORDERS, asked)) == {"updated": 1}
    assert (jobs.now(ours)["tags"], jobs.now(other)) == (["a"], other)


def test_a_dry_run_reports_orders_that_cannot_move(jobs: JobDesk) -> None:
    paid, pending = order(jobs, paymentStatus="PAID"), order(jobs)
    body = {"all": True, "change": {"status": "PROCESSING"}, "dryRun": True}
    job = jobs.done(EDIT_ORDERS, body)
    assert jobs.counted(job) == {"updated": 1, "failed": 1}
    (shown,) = job["preview"]
    assert (shown["id"], shown["after"]["status"]) == (paid["id"], "PROCESSING")
    assert [jobs.now(paid), jobs.now(pending)] == [paid, pending]


def test_an_order_that_already_is_as_asked_counts_as_unchanged(jobs: JobDesk) -> None:
    there = order(jobs, paymentStatus="PAID", tags=["a"], salesRepId="emp_ann")
    change = {"status": there["status"], "salesRepId": "emp_ann", "addTags": ["a"]}
    job = edit(jobs, change, there)
    assert jobs.counted(job) == {"unchanged": 1}
    assert jobs.now(there) == there


def test_an_order_that_another_worker_of_the_job_has_moved_counts_as_updated(
    jobs: JobDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    placed, rewrite = order(jobs), orders.rewrite
    job = store.begin(store.get(editing(jobs, {"status": "PAID"}, placed)))

    def meanwhile(*given: Any, **also: Any) -> Any:
        monkeypatch.setattr(orders, "rewrite", rewrite)
        work.step(job)  # which does not get to its end
        return rewrite(*given, **also)

    monkeypatch.setattr(orders, "rewrite", meanwhile)
    jobs.work()
    assert jobs.counted(jobs.job(job.id)) == {"updated": 1}
    assert jobs.job(job.id)["errors"] == []


def test_a_concurrent_change_of_an_order_is_kept(jobs: JobDesk) -> None:
    placed = order(jobs, tags=["a"])
    job = editing(jobs, {"salesRepId": "emp_ann", "addTags": ["b"], "removeTags": ["c"]}, placed)
    other = {"salesRepId": "emp_zoe", "tags": ["c", "d"]}
    path = f"/api/admin/orders/{placed['id']}"
    before_the_commit(jobs.dynamodb, lambda: jobs.shop.patch(path, other))
    done = jobs.finished(job)
    assert jobs.counted(done) == {"updated": 1}
    now = jobs.now(placed)
    assert (now["salesRepId"], now["tags"]) == ("emp_ann", ["d", "b"])
    assert jobs.counted(jobs.undone(done)) == {"updated": 1}
    now = jobs.now(placed)
    assert (now["salesRepId"], now["tags"]) == ("emp_zoe", ["c", "d"])


def test_a_move_that_somebody_else_just_made_counts_as_unchanged(jobs: JobDesk) -> None:
    placed = order(jobs)
    job = editing(jobs, {"status": "PAID"}, placed)
    path = f"/api/admin/orders/{placed['id']}"
    before_the_commit(jobs.dynamodb, lambda: jobs.shop.patch(path, {"status": "PAID"}))
    assert jobs.counted(jobs.finished(job)) == {"unchanged": 1}


def test_blanks_around_a_tag_are_no_part_of_it(jobs: JobDesk) -> None:
    tagged, product = order(jobs, tags=["sale"]), jobs.product(tags=["sale"])
    for record in (tagged, product):
        assert jobs.counted(edit(jobs, {"addTags": [" sale "]}, record)) == {"unchanged": 1}
        assert jobs.counted(edit(jobs, {"removeTags": [" sale "]}, record)) == {"updated": 1}
        assert jobs.now(record)["tags"] == []
