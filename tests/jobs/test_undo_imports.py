"""Undoing imports."""

from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from chalicelib.imports import chunks
from chalicelib.products import store as products
from chalicelib.storage.commit import Commit
from chalicelib.undo import store as log
from chalicelib.values import clock
from tests.jobs.test_undo import kept, like, put, sold
from tests.orders.build import before_the_commit
from tests.support.import_desk import Desk
from tests.support.job_desk import PRODUCTS, JobDesk


def imported(jobs: JobDesk, text: str, **options: str) -> Any:
    return Desk(jobs.shop, jobs.dynamodb).imported(text, **options)


def coat(jobs: JobDesk, *variants: dict[str, Any], **fields: Any) -> Any:
    """A product that imports change: of one variant S, unless others are given."""
    given = {"variants": variants or [{"title": "S", "sku": "A"}], **fields}
    return jobs.product(name="Coat", slug="coat", **given)


def the_hat(jobs: JobDesk) -> Any:
    (hat,) = jobs.shop.get(PRODUCTS).json["data"]
    return hat


def titles(jobs: JobDesk, product: Any) -> str:
    return "".join(variant["title"] for variant in jobs.now(product)["variants"])


HAT = "slug,name,price,stock\nhat,Hat,5.00,7\n"
STOCK = "slug,name,variant title,stock\ncoat,Coat,S,20\n"
MEDIUM = "slug,name,vendor,variant title,sku,stock\ncoat,Coat,V,M,B,6\n"


def test_an_import_is_undone(jobs: JobDesk) -> None:
    variants = [{"title": "S", "sku": "A", "stock": 5}, {"title": "M", "sku": "B", "stock": 6}]
    known = jobs.product(name="Coat", slug="coat", price="10.00", vendor="A", variants=variants)
    text = "slug,name,vendor,price,sku,stock\ncoat,Coat,B,12.00,,\nhat,Hat,C,5.00,H,7\n"
    job = imported(jobs, text)
    assert (job["created"], job["updated"]) == (1, 1)
    undone = jobs.undone(job)
    assert jobs.counted(undone) == {"deleted": 1, "updated": 1}
    assert like(jobs.now(known)) == like(known)
    assert jobs.shop.get(PRODUCTS).json["total"] == 1
    again = imported(jobs, text)
    assert (again["created"], again["updated"]) == (1, 1)


def test_a_new_product_sold_during_an_undo_stays(jobs: JobDesk) -> None:
    undoing = jobs.undoing(imported(jobs, HAT))
    hat = the_hat(jobs)
    before_the_commit(jobs.dynamodb, lambda: sold(jobs, hat, 1))
    undone = jobs.finished(undoing)
    assert jobs.counted(undone) == {"unchanged": 1}
    assert [error["code"] for error in undone["errors"]] == ["changed_since"]
    assert jobs.now(hat)["variants"][0]["stock"] == 6


@pytest.mark.parametrize(
    ("before", "pieces", "now", "is_kept"),
    [(5, 3, 2, False), (5, 5, 0, False), (5, 6, 14, True), (None, 3, 17, True)],
)
def test_imported_stock_is_reverted_by_the_difference_or_stays_and_is_reported(
    jobs: JobDesk, before: int | None, pieces: int, now: int, is_kept: bool
) -> None:
    known = coat(jobs, {"title": "S", "stock": before})
    job = imported(jobs, STOCK)
    sold(jobs, known, pieces)
    undone = jobs.undone(job)
    (variant,) = jobs.now(known)["variants"]
    assert variant["stock"] == now
    assert kept(undone) == ([f"stock.{variant['id']}"] if is_kept else [])


def test_undoing_the_undo_restores_an_import(jobs: JobDesk) -> None:
    job = imported(jobs, HAT)
    hat = the_hat(jobs)
    undone = jobs.undone(job)
    assert jobs.now(hat) is None
    assert jobs.counted(jobs.undone(undone)) == {"created": 1}
    assert like(jobs.now(hat)) == like(hat)
    assert jobs.shop.get(f"{PRODUCTS}?search=hat").json["total"] == 1
    assert jobs.counted(jobs.undone(job)) == {"deleted": 1}
    assert jobs.now(hat) is None


def test_a_product_that_an_undo_creates_again_is_newer_than_what_was_deleted(
    jobs: JobDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = imported(jobs, HAT)
    versions = [the_hat(jobs)]
    path = f"{PRODUCTS}/{versions[0]['id']}"
    tags = [jobs.shop.get(path).headers["ETag"]]
    slow = clock.now() - timedelta(minutes=1)
    for _ in range(3):
        monkeypatch.setattr(clock, "now", lambda: slow)  # of another function
        job = jobs.undone(job)
        assert jobs.counted(job) == {"deleted": 1}, "it was never edited"
        job = jobs.undone(job)
        assert jobs.counted(job) == {"created": 1}
        answer = jobs.shop.get(path)
        changed = f"{PRODUCTS}?sort=updatedAt&updatedFrom={versions[-1]['updatedAt']}&cursor=*"
        (found,) = jobs.shop.get(changed).json["data"]
        assert found["updatedAt"] > versions[-1]["updatedAt"]
        versions.append(answer.json)
        tags.append(answer.headers["ETag"])
    times = [version["updatedAt"] for version in versions]
    assert times == sorted(set(times)), "a receiver keeps the newer one"
    assert len(set(tags)) == len(tags), "a client that has a copy is not told that it is current"
    put(jobs, versions[0], vendor="B")
    assert jobs.counted(jobs.undone(job)) == {"unchanged": 1}


@pytest.mark.thorough
@pytest.mark.parametrize("nth", [1, 2])
def test_an_undo_that_crashes_counts_its_deletions_and_creations(jobs: JobDesk, nth: int) -> None:
    job = imported(jobs, HAT)
    for outcome in ("deleted", "created", "deleted"):
        undoing = jobs.undoing(job)
        jobs.crash("TransactWriteItems", nth)
        job = jobs.finished(undoing)
        assert jobs.counted(job) == {outcome: 1}


def test_an_undo_of_a_product_that_was_deleted_since_changes_nothing(jobs: JobDesk) -> None:
    job = imported(jobs, HAT)
    assert jobs.shop.delete(f"{PRODUCTS}/{the_hat(jobs)['id']}").status == 200
    undone = jobs.undone(job)
    assert (jobs.counted(undone), undone["errors"]) == ({"unchanged": 1}, [])


def test_a_product_whose_slug_was_taken_since_is_not_restored(jobs: JobDesk) -> None:
    undone = jobs.undone(imported(jobs, HAT))
    other = jobs.product(name="Hat", slug="hat")
    again = jobs.undone(undone)
    assert jobs.counted(again) == {"failed": 1}
    assert [error["code"] for error in again["errors"]] == ["slug_taken"]
    assert the_hat(jobs) == other


def test_one_of_two_concurrent_undos_restores_and_the_other_reports_it(
    jobs: JobDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    undone = jobs.undone(imported(jobs, HAT))
    read = log.entries(undone["id"], "", 25)
    jobs.undone(undone)
    before = the_hat(jobs)
    monkeypatch.setattr(log, "entries", lambda *asked: read)  # the second has read it already
    late = jobs.undone(undone)
    assert jobs.counted(late) == {"unchanged": 1}
    assert [error["code"] for error in late["errors"]] == ["changed_since"]
    assert the_hat(jobs) == before


def test_a_product_changed_by_several_chunks_is_restored_completely(
    jobs: JobDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunks, "cut", partial(chunks.cut, rows=4))
    known = jobs.product(name="Coat", slug="coat", price="10.00", sku="C")
    names = {"1": "coat,Coat,1,1,", "2": ",Coat,2,2,C"}
    rows = [f"{row}\n" + "".join(f"f-{n}{m},F,1,,\n" for m in range(5)) for n, row in names.items()]
    job = imported(jobs, "slug,name,price,description,sku\n" + "".join(rows))
    assert (job["created"], job["updated"]) == (10, 2)
    assert jobs.now(known)["price"] == "2.00"
    assert jobs.counted(jobs.undone(job)) == {"deleted": 10, "updated": 1}
    assert like(jobs.now(known)) == like(known)


def test_the_remaining_changes_of_a_product_are_undone(
    jobs: JobDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunks, "cut", partial(chunks.cut, rows=1))
    known = jobs.product(name="Coat", slug="coat", price="10.00", sku="C")
    job = imported(jobs, "slug,name,price,sku\ncoat,Coat,1,\nhat,Hat,1,\n,,2,C\n")
    first, _ = log.entries(job["id"], "", 25)[0][known["id"]]
    commit = Commit()  # an undo that came between a cancellation and the last of its writes
    log.mark(commit, [first], "job_1")
    commit.send()
    assert jobs.counted(jobs.undone(job)) == {"deleted": 1, "updated": 1}
    assert jobs.now(known)["price"] == "1.00"


def test_a_variant_added_by_an_import_is_removed_and_restored(jobs: JobDesk) -> None:
    known = coat(jobs, {"title": "S", "sku": "A", "stock": 5}, price="10.00", vendor="V")
    job = imported(jobs, MEDIUM)
    assert job["updated"] == 1, job
    added = jobs.now(known)
    assert titles(jobs, known) == "SM"
    undone = jobs.undone(job)
    assert like(jobs.now(known)) == like(known)
    assert products.load([known["id"]])[0].quantities == {known["variants"][0]["id"]: 5}
    assert jobs.counted(jobs.undone(undone)) == {"updated": 1}
    assert like(jobs.now(known)) == like(added)


@pytest.mark.parametrize("since", ["it was changed", "it was deleted", "it alone was left"])
def test_a_variant_added_by_an_import_stays_as_it_is_since(jobs: JobDesk, since: str) -> None:
    known = coat(jobs)
    job = imported(jobs, MEDIUM)
    small, medium = ({"id": variant["id"]} for variant in jobs.now(known)["variants"])
    left = {
        "it was changed": [small, {**medium, "price": "9.00"}],
        "it was deleted": [small],
        "it alone was left": [medium],
    }
    put(jobs, known, variants=left[since])
    variants = jobs.now(known)["variants"]
    undone = jobs.undone(job)
    assert jobs.counted(undone) == {"updated": 1}
    assert kept(undone) == [f"variants.{medium['id']}"] * (since != "it was deleted")
    assert jobs.now(known)["variants"] == variants


def test_options_added_by_an_import_are_removed_and_restored(jobs: JobDesk) -> None:
    known = jobs.product(name="Coat", slug="coat")
    job = imported(jobs, "slug,name,variant title,sku\ncoat,Coat,S,A\ncoat,Coat,M,B\n")
    added, stored = jobs.now(known), products.load([known["id"]])[0].fields["variants"]
    undone = jobs.undone(job)
    assert like(jobs.now(known)) == like(known)
    assert jobs.counted(jobs.undone(undone)) == {"updated": 1}
    assert like(jobs.now(known)) == like(added)
    assert products.load([known["id"]])[0].fields["variants"] == stored


def test_variants_are_restored_in_their_order(jobs: JobDesk) -> None:
    known = coat(jobs)
    rows = "".join(f"coat,Coat,{title},{title}{title}\n" for title in "ABCDEFGH")
    job = imported(jobs, f"slug,name,variant title,sku\n{rows}")
    jobs.undone(jobs.undone(job))
    assert titles(jobs, known) == "SABCDEFGH"


@pytest.mark.parametrize("after", ["SMLX", "SMX"])  # L stays, or is deleted meanwhile
def test_a_restored_variant_has_its_place_before_those_added_since(
    jobs: JobDesk, after: str
) -> None:
    def add(title: str) -> None:
        there = [{"id": v["id"]} for v in jobs.now(known)["variants"]]
        put(jobs, known, variants=[*there, {"title": title}])

    known = coat(jobs)
    job = imported(jobs, MEDIUM)
    add("L")
    undone = jobs.undone(job)
    add("X")
    assert titles(jobs, known) == "SLX"
    left = [{"id": v["id"]} for v in jobs.now(known)["variants"] if v["title"] in after]
    put(jobs, known, variants=left)
    jobs.undone(undone)
    assert titles(jobs, known) == after


def test_a_variant_deleted_since_stays_deleted_and_the_others_are_restored(jobs: JobDesk) -> None:
    known = coat(jobs, *({"title": title, "price": 5, "stock": 1} for title in "SM"))
    text = "slug,name,variant title,variant price,stock\ncoat,Coat,S,6,2\ncoat,Coat,M,6,2\n"
    job = imported(jobs, text)
    small, medium = known["variants"]
    put(jobs, known, variants=[{"id": medium["id"]}])
    undone = jobs.undone(job)
    assert jobs.counted(undone) == {"updated": 1}
    assert kept(undone) == [f"variants.{small['id']}"]
    (left,) = jobs.now(known)["variants"]
    assert (left["id"], left["price"], left["stock"]) == (medium["id"], "5.00", 1)


def test_stock_that_is_no_longer_tracked_is_left_and_reported(jobs: JobDesk) -> None:
    known = coat(jobs, {"title": "S", "stock": 5})
    job = imported(jobs, STOCK)
    (variant,) = known["variants"]
    put(jobs, known, variants=[{"id": variant["id"], "stock": None}])
    undone = jobs.undone(job)
    assert jobs.counted(undone) == {"unchanged": 1}
    assert kept(undone) == [f"stock.{variant['id']}"]
    assert jobs.now(known)["variants"][0]["stock"] is None


def test_a_later_order_of_the_variants_stays(jobs: JobDesk) -> None:
    known = coat(jobs, {"title": "S"}, {"title": "L"})
    job = imported(jobs, MEDIUM)
    small, large, medium = ({"id": v["id"]} for v in jobs.now(known)["variants"])
    put(jobs, known, variants=[large, small, medium])
    assert jobs.undone(job)["errors"] == []
    assert titles(jobs, known) == "LS"
