"""An undo loses no piece of stock, and deletes nothing that was sold, moved or ordered."""

import random
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.jobs.test_undo import kept, put, sold
from tests.jobs.test_undo_imports import MEDIUM, coat, imported, the_hat
from tests.support.job_desk import PRODUCTS, JobDesk

ORDERS = "/api/admin/orders"


def cancel(jobs: JobDesk, order: Any) -> None:
    answer = jobs.shop.patch(f"{ORDERS}/{order['id']}", {"status": "CANCELLED"})
    assert answer.status == 200, answer.text


def moved(jobs: JobDesk, product: Any, **move: int) -> None:
    variant = product["variants"][0]["id"]
    moves = {"moves": [{"variantId": variant, "reason": "COUNTED", **move}]}
    answer = jobs.shop.post(f"{PRODUCTS}/{product['id']}/stock", moves)
    assert answer.status == 200, answer.text


def test_a_new_product_that_was_sold_and_counted_again_stays(jobs: JobDesk) -> None:
    job = imported(jobs, "slug,name,price,stock\nhat,Hat,5.00,4\n")
    order = sold(jobs, the_hat(jobs), 4)
    moved(jobs, the_hat(jobs), to=4)
    undone = jobs.undone(job)
    assert jobs.counted(undone) == {"unchanged": 1}
    assert [error["code"] for error in undone["errors"]] == ["changed_since"]
    cancel(jobs, order)
    assert the_hat(jobs)["variants"][0]["stock"] == 8


@pytest.mark.parametrize("stock", ["4", ""])
def test_a_new_product_that_was_ordered_stays_even_if_the_order_was_cancelled(
    jobs: JobDesk, stock: str
) -> None:
    job = imported(jobs, f"slug,name,price,stock\nhat,Hat,5.00,{stock}\n")
    cancel(jobs, sold(jobs, the_hat(jobs), 1))
    assert jobs.counted(jobs.undone(job)) == {"unchanged": 1}


def test_a_new_product_whose_pieces_went_out_and_came_in_again_stays(jobs: JobDesk) -> None:
    job = imported(jobs, "slug,name,price,stock\nhat,Hat,5.00,4\n")
    moved(jobs, the_hat(jobs), by=3)
    moved(jobs, the_hat(jobs), by=-3)
    assert jobs.counted(jobs.undone(job)) == {"unchanged": 1}


def test_a_new_variant_that_was_sold_and_counted_again_stays(jobs: JobDesk) -> None:
    known = coat(jobs)
    job = imported(jobs, MEDIUM)
    medium = jobs.now(known)["variants"][1]
    order = sold(jobs, {**known, "variants": [medium]}, 6)
    moved(jobs, {**known, "variants": [medium]}, to=6)
    assert kept(jobs.undone(job)) == [f"variants.{medium['id']}"]
    cancel(jobs, order)
    assert jobs.now(known)["variants"][1]["stock"] == 12


def test_stock_that_began_to_be_counted_and_was_sold_since_is_still_counted(jobs: JobDesk) -> None:
    known = coat(jobs)
    job = imported(jobs, "slug,name,variant title,sku,stock\ncoat,Coat,S,A,6\n")
    order = sold(jobs, known, 6)
    moved(jobs, known, to=6)
    assert len(jobs.undone(job)["errors"]) == 1
    cancel(jobs, order)
    assert jobs.now(known)["variants"][0]["stock"] == 12


def test_a_variant_that_was_sold_can_be_removed_by_an_edit(jobs: JobDesk) -> None:
    known = coat(jobs, {"title": "S", "stock": 5}, {"title": "M", "stock": 5})
    sold(jobs, known, 1)
    put(jobs, known, variants=[{"id": known["variants"][1]["id"]}])
    assert len(jobs.now(known)["variants"]) == 1


# --- In any order ---------------------------------------------------------------------------------


@dataclass
class Hat:
    """A product with one variant. `pieces`: all of them, in stock and in orders that hold some;
    None: they are not counted."""

    id: int
    pieces: int | None
    held: int = 0
    moves: int = 0  # those that its stock counts
    touched: bool = False  # since it was created

    @property
    def stock(self) -> int | None:
        return None if self.pieces is None else self.pieces - self.held


@dataclass
class Change:
    """What a job did to a hat: from how many pieces in stock to how many; a creation or a deletion
    is from or to `GONE`."""

    hat: int
    before: int | None
    after: int | None
    moves: int = 0
    of: str | None = None  # an undo's: the job that it undid
    undone_by: str | None = None


GONE = -1


@dataclass
class Shelf:
    jobs: JobDesk
    chance: random.Random
    hats: dict[str, Hat] = field(default_factory=dict)
    made: dict[str, Any] = field(default_factory=dict)  # slug → as the API shows it
    orders: list[tuple[str, Any, int]] = field(default_factory=list)  # slug, order, pieces held
    changes: dict[str, dict[str, Change]] = field(default_factory=dict)  # job → slug → change
    numbers: Any = field(default_factory=lambda: iter(range(1000)))

    def step(self) -> None:
        kinds = [self.importing, self.importing, self.order, self.order, self.cancel]
        kinds += [self.move, self.edit, self.undo, self.undo, self.undo]
        self.chance.choice(kinds)()
        self.check()

    def importing(self) -> None:
        slugs = self.chance.sample(["hat-1", "hat-2", "hat-3"], 2)
        stocks = {slug: self.chance.choice([None, *range(4, 9)]) for slug in slugs}
        rows = "".join(f"{slug},{slug},5.00,{stocks[slug] or ''}\n" for slug in slugs)
        job = imported(self.jobs, f"slug,name,price,stock\n{rows}")
        assert job["status"] == "COMPLETED" and job["failed"] == 0, job
        changes = self.changes[job["id"]] = {}
        for slug, stock in stocks.items():
            hat = self.hats.get(slug)
            if hat is None:
                id = next(self.numbers)
                self.hats[slug] = Hat(id, stock)
                changes[slug] = Change(id, GONE, stock)
            elif stock is not None and stock != hat.stock:
                changes[slug] = Change(hat.id, hat.stock, stock, hat.moves)
                hat.pieces, hat.touched = stock + hat.held, True
        self.see()

    def see(self) -> None:
        self.made = {each["slug"]: each for each in self.jobs.shop.get(PRODUCTS).json["data"]}

    def some(self) -> str | None:
        return self.chance.choice(sorted(self.hats)) if self.hats else None

    def order(self) -> None:
        if (slug := self.some()) is None:
            return
        hat, pieces = self.hats[slug], self.chance.randint(1, 4)
        if hat.stock is not None and hat.stock < pieces:
            return
        order = sold(self.jobs, self.made[slug], pieces)
        took = pieces if hat.stock is not None else 0
        hat.moves += 1 if took or not hat.moves else 0
        hat.held += took
        hat.touched = True
        self.orders.append((slug, order, took))

    def cancel(self) -> None:
        if self.orders:
            slug, order, took = self.orders.pop(self.chance.randrange(len(self.orders)))
            cancel(self.jobs, order)
            self.hats[slug].held -= took

    def move(self) -> None:
        slug = self.some()
        if slug is None or self.hats[slug].stock is None:
            return
        hat = self.hats[slug]
        to = self.chance.randint(0, 9)
        moved(self.jobs, self.made[slug], to=to)
        if to != hat.stock:
            hat.pieces, hat.touched, hat.moves = to + hat.held, True, hat.moves + 1

    def edit(self) -> None:
        if slug := self.some():
            put(self.jobs, self.made[slug], vendor=str(self.chance.random()))
            self.hats[slug].touched = True

    def undo(self) -> None:
        if not self.changes:
            return
        undone = self.chance.choice(sorted(self.changes))
        job = self.jobs.undone({"id": undone})["id"]
        made = self.changes[job] = {}
        for slug, change in self.changes[undone].items():
            first = self.changes[change.of][slug] if change.of else None
            # An undo of an undo of an undo leaves the first one as undone as it was.
            if change.undone_by or (first and first.undone_by != undone):
                continue
            if reverse := self.reversed(slug, self.hats.get(slug), change):
                made[slug] = reverse
                reverse.of = undone
                change.undone_by = job
                if first:
                    first.undone_by = None
        self.see()

    def reversed(self, slug: str, hat: Hat | None, change: Change) -> Change | None:
        """The change that takes this one back, which the shelf then has; None if it stays."""
        if change.after == GONE:
            if hat is not None:
                return None
            self.hats[slug] = Hat(change.hat, change.before)
            return Change(change.hat, GONE, change.before)
        if hat is None or hat.id != change.hat or (change.before == GONE and hat.touched):
            return None
        was = Change(hat.id, hat.stock, None, hat.moves)
        if change.before == GONE:
            del self.hats[slug]
            was.after = GONE
            return was
        if change.before is None or change.after is None:
            if hat.stock != change.after or hat.moves != change.moves:
                return None
            back = change.before
        elif hat.stock is None or hat.stock + change.before - change.after < 0:
            return None
        else:
            back = hat.stock + change.before - change.after
        hat.pieces, hat.touched = None if back is None else back + hat.held, True
        was.after = back
        return was

    def check(self) -> None:
        self.see()
        assert self.made.keys() == self.hats.keys()
        for slug, hat in self.hats.items():
            assert self.made[slug]["variants"][0]["stock"] == hat.stock, slug


@pytest.mark.parametrize("seed", range(16))
def test_no_piece_is_lost_in_any_order_of_events(jobs: JobDesk, seed: int) -> None:
    shelf = Shelf(jobs, random.Random(seed))
    for _ in range(40):
        shelf.step()
    for slug, order, took in shelf.orders:
        cancel(jobs, order)
        shelf.hats[slug].held -= took
    shelf.check()
