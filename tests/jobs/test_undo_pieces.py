"""An undo loses no piece of stock, and deletes nothing that was sold, moved or ordered."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import pytest

from tests.jobs.test_bulk_edits import EDIT
from tests.jobs.test_undo import kept, put, sold
from tests.jobs.test_undo_imports import MEDIUM, coat, imported
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


def test_a_new_variant_that_was_sold_and_counted_again_stays(jobs: JobDesk) -> None:
    known = coat(jobs)
    job = imported(jobs, MEDIUM)
    medium = jobs.now(known)["variants"][1]
    order = sold(jobs, {**known, "variants": [medium]}, 6)
    moved(jobs, {**known, "variants": [medium]}, to=6)
    assert kept(jobs.undone(job)) == [f"variants.{medium['id']}"]
    cancel(jobs, order)
    assert jobs.now(known)["variants"][1]["stock"] == 12


def test_a_variant_that_was_sold_can_be_removed_by_an_edit(jobs: JobDesk) -> None:
    known = coat(jobs, {"title": "S", "stock": 5}, {"title": "M", "stock": 5})
    sold(jobs, known, 1)
    put(jobs, known, variants=[{"id": known["variants"][1]["id"]}])
    assert len(jobs.now(known)["variants"]) == 1


# --- In any order ---------------------------------------------------------------------------------


@dataclass(eq=False)
class Hat:
    """A product with one variant, as it has to be. `stock` None: it is not counted."""

    stock: int | None
    fields: dict[str, str | None]
    moves: int = 0  # those that its stock counts
    touched: bool = False  # since it was created


@dataclass
class Change:
    """What a job did to a hat: from how many pieces to how many, and its fields; a creation or a
    deletion is from or to `GONE`."""

    hat: Hat
    before: int | None
    after: int | None
    fields: dict[str, tuple[str | None, str | None]] = field(default_factory=dict)
    moves: int = 0
    of: str | None = None  # an undo's: the job that it undid
    undone_by: str | None = None


GONE = -1


@dataclass
class Shelf:
    jobs: JobDesk
    chance: random.Random
    hats: dict[str, Hat] = field(default_factory=dict)
    shown: dict[str, Any] = field(default_factory=dict)  # slug → as the API shows it
    orders: list[tuple[Hat, Any, int]] = field(default_factory=list)  # and the pieces it took
    changes: dict[str, dict[str, Change]] = field(default_factory=dict)  # job → slug → change
    numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def step(self) -> None:
        kinds = [self.importing, self.importing, self.bulk, self.order, self.order, self.cancel]
        kinds += [self.move, self.edit, self.undo, self.undo, self.undo]
        self.chance.choice(kinds)()
        self.check()

    def news(self) -> dict[str, str | None]:
        number = next(self.numbers)
        return {"vendor": f"V{number}", "price": f"{number}.00"}

    def done(self, job_id: str) -> Any:
        """The job after its end; its worker may crash."""
        if self.chance.random() < 0.4:
            nth, after = self.chance.randint(1, 6), self.chance.random() < 0.5
            self.jobs.crash("TransactWriteItems", nth, after=after, perhaps=True)
        job = self.jobs.finished(job_id)
        self.jobs.dynamodb.faults = lambda operation, request: None
        assert job["status"] == "COMPLETED", job
        return job

    def importing(self) -> None:
        slugs = self.chance.sample(["hat-1", "hat-2", "hat-3", "hat-4"], 2)
        stocks = {slug: self.chance.choice([None, None, None, 4, 6, 8]) for slug in slugs}
        fields = self.chance.choice([self.news(), {"price": "5.00"}])
        same = f"{fields.get('vendor', '')},{fields['price']}"
        rows = "".join(f"{slug},{slug},{same},{stock or ''}\n" for slug, stock in stocks.items())
        job = imported(self.jobs, f"slug,name,vendor,price,stock\n{rows}")
        assert job["status"] == "COMPLETED" and job["failed"] == 0, job
        changes = self.changes[job["id"]] = {}
        for slug, stock in stocks.items():
            hat = self.hats.get(slug)
            if hat is None:
                hat = self.hats[slug] = Hat(stock, {"vendor": None, **fields})
                changes[slug] = Change(hat, GONE, stock)
            elif change := write(hat, hat.stock if stock is None else stock, fields):
                changes[slug] = change

    def bulk(self) -> None:
        slugs = self.chance.sample(sorted(self.hats), min(2, len(self.hats)))
        if not slugs:
            return
        fields = self.news()
        change = {"vendor": fields["vendor"], "price": {"set": fields["price"]}}
        asked = {"ids": [self.shown[slug]["id"] for slug in slugs], "change": change}
        job = self.done(self.jobs.start(EDIT, asked))
        assert self.jobs.counted(job) == {"updated": len(slugs)}
        hats = {slug: self.hats[slug] for slug in slugs}
        written = {slug: write(hat, hat.stock, fields) for slug, hat in hats.items()}
        self.changes[job["id"]] = {slug: made for slug, made in written.items() if made}

    def one(self) -> tuple[Any, Hat | None]:
        """A product and its hat."""
        slug = self.chance.choice([*sorted(self.hats), ""])
        return self.shown.get(slug), self.hats.get(slug)

    def order(self) -> None:
        product, hat = self.one()
        pieces = self.chance.randint(1, 4)
        if hat is None or (hat.stock is not None and hat.stock < pieces):
            return
        order = sold(self.jobs, product, pieces)
        took = pieces if hat.stock is not None else 0
        if hat.stock is not None:
            hat.stock -= took
        hat.moves += 1 if took or not hat.moves else 0
        hat.touched = True
        self.orders.append((hat, order, took))

    def cancel(self) -> None:
        if not self.orders:
            return
        hat, order, took = self.orders.pop(self.chance.randrange(len(self.orders)))
        cancel(self.jobs, order)
        if hat.stock is not None:
            hat.stock += took

    def move(self) -> None:
        product, hat = self.one()
        if hat is None or hat.stock is None:
            return
        to = self.chance.randint(0, 9)
        moved(self.jobs, product, to=to)
        if to != hat.stock:
            hat.stock, hat.touched, hat.moves = to, True, hat.moves + 1

    def edit(self) -> None:
        product, hat = self.one()
        name, value = self.chance.choice([*self.news().items()])
        if hat is not None:
            put(self.jobs, product, **{name: value})
            write(hat, hat.stock, {name: value})

    def undo(self) -> None:
        if not self.changes:
            return
        undone = self.chance.choice(sorted(self.changes)[self.chance.choice([0, -3]) :])
        done = self.done(self.jobs.undoing({"id": undone}))
        job = done["id"]
        made = self.changes[job] = {}
        for slug, change in self.changes[undone].items():
            first = self.changes[change.of][slug] if change.of else None
            # An undo of an undo of an undo leaves the first one as undone as it was.
            if change.undone_by or (first and first.undone_by != undone):
                continue
            if reverse := self.reversed(slug, change):
                made[slug] = reverse
                reverse.of = undone
                change.undone_by = job
                if first:
                    first.undone_by = None
        assert done["created"] + done["updated"] + done["deleted"] == len(made)
        assert {error["code"] for error in done["errors"]} <= {"changed_since", "slug_taken"}

    def reversed(self, slug: str, change: Change) -> Change | None:
        """The change that takes this one back, which the shelf then has; None if all stays."""
        there, hat = self.hats.get(slug), change.hat
        if change.after == GONE:
            if there is None:
                self.hats[slug] = hat
            return None if there else Change(hat, GONE, hat.stock)
        if there is not hat or (change.before == GONE and hat.touched):
            return None
        if change.before == GONE:
            return Change(self.hats.pop(slug), hat.stock, GONE)
        pairs = change.fields.items()
        back = {name: was for name, (was, became) in pairs if hat.fields[name] == became}
        return write(hat, stock_before(hat, change), back)

    def check(self) -> None:
        listed = self.jobs.shop.get(PRODUCTS).json["data"]
        self.shown = {each["slug"]: each for each in listed}
        assert self.shown.keys() == self.hats.keys()
        for slug, hat in self.hats.items():
            shown = self.shown[slug]
            assert shown["variants"][0]["stock"] == hat.stock, slug
            assert {name: shown[name] for name in hat.fields} == hat.fields, slug


def write(hat: Hat, stock: int | None, fields: dict[str, str | None]) -> Change | None:
    """Gives the hat these values; the change, if there is any."""
    pairs = {name: (hat.fields[name], value) for name, value in fields.items()}
    changed = {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}
    if stock == hat.stock and not changed:
        return None
    change = Change(hat, hat.stock, stock, changed, hat.moves)
    hat.stock, hat.touched = stock, True
    hat.fields |= fields
    return change


def stock_before(hat: Hat, change: Change) -> int | None:
    """The stock without the change's difference; as it is, if it does not allow that."""
    if change.before is None or change.after is None:
        is_same = hat.stock == change.after and hat.moves == change.moves
        return change.before if is_same else hat.stock
    left = None if hat.stock is None else hat.stock + change.before - change.after
    return hat.stock if left is None or left < 0 else left


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(16))
def test_an_undo_reverts_only_its_job_and_loses_no_piece_in_any_order_of_events(
    jobs: JobDesk, seed: int
) -> None:
    shelf = Shelf(jobs, random.Random(seed))
    for _ in range(40):
        shelf.step()
    while shelf.orders:
        shelf.cancel()
    shelf.check()
