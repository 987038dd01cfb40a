"""POST /api/admin/jobs/{id}/undo: restores everything that was not changed since the job."""

from datetime import timedelta
from typing import Any

import pytest

from chalicelib import deadline
from chalicelib.jobs import queue, store
from chalicelib.products.model import Product
from chalicelib.undo import store as log
from chalicelib.undo.model import difference, is_untouched, restore_product
from chalicelib.values import clock
from tests.jobs.test_bulk_edits import edit, editing, order
from tests.jobs.test_exports import EXPORTS
from tests.orders.build import before_the_commit
from tests.support.dynamodb_double import Fault
from tests.support.import_desk import Desk
from tests.support.job_desk import PRODUCTS, JobDesk


def kept(undone: Any) -> list[str]:
    """The fields that an undo left because they were changed since."""
    assert {error["code"] for error in undone["errors"]} <= {"changed_since"}
    return [error["message"].rpartition(" ")[2] for error in undone["errors"]]


def sold(jobs: JobDesk, product: Any, pieces: int) -> Any:
    """The order."""
    line = {"variantId": product["variants"][0]["id"], "quantity": pieces}
    return jobs.shop.made("/api/admin/orders", {"lineItems": [line]})


def put(jobs: JobDesk, product: Any, **fields: Any) -> None:
    assert jobs.shop.put(f"{PRODUCTS}/{product['id']}", fields).status == 200


def like(product: Any) -> Any:
    return {name: value for name, value in product.items() if name != "updatedAt"}


def test_a_bulk_edit_is_undone(jobs: JobDesk) -> None:
    variants = [{"title": "S", "price": "12.00", "sku": "A"}, {"title": "M", "stock": 3}]
    products = [jobs.product(variants=variants, tags=["x"]) for _ in range(30)]
    change = {"price": {"percent": 10}, "status": "ACTIVE", "addTags": ["y"]}
    edited = edit(jobs, change, *products)
    assert like(jobs.now(products[0])) != like(products[0])
    undone = jobs.undone(edited)
    assert (undone["type"], undone["about"]) == ("undo", {"job": edited["id"]})
    assert jobs.counted(undone) == {"updated": 30} and undone["errors"] == []
    assert [like(jobs.now(product)) for product in products] == [like(p) for p in products]
    found = jobs.shop.get(f"{PRODUCTS}?status=ACTIVE").json["total"]
    assert found == 0


def test_an_undo_keeps_later_changes(jobs: JobDesk) -> None:
    product = jobs.product(price="10.00", vendor="A", variants=[{"title": "S", "stock": 9}])
    edited = edit(jobs, {"price": {"set": 12}, "vendor": "B"}, product)
    put(jobs, product, vendor="C", name="Coat")
    sold(jobs, product, 2)
    undone = jobs.undone(edited)
    assert jobs.counted(undone) == {"updated": 1}
    (error,) = undone["errors"]
    assert (error["id"], error["code"]) == (product["id"], "changed_since")
    assert error["name"] == "Coat", "as it is called now"
    assert "vendor" in error["message"] and "price" not in error["message"]
    now = jobs.now(product)
    assert (now["price"], now["vendor"], now["name"]) == ("10.00", "C", "Coat")
    assert now["variants"][0]["stock"] == 7


def test_a_long_reason_is_shortened(jobs: JobDesk) -> None:
    variants = [{"title": str(n), "price": "10.00"} for n in range(40)]
    product = jobs.product(variants=variants)
    edited = edit(jobs, {"price": {"add": 1}}, product)
    put(jobs, product, variants=[{"id": v["id"], "price": "9.00"} for v in product["variants"]])
    (error,) = jobs.undone(edited)["errors"]
    assert len(error["message"]) == 1_000


def test_a_change_during_an_undo_is_kept(jobs: JobDesk) -> None:
    product = jobs.product(price="10.00", vendor="A")
    edited = edit(jobs, {"price": {"set": 12}, "vendor": "B"}, product)
    undoing = jobs.undoing(edited)
    before_the_commit(jobs.dynamodb, lambda: put(jobs, product, vendor="C"))
    assert jobs.counted(jobs.finished(undoing)) == {"updated": 1}
    now = jobs.now(product)
    assert (now["price"], now["vendor"]) == ("10.00", "C")


def test_a_product_that_is_busy_is_edited_and_undone_later(
    jobs: JobDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deadline, "PATIENCE_SECONDS", 0.01)
    product = jobs.product(price="10.00")

    def busy(operation: str, request: Any) -> Fault | None:
        writes = operation == "TransactWriteItems" and "{'S': 'product'}" in str(request)
        return Fault.CONFLICT if writes and not jobs.failed else None

    jobs.dynamodb.faults = busy
    edited = edit(jobs, {"price": {"set": 12}}, product)
    assert (jobs.counted(edited), len(jobs.failed)) == ({"updated": 1}, 1)
    jobs.failed.clear()
    assert (jobs.counted(jobs.undone(edited)), len(jobs.failed)) == ({"updated": 1}, 1)
    jobs.failed.clear()
    assert jobs.now(product)["price"] == "10.00"


def test_a_second_undo_changes_nothing(jobs: JobDesk) -> None:
    product = jobs.product(price="10.00")
    edited = edit(jobs, {"price": {"set": 12}}, product)
    jobs.undone(edited)
    put(jobs, product, price="12.00")
    assert jobs.counted(jobs.undone(edited)) == {"unchanged": 1}
    assert jobs.now(product)["price"] == "12.00"
    jobs.shop.delete(f"{PRODUCTS}/{product['id']}")
    after_its_end = jobs.undone(edited)
    assert (jobs.counted(after_its_end), after_its_end["errors"]) == ({"unchanged": 1}, [])


def test_an_undo_skips_products_that_another_undo_restores_meanwhile(
    jobs: JobDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    product = jobs.product(price="10.00")
    edited = edit(jobs, {"price": {"set": 12}}, product)
    read = log.entries(edited["id"], "", 25)
    jobs.undone(edited)
    put(jobs, product, price="12.00")
    monkeypatch.setattr(log, "entries", lambda *asked: read)  # the second has read it already
    late = jobs.undone(edited)
    assert jobs.counted(late) == {"unchanged": 1}
    assert [error["code"] for error in late["errors"]] == ["undone_meanwhile"]
    assert jobs.now(product)["price"] == "12.00"


@pytest.mark.parametrize("end", ["cancelled", "failed"])
def test_what_a_stopped_job_still_writes_is_undone_too(
    jobs: JobDesk, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    product, times = jobs.product(price="10.00"), [clock.now()]
    monkeypatch.setattr(clock, "now", lambda: times[-1])
    waits: list[int] = []
    send = queue.send

    def sent(job_id: str, step: int, seconds: int = 0) -> None:
        waits.append(seconds)
        send(job_id, step)

    monkeypatch.setattr(queue, "send", sent)
    job = editing(jobs, {"price": {"set": 12}}, product)
    undone: list[str] = []

    def ended() -> None:
        if end == "cancelled":
            store.cancel(job)
        else:
            store.fail(job, "step_failed", "The job could not continue.")
        undone.append(jobs.start(f"/api/admin/jobs/{job}/undo"))
        (message,) = jobs.messages()
        jobs.handle(message)

    before_the_commit(jobs.dynamodb, ended)
    (message,) = jobs.messages()
    jobs.handle(message)
    assert jobs.now(product)["price"] == "12.00"
    times.append(times[-1] + timedelta(seconds=waits[-1]))
    assert jobs.counted(jobs.finished(undone[0])) == {"updated": 1}
    assert jobs.now(product)["price"] == "10.00"
    assert waits == [0, 0, store.WORKER_SECONDS]


@pytest.mark.thorough
@pytest.mark.parametrize("nth", range(1, 8))
@pytest.mark.parametrize("after", [False, True])
def test_an_undo_that_crashes_anywhere_restores_each_product_once(
    jobs: JobDesk, nth: int, after: bool
) -> None:
    products = [jobs.product(price="10.00", vendor="A") for _ in range(6)]
    edited = edit(jobs, {"price": {"percent": 10}, "vendor": "B"}, *products)
    put(jobs, products[0], vendor="C")
    job = jobs.undoing(edited)
    jobs.crash("TransactWriteItems", nth, after=after)
    undone = jobs.finished(job)
    assert jobs.counted(undone) == {"updated": 6}
    assert [error["id"] for error in undone["errors"]] == [products[0]["id"]]
    assert [jobs.now(p)["price"] for p in products] == ["10.00"] * 6
    assert [jobs.now(p)["vendor"] for p in products] == ["C", *["A"] * 5]


def test_a_deleted_product_is_skipped(jobs: JobDesk) -> None:
    product = jobs.product()
    edited = edit(jobs, {"vendor": "B"}, product)
    jobs.shop.delete(f"{PRODUCTS}/{product['id']}")
    undone = jobs.undone(edited)
    assert jobs.counted(undone) == {"unchanged": 1}
    assert undone["errors"][0]["code"] == "deleted_since"
    assert undone["errors"][0]["name"] is None


def test_an_undo_restores_the_sales_rep_and_tags_of_orders_but_not_the_status(
    jobs: JobDesk,
) -> None:
    paid = order(jobs, paymentStatus="PAID", tags=["a"])
    change = {"status": "PROCESSING", "salesRepId": "emp_ann", "addTags": ["b"]}
    edited = edit(jobs, change, paid)
    undone = jobs.undone(edited)
    assert jobs.counted(undone) == {"updated": 1}
    assert "status" in undone["errors"][0]["message"]
    assert undone["errors"][0]["name"] == paid["number"]
    now = jobs.now(paid)
    assert (now["status"], now["salesRepId"], now["tags"]) == ("PROCESSING", None, ["a"])


def test_a_change_of_an_order_during_an_undo_is_kept(jobs: JobDesk) -> None:
    changed = order(jobs, tags=["a"])
    edited = edit(jobs, {"salesRepId": "emp_ann", "addTags": ["b"]}, changed)
    undoing = jobs.undoing(edited)
    path = f"/api/admin/orders/{changed['id']}"
    before_the_commit(jobs.dynamodb, lambda: jobs.shop.patch(path, {"tags": ["c"]}))
    assert jobs.counted(jobs.finished(undoing)) == {"updated": 1}
    now = jobs.now(changed)
    assert (now["salesRepId"], now["tags"]) == (None, ["c"])


def test_orders_without_anything_to_restore_are_left_with_the_reason(jobs: JobDesk) -> None:
    moved, changed, deleted = order(jobs, paymentStatus="PAID"), order(jobs), order(jobs)
    tagged = edit(jobs, {"addTags": ["b"]}, changed, deleted)
    processed = edit(jobs, {"status": "PROCESSING"}, moved)
    path = "/api/admin/orders"
    assert jobs.shop.patch(f"{path}/{changed['id']}", {"tags": ["c"]}).status == 200
    assert jobs.shop.patch(f"{path}/{deleted['id']}", {"status": "CANCELLED"}).status == 200
    assert jobs.shop.delete(f"{path}/{deleted['id']}").status == 200
    undone = [jobs.undone(tagged), jobs.undone(processed)]
    assert [jobs.counted(job) for job in undone] == [{"unchanged": 2}, {"unchanged": 1}]
    errors = [(error["id"], error["code"]) for job in undone for error in job["errors"]]
    assert errors == [
        (changed["id"], "changed_since"),
        (deleted["id"], "deleted_since"),
        (moved["id"], "changed_since"),
    ]
    assert (jobs.now(changed)["tags"], jobs.now(moved)["status"]) == (["c"], "PROCESSING")


def test_an_impossible_undo_is_refused_with_the_reason(
    jobs: JobDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    product = jobs.product()
    dry = edit(jobs, {"vendor": "B"}, product, dryRun=True)
    waiting = editing(jobs, {"vendor": "B"}, product)
    unmapped = Desk(jobs.shop, jobs.dynamodb).waiting("Product Name,Selling Price\nMug,7.50\n")
    export = jobs.start(EXPORTS, {"type": "products", "all": True})

    def refused(id: str) -> tuple[int, str]:
        answer = jobs.shop.post(f"/api/admin/jobs/{id}/undo")
        return answer.status, answer.json["code"]

    assert refused(dry["id"]) == refused(export) == (409, "nothing_to_undo")
    assert refused(waiting) == refused(unmapped["id"]) == (409, "job_not_finished")
    assert refused("job_1") == (404, "not_found")
    jobs.work()
    month = clock.parse(jobs.job(waiting)["createdAt"]) + timedelta(days=30)
    monkeypatch.setattr(clock, "now", lambda: month + timedelta(seconds=1))
    assert refused(waiting) == (409, "undo_expired")
    monkeypatch.setattr(clock, "now", lambda: month)
    path, key = f"/api/admin/jobs/{waiting}/undo", {"Idempotency-Key": "undo"}
    first = jobs.shop.post(path, headers=key)
    assert first.status == 202
    monkeypatch.setattr(clock, "now", lambda: month + timedelta(seconds=1))
    assert jobs.shop.post(path, headers=key).text == first.text  # sent again, it is not too late


def test_an_import_without_its_file_or_mapping_is_undone_as_a_failed_one(
    jobs: JobDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = Desk(jobs.shop, jobs.dynamodb)
    failed = desk.imported("a,b\n1,2\n", onUnknownColumns="fail")
    unmapped = desk.waiting("Product Name,Selling Price\nMug,7.50\n")["id"]
    upload = jobs.shop.made("/api/admin/products/import/uploads", {"fileName": "a.csv"})
    week = clock.now() + timedelta(days=7, seconds=1)
    monkeypatch.setattr(clock, "now", lambda: week)
    for id in (failed["id"], unmapped, upload["jobId"]):
        job = jobs.job(id)
        assert job["status"] == "FAILED"
        assert jobs.counted(jobs.undone(job)) == {}


def test_an_undo_can_be_undone_for_30_days_of_its_own(
    jobs: JobDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, unix = clock.now, clock.unix

    def pass_to(day: int) -> None:
        monkeypatch.setattr(clock, "now", lambda: now() + timedelta(days=day))
        monkeypatch.setattr(clock, "unix", lambda: unix() + day * 86_400)

    product, placed = jobs.product(vendor="A"), order(jobs, tags=["a"])
    edited = [edit(jobs, {"vendor": "B"}, product), edit(jobs, {"addTags": ["b"]}, placed)]
    pass_to(29)
    undone = [jobs.undone(job) for job in edited]
    assert (jobs.now(product)["vendor"], jobs.now(placed)["tags"]) == ("A", ["a"])
    pass_to(58)
    for job in undone:
        again = jobs.undone(job)
        assert (jobs.counted(again), again["errors"]) == ({"updated": 1}, [])
    assert (jobs.now(product)["vendor"], jobs.now(placed)["tags"]) == ("B", ["a", "b"])


def test_the_log_of_a_change_has_only_what_differs() -> None:
    def product(version: int, price: str, **fields: Any) -> Product:
        small, medium = {"id": "var_1", "price": price}, {"id": "var_2", "price": None}
        shared = {"id": "prod_1", "name": "Hat", "index": version, "updatedAt": version}
        return Product({**shared, **fields, "variants": [small, medium]}, {"var_1": 3}, version)

    before = product(1, "1.00", vendor="A", type="T")
    assert difference(before, product(2, "2.00", vendor="B", type="T")) == {
        "updatedAt": 2,
        "fields": {"vendor": ["A", "B"]},
        "variants": {"var_1": {"price": ["1.00", "2.00"]}},
    }
    assert difference(before, product(2, "1.00", vendor="A", type="T")) == {"updatedAt": 2}


def test_a_variant_that_is_put_back_is_the_default_one_only_if_it_was() -> None:
    change = {"variants": {"var_1": {"sku": ["A", "B"]}, "var_2": {"default": [None, True]}}}
    first = {"id": "var_1", "sku": "B", "default": True}
    product = Product({"variants": [first, {"id": "var_2", "default": True}]}, {}, 2)
    was = [{"id": "var_1", "sku": "A", "default": True}, {"id": "var_2"}]
    assert restore_product(product, [change]).fields["variants"] == was


def test_a_new_product_whose_stock_the_job_stopped_tracking_is_untouched() -> None:
    created = {"created": "T1", "stock": {"var_1": [None, 5], "var_2": [None, 4]}}
    changed = {"updatedAt": "T2", "stock": {"var_1": [5, None]}}
    now = {"updatedAt": "T2"}
    assert is_untouched(Product(now, {"var_2": 4}, 1), [created, changed])
    assert not is_untouched(Product({"updatedAt": "T3"}, {"var_2": 4}, 1), [created, changed])
    assert not is_untouched(Product(now, {"var_2": 4}, 2, {"var_2": 1}), [created, changed])
