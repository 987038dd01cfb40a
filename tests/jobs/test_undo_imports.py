"""Undoing imports, and imports, edits, sales and undos in any order, with crashes."""

import random
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pytest

from chalicelib.imports.steps import plan as planner
from chalicelib.products import store as products
from chalicelib.storage.commit import Commit
from chalicelib.undo import store as log
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


def test_a_new_product_edited_or_sold_since_stays(jobs: JobDesk) -> None:
    rows = "".join(f"hat-{n},Hat {n},5.00,{n}\n" for n in range(1, 4))
    job = imported(jobs, f"slug,name,price,stock\n{rows}")
    listed = jobs.shop.get(PRODUCTS).json["data"]
    hats = {product["slug"]: product for product in listed}
    put(jobs, hats["hat-1"], vendor="A")
    sold(jobs, hats["hat-2"], 1)
    undone = jobs.undone(job)
    assert jobs.counted(undone) == {"deleted": 1, "unchanged": 2}
    assert {error["code"] for error in undone["errors"]} == {"changed_since"}
    assert jobs.now(hats["hat-3"]) is None


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


def test_an_import_that_waits_for_a_mapping_cannot_be_undone(jobs: JobDesk) -> None:
    job = imported(jobs, "Product Name,Selling Price\nMug,7.50\n")
    assert job["status"] == "NEEDS_MAPPING"
    answer = jobs.shop.post(f"/api/admin/jobs/{job['id']}/undo")
    assert (answer.status, answer.json["code"]) == (409, "job_not_finished")


def test_a_product_changed_by_several_chunks_is_restored_completely(
    jobs: JobDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(planner, "cut", partial(planner.cut, rows=4))
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
    monkeypatch.setattr(planner, "cut", partial(planner.cut, rows=1))
    known = jobs.product(name="Coat", slug="coat", price="10.00", sku="C")
    job = imported(jobs, "slug,name,price,sku\ncoat,Coat,1,\nhat,Hat,1,\n,,2,C\n")
    first, _ = log.entries(job["id"], "", 25)[0][known["id"]]
    commit = Commit()  # an undo that came between a cancellation and the last of its writes
    log.mark(commit, [first], "job_1")
    commit.send()
    assert jobs.counted(jobs.undone(job)) == {"deleted": 1, "updated": 1}
    assert jobs.now(known)["price"] == "1.00"


# --- In any order ---------------------------------------------------------------------------------


@dataclass
class Cell:
    """A field of one product, with its changes by job."""

    value: str
    writes: dict[str, tuple[str, str]] = field(default_factory=dict)  # job → before and after

    def write(self, job: str, value: str) -> None:
        if value != self.value:
            self.writes[job] = (self.value, value)
            self.value = value

    def undo(self, job: str, by: str) -> None:
        if job not in self.writes:
            return
        before, after = self.writes[job]
        if self.value == after:
            self.writes[by] = (after, before)
            self.value = before


@dataclass
class Book:
    """The expected shop: `vendor`, `price` and stock of each product."""

    cells: dict[tuple[str, str], Cell] = field(default_factory=dict)
    stock: dict[str, int] = field(default_factory=dict)
    moved: dict[tuple[str, str], int] = field(default_factory=dict)  # (job, product) → pieces
    of: dict[str, str] = field(default_factory=dict)  # undo → the job it undid, product by product
    taken_back: set[tuple[str, str]] = field(default_factory=set)  # (job, product)


class Walk:
    def __init__(self, jobs: JobDesk, seed: int) -> None:
        self.jobs, self.chance, self.book = jobs, random.Random(seed), Book()
        self.desk = Desk(jobs.shop, jobs.dynamodb)
        self.products: dict[str, Any] = {}
        self.ran: list[Any] = []
        self.numbers = iter(range(1, 10_000))
        for n in range(4):
            slug = f"coat-{n}"
            made = jobs.product(
                name=slug, slug=slug, price="1.00", vendor="V", sku=slug,
                variants=[{"title": "S", "stock": 500}],
            )  # fmt: skip
            self.products[slug] = made
            for name in ("vendor", "price"):
                self.book.cells[slug, name] = Cell(made[name])
            self.book.stock[slug] = 500

    def some(self) -> list[str]:
        return self.chance.sample(sorted(self.products), self.chance.randint(1, 4))

    def vendor(self) -> str:
        return f"V{next(self.numbers)}"

    def price(self) -> str:
        return f"{next(self.numbers)}.00"

    def crash_perhaps(self) -> None:
        if self.chance.random() < 0.4:
            nth, after = self.chance.randint(1, 6), self.chance.random() < 0.5
            self.jobs.crash("TransactWriteItems", nth, after=after, perhaps=True)

    def still(self) -> None:
        self.jobs.dynamodb.faults = lambda operation, request: None

    def step(self) -> None:
        self.chance.choice(
            [self.bulk, self.importing, self.edited, self.sale, self.undo, self.undo]
        )()
        self.check()

    def bulk(self) -> None:
        slugs, vendor, price = self.some(), self.vendor(), self.price()
        ids = [self.products[slug]["id"] for slug in slugs]
        change = {"vendor": vendor, "price": {"set": price}}
        job = self.jobs.start(f"{PRODUCTS}/bulk-edit", {"ids": ids, "change": change})
        self.crash_perhaps()
        done = self.jobs.finished(job)
        self.still()
        assert self.jobs.counted(done) == {"updated": len(slugs)}
        self.wrote(done, slugs, vendor, price, None)

    def importing(self) -> None:
        slugs, vendor, price = self.some(), self.vendor(), self.price()
        stock = self.chance.choice([None, self.chance.randint(200, 900)])
        rows = "".join(f"{s},{s},{vendor},{price},S,{stock or ''}\n" for s in slugs)
        done = self.desk.imported(f"slug,name,vendor,price,variant title,stock\n{rows}")
        assert done["status"] == "COMPLETED" and done["failed"] == 0, done
        self.wrote(done, slugs, vendor, price, stock)

    def wrote(self, job: Any, slugs: list[str], vendor: str, price: str, stock: int | None) -> None:
        self.ran.append(job)
        for slug in slugs:
            self.book.cells[slug, "vendor"].write(job["id"], vendor)
            self.book.cells[slug, "price"].write(job["id"], price)
            if stock is not None:
                self.book.moved[job["id"], slug] = stock - self.book.stock[slug]
                self.book.stock[slug] = stock

    def edited(self) -> None:
        slug = self.chance.choice(sorted(self.products))
        name, value = self.chance.choice([("vendor", self.vendor()), ("price", self.price())])
        put(self.jobs, self.products[slug], **{name: value})
        self.book.cells[slug, name].write("somebody", value)

    def sale(self) -> None:
        slug = self.chance.choice(sorted(self.products))
        sold(self.jobs, self.products[slug], 1)
        self.book.stock[slug] -= 1

    def undo(self) -> None:
        if not self.ran:
            return
        undone = self.chance.choice(self.ran)
        job = self.jobs.undoing(undone)
        self.crash_perhaps()
        done = self.jobs.finished(job)
        self.still()
        assert done["status"] == "COMPLETED", done
        self.ran.append(done)
        for slug in self.products:
            self.took_back(undone["id"], job, slug)

    def took_back(self, undone: str, by: str, slug: str) -> None:
        """Writes of one product are all or none, so it counts as restored if any field is."""
        cells = [self.book.cells[slug, name] for name in ("vendor", "price")]
        if (undone, slug) in self.book.taken_back:
            return
        was = [cell.value for cell in cells]
        for cell in cells:
            cell.undo(undone, by)
        pieces = self.book.moved.get((undone, slug), 0)
        if pieces and self.book.stock[slug] - pieces >= 0:
            self.book.stock[slug] -= pieces
            self.book.moved[by, slug] = -pieces
        else:
            pieces = 0
        if pieces or was != [cell.value for cell in cells]:
            self.book.taken_back.add((undone, slug))
            self.book.of[by] = undone
            original = self.book.of.get(undone)
            if original:
                self.book.taken_back.discard((original, slug))

    def check(self) -> None:
        for slug, product in self.products.items():
            now = self.jobs.now(product)
            for name in ("vendor", "price"):
                assert now[name] == self.book.cells[slug, name].value, (slug, name)
            assert now["variants"][0]["stock"] == self.book.stock[slug], slug


@pytest.mark.parametrize("seed", range(12))
def test_an_undo_reverts_only_its_job_in_any_order_of_events(jobs: JobDesk, seed: int) -> None:
    walk = Walk(jobs, seed)
    for _ in range(14):
        walk.step()


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


def test_a_variant_added_by_an_import_and_changed_since_stays(jobs: JobDesk) -> None:
    known = coat(jobs)
    job = imported(jobs, MEDIUM)
    small, medium = jobs.now(known)["variants"]
    put(jobs, known, variants=[{"id": small["id"]}, {"id": medium["id"], "price": "9.00"}])
    assert kept(jobs.undone(job)) == [f"variants.{medium['id']}"]
    assert [variant["stock"] for variant in jobs.now(known)["variants"]] == [None, 6]


def test_a_variant_added_by_an_import_and_deleted_since_stays_deleted(jobs: JobDesk) -> None:
    known = coat(jobs)
    job = imported(jobs, MEDIUM)
    put(jobs, known, variants=[{"id": known["variants"][0]["id"]}])
    undone = jobs.undone(job)
    assert (jobs.counted(undone), undone["errors"]) == ({"updated": 1}, [])
    assert titles(jobs, known) == "S"


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


def test_stock_that_an_import_began_to_track_is_tracked_no_longer(jobs: JobDesk) -> None:
    known = coat(jobs)
    undone = jobs.undone(imported(jobs, STOCK))
    assert (jobs.counted(undone), undone["errors"]) == ({"updated": 1}, [])
    assert jobs.now(known)["variants"][0]["stock"] is None
    jobs.undone(undone)
    assert jobs.now(known)["variants"][0]["stock"] == 20


def test_a_later_order_of_the_variants_stays(jobs: JobDesk) -> None:
    known = coat(jobs, {"title": "S"}, {"title": "L"})
    job = imported(jobs, MEDIUM)
    small, large, medium = ({"id": v["id"]} for v in jobs.now(known)["variants"])
    put(jobs, known, variants=[large, small, medium])
    assert jobs.undone(job)["errors"] == []
    assert titles(jobs, known) == "LS"


def test_the_only_remaining_variant_stays(jobs: JobDesk) -> None:
    known = coat(jobs)
    job = imported(jobs, MEDIUM)
    medium = jobs.now(known)["variants"][1]
    put(jobs, known, variants=[{"id": medium["id"]}])
    assert kept(jobs.undone(job)) == [f"variants.{medium['id']}"]
    assert jobs.now(known)["variants"] == [medium]
