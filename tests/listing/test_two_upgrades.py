"""A shop is upgraded twice, each time to a kind with more facets and lists, and rolled back.

Functions of two releases write at the same time. Until all records are reindexed, a new filter is
503, never a wrong answer. After it, and after a roll back, every list, order, total and cell is
that of a simple model, and no entry is left over.
"""

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

import pytest

from chalicelib import listing, settings
from chalicelib.listing import entries
from chalicelib.listing.upgrades import Reindexing
from infra import release as deployment
from tests.listing import things
from tests.listing.things import FACETS, RECORDS, Thing, thing
from tests.support.dynamodb_double import Crash, Double, Fault
from tests.support.reindexing import reindex

pytestmark = pytest.mark.thorough

FIRST: Final = things.KIND
SECOND: Final = replace(
    FIRST,
    under=(*FIRST.under, "brand"),
    listed=(*FIRST.listed, "color", "brand"),
    combined={**FIRST.combined, "red": {"status": "ACTIVE", "color": "red"}},
    since={"color": 2, "brand": 2, "red": 2},
)
THIRD: Final = replace(
    SECOND,
    listed=(*SECOND.listed, "size"),
    orders=(*SECOND.orders, "size"),
    since={**SECOND.since, "size": 3, "*size": 3},
)
NEW: Final = {"color": ["red", "blue"], "brand": ["acme", "bolt"], "size": ["s", "m", "l"]}


@dataclass(frozen=True)
class Release:
    """The code with one of the kinds. It ignores facets that it does not know."""

    kind: listing.Kind

    @property
    def facets(self) -> list[str]:
        return [*FACETS, *(facet for facet in NEW if facet in self.kind.listed)]

    def index(self, one: Thing) -> listing.Index:
        orders = {"name": one.name, "size": one.facets["size"]}
        return listing.Index.build(
            sort=one.sort,
            facets={facet: one.facets[facet] for facet in self.facets},
            several=one.tags,
            orders={name: orders[name] for name in self.kind.orders},
            texts=one.texts,
        )

    @property
    def records(self) -> listing.Records:
        read = RECORDS.read
        return listing.Records(self.kind, RECORDS.key, lambda item: self.index(read(item)), read)

    def writes(self, before: Thing | None, after: Thing | None) -> Any:
        with pytest.MonkeyPatch.context() as code:
            code.setattr(things, "indexed", self.index)
            return things.writes(before, after, self.kind)

    def page(self, where: Any = None, **options: Any) -> listing.Page[Thing]:
        return things.page(where, kind=self.kind, **options)

    def reindex(self) -> None:
        reindex(self.records)

    def deploy(self) -> None:
        with pytest.MonkeyPatch.context() as code:
            code.setattr(deployment, "_KINDS", [self.kind])
            deployment.lower_numbers("prod")


FIRST_RELEASE, SECOND_RELEASE, THIRD_RELEASE = map(Release, (FIRST, SECOND, THIRD))


class Model:
    """What every release should show."""

    def __init__(self, dynamodb: Double) -> None:
        self.dynamodb, self.chance = dynamodb, random.Random(5)
        self.things: dict[str, Thing] = {}

    def made(self) -> Thing:
        chance = self.chance
        facets = {"status": ["ACTIVE", "DRAFT"], "type": ["hat", "mug", ""], **NEW}
        one = thing(
            f"shirt {chance.randrange(99)}", **{f: chance.choice(of) for f, of in facets.items()}
        )
        return replace(one, tags=tuple(chance.sample(["new", "sale"], chance.randrange(3))))

    def write(self, release: Release, times: int = 1) -> None:
        """Creates, changes or deletes one."""
        for _ in range(times):
            kind = self.chance.choice(["create", "create", "change", "change", "delete"])
            if kind == "create" or len(self.things) < 5:
                new = self.made()
                release.writes(None, new).send()
                self.things[new.id] = new
                continue
            id = self.chance.choice(sorted(self.things))
            before = things.find(id)
            assert before
            after = None
            if kind == "change":
                some = self.made()
                after = replace(before, facets=some.facets, tags=some.tags, texts=some.texts)
            release.writes(before, after).send()
            self.things.pop(id)
            if after:
                self.things[id] = after

    def agrees(self, release: Release) -> None:
        """Every filter and order of a release, every cell, and every stored entry."""
        self.has_only_its_entries(release)
        every = sorted(self.things.values(), key=lambda one: one.position, reverse=True)
        values = {"status": ["ACTIVE", "DRAFT"], "type": ["hat", "mug"], **NEW}
        values = {facet: of for facet, of in values.items() if facet in release.facets}
        wheres: list[dict[str, list[str]]] = [{}, {"tag": ["new"]}]
        wheres += [{facet: [value]} for facet, of in values.items() for value in of]
        wheres += [{"status": ["ACTIVE"], facet: [of[0]]} for facet, of in values.items()]
        for where in wheres:
            passes = things.passes({facet: frozenset(of) for facet, of in where.items()})
            expected = [one for one in every if passes(one)]
            found = release.page(where)
            assert [one.id for one in found.records] == [one.id for one in expected], where
            assert found.total == len(expected), where
            for order in release.kind.orders:
                ordered = release.page(where, order=order).records
                assert {one.id for one in ordered} == {one.id for one in expected}, (where, order)
        assert listing.recount(release.kind) == listing.Recount(len(every), [])

    def has_only_its_entries(self, release: Release) -> None:
        expected, counted = set(), Counter[Any]()
        for id in self.things:
            one = things.find(id)
            assert one and one.stored_index
            expected |= entries.entries_of(release.kind, id, one.stored_index)
            counted.update(entries.count_cells(release.kind, one.stored_index))
        found, cells = set(), Counter[Any]()
        for item in self.dynamodb.items(settings.table()):
            key = pk, sk = item["pk"]["S"], item["sk"]["S"]
            if pk.startswith("count#"):
                cells[pk, sk.rsplit("#", 1)[0]] += int(item["n"]["N"])
            elif pk.startswith(("list#", "word#")):
                found.add(key)
        assert found == expected
        assert {cell: n for cell, n in cells.items() if n} == counted


@pytest.fixture
def model(dynamodb: Double) -> Iterator[Model]:
    made = Model(dynamodb)
    made.write(FIRST_RELEASE, 60)
    yield made


def waits(release: Release, *asked: dict[str, Any]) -> None:
    for options in asked:
        with pytest.raises(Reindexing):
            release.page(**options)


COLOR, SIZE = {"where": {"color": ["red"]}}, {"where": {"size": ["s"]}}
BRAND = {"where": {"brand": ["acme"], "status": ["ACTIVE"]}, "search": "shirt"}


def test_new_filters_wait_for_the_reindexing_of_their_own_upgrade(model: Model) -> None:
    first, second, third = FIRST_RELEASE, SECOND_RELEASE, THIRD_RELEASE
    model.agrees(first)
    waits(second, COLOR, BRAND)
    assert second.page({"status": ["ACTIVE"]}).total == first.page({"status": ["ACTIVE"]}).total
    second.reindex()
    model.agrees(second)

    waits(third, SIZE, {"order": "size"})
    assert third.page({"color": ["red"]}).total == second.page({"color": ["red"]}).total
    third.reindex()
    model.agrees(third)
    third.reindex()
    model.agrees(third)


def test_an_upgrade_that_skips_a_reindexing_waits_for_both(model: Model) -> None:
    model.write(SECOND_RELEASE, 20)
    waits(THIRD_RELEASE, COLOR, BRAND, SIZE)
    THIRD_RELEASE.reindex()
    model.agrees(THIRD_RELEASE)


def test_functions_of_two_releases_write_during_each_step(model: Model) -> None:
    before = FIRST_RELEASE
    model.write(before, 120)
    for release in (SECOND_RELEASE, THIRD_RELEASE):
        for _ in range(20):
            model.write(model.chance.choice([before, release]))
        model.has_only_its_entries(release)
        calls = 0

        def meanwhile(
            operation: str, request: Any, old: Release = before, new: Release = release
        ) -> None:
            nonlocal calls
            calls += 1
            if calls % 5 == 0 and calls < 400:
                model.dynamodb.faults = lambda operation, request: None
                model.write(model.chance.choice([old, new]))
                model.dynamodb.faults = meanwhile

        model.dynamodb.faults = meanwhile
        release.reindex()
        model.dynamodb.faults = lambda operation, request: None
        assert calls > 25, "wrote five times"
        release.reindex()  # for what the old code wrote at the end
        model.agrees(release)
        before = release


@pytest.mark.parametrize("fault", [Fault.CRASH, Fault.CRASH_AFTER])
def test_an_upgrade_that_crashes_anywhere_is_run_again(model: Model, fault: Fault) -> None:
    for release in (SECOND_RELEASE, THIRD_RELEASE):
        at, ended = 3, False
        while not ended:
            calls = iter(range(1_000_000))
            model.dynamodb.faults = lambda operation, request, calls=calls, at=at: (  # type: ignore[misc]
                fault if next(calls) == at else None
            )
            try:
                release.reindex()
                ended = True
            except Crash:
                model.dynamodb.faults = lambda operation, request: None
                model.has_only_its_entries(release)
                for where in ({"color": ["red"]}, {"size": ["s"]}):
                    passes = things.passes({f: frozenset(of) for f, of in where.items()})
                    if where.keys() <= set(release.facets):
                        try:
                            total = release.page(where).total
                        except Reindexing:
                            continue
                        assert total == sum(map(passes, model.things.values()))
            at += 3
        model.dynamodb.faults = lambda operation, request: None
        model.agrees(release)


@pytest.mark.parametrize("ended", [False, True])
def test_the_code_before_works_on_what_the_next_release_wrote(
    model: Model, ended: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second, third = FIRST_RELEASE, SECOND_RELEASE, THIRD_RELEASE
    second.reindex()
    model.write(third, 20)
    if ended:
        third.reindex()
    second.deploy()
    assert ("has indexed more" in capsys.readouterr().out) is ended
    model.agrees(second)
    model.write(second, 30)
    model.agrees(second)
    first.deploy()
    model.write(first, 10)
    model.agrees(first)
    listing.repair([listing.Wrong((first.kind.count_pk(), "1|DRAFT|yes|"), 0, 2)])
    with pytest.raises(AssertionError):
        model.agrees(first)
    listing.repair(listing.recount(first.kind).wrong)

    third.deploy()
    waits(third, SIZE, COLOR)
    third.reindex()
    model.agrees(third)
    assert first.page().total == len(model.things)
