"""After every successful write, every list, search and total agrees with a simple model.

Writers have stale versions, conflicts, throttling, lost requests, lost replies and crashes. The
default number of steps is small; `LISTING_STEPS=20000` runs that many (docs/listing.md has the
result of the last long run).
"""

import base64
import contextlib
import json
import os
from dataclasses import replace
from itertools import count
from typing import Any
from unittest.mock import patch

import pytest
from botocore.exceptions import BotoCoreError, ClientError
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from chalicelib import listing
from chalicelib.listing import entries, positions, search, words
from chalicelib.problems import Busy, Invalid
from chalicelib.storage import table
from chalicelib.storage.commit import Commit
from tests.listing import things
from tests.listing.things import Thing
from tests.support.dynamodb_double import Crash, Double, Fault
from tests.support.environment import SETTINGS

pytestmark = pytest.mark.thorough

STEPS = int(os.environ.get("LISTING_STEPS", "500"))
STEPS_A_RUN = 40
KIND = replace(things.KIND, since={"live": 2, "hidden": 2})
BEFORE = replace(things.KIND, combined={})
RECORDS = replace(things.RECORDS, kind=KIND)
MOST_WRITES = 30  # while a list is read
FEW_MATCHES = 4  # instead of 10,000, so that terms are narrow, broad and too broad

VALUES = {
    "status": ["ACTIVE", "DRAFT", "ARCHIVED"],
    "published": ["yes", "no"],
    "storefront": ["", "eu", "us|#1"],
    "type": ["", "shirt", "a#b/c|d", "シャツ", "x" * 400],
    "vendor": ["", "Acme", "2"],
    "owner": ["", "ann", "b#b"],
}
ASKED = {**VALUES, "vendor": ["Acme", "2"], "owner": ["ann", "b#b"]}
TAGS = ["new", "a#b", "シャツ", "x" * 90, *(f"t{n}" for n in range(9))]
MANY = tuple(f"word{n:02d}" for n in range(40))
TEXTS = [
    "T-Shirt blau",
    "TSH-BLU-01",
    "tsh-blu-02 Étoile",
    "青いシャツ",
    "order 20417",
    "20999-417",
    "#1 50% a/b|c",
    "🙂🙃 smile",
    "ΣΊΣΥΦΟΣ",
    "قَلَم",
    "b bl blu blue",
    "x" * 90,
]
TERMS = ["b", "blu", "t", "shirt", "tsh-blu", "01", "417", "シャツ", "青", "#1", "50%", "🙃", "2"]
TERMS += ["word", "word1", "word07", "word39", "07"]
TERMS += ["etoile", "σισυφος", "قلم", "c", "a/", "x" * 90, "zzz", "smile", "1", "É"]

faults = st.lists(
    st.tuples(st.integers(0, 4), st.sampled_from(Fault)), max_size=2, unique_by=lambda f: f[0]
)
facets = st.fixed_dictionaries({name: st.sampled_from(of) for name, of in VALUES.items()})
texts = st.one_of(
    st.lists(st.sampled_from(TEXTS), max_size=3).map(tuple),
    st.tuples(st.sampled_from(TEXTS), st.integers(0, 30), st.integers(10, 40)).map(
        lambda drawn: (drawn[0], *MANY[drawn[1] : drawn[1] + drawn[2]])
    ),
)
tags = st.lists(st.sampled_from(TAGS), max_size=9, unique=True).map(tuple)
sorts = st.sampled_from(["2026-01", "2026-02", "2026-03"])
wheres = st.dictionaries(
    st.sampled_from(sorted([*VALUES, "tag"])), st.integers(1, 31), max_size=3
).map(
    lambda masks: {facet: _some(ASKED.get(facet, TAGS[:5]), mask) for facet, mask in masks.items()}
)
ranges = st.one_of(
    st.just(listing.Range()),
    st.builds(listing.Range, st.sampled_from(["", "2026-02"]), st.sampled_from(["", "2026-03"])),
)
searches = st.lists(st.sampled_from(TERMS), max_size=3).map(" ".join)
numbers = st.integers(1, 5)
queries = st.builds(
    listing.Query,
    where=wheres,
    search=searches,
    limit=st.integers(1, 4),
    between=ranges,
    order=st.sampled_from(["", "", "name"]),
    forward=st.booleans(),
)


def _some(values: list[str], mask: int) -> frozenset[str]:
    return frozenset(value for at, value in enumerate(values) if mask >> at & 1) or frozenset(
        values[:1]
    )


class Shop(RuleBasedStateMachine):
    @initialize()
    def open(self) -> None:
        self.dynamodb = Double()
        self.patches = [
            patch.dict(os.environ, SETTINGS),
            patch("time.sleep"),
            patch.object(search, "MOST_MATCHES", FEW_MATCHES),
            patch.object(search, "ENTRIES_A_RECORD", 2),
            patch.object(positions, "_NEAR", 5),
            patch.object(positions, "_FEW", 3),
        ]
        for one in self.patches:
            one.start()
        self.dynamodb.__enter__()
        self.model: dict[str, Thing] = {}
        self.kind = KIND
        self.stale: list[tuple[Thing, Thing | None, Commit]] = []

    def teardown(self) -> None:
        if hasattr(self, "dynamodb"):
            self.dynamodb.__exit__()
            for one in self.patches:
                one.stop()

    # --- writes ---

    @rule(facets=facets, texts=texts, tags=tags, sort=sorts, faults=faults)
    def create(self, facets: Any, texts: Any, tags: Any, sort: str, faults: Any) -> None:
        one = replace(things.thing(sort=sort), facets=facets, texts=texts, tags=tags)
        self.send(one.id, things.writes(None, one, self.kind), one, faults)

    @rule(at=st.integers(0), facets=facets, texts=texts, tags=tags, sort=sorts, faults=faults)
    def update(
        self, *, at: int, facets: Any, texts: Any, tags: Any, sort: str, faults: Any
    ) -> None:
        for before in self.pick(at):
            after = replace(before, facets=facets, texts=texts, tags=tags, sort=sort)
            self.send(before.id, things.writes(before, after, self.kind), after, faults)

    @rule(at=st.integers(0), texts=texts, faults=faults)
    def rename(self, at: int, texts: Any, faults: Any) -> None:
        for before in self.pick(at):
            after = replace(before, texts=texts)
            self.send(before.id, things.writes(before, after, self.kind), after, faults)

    @rule(at=st.integers(0), faults=faults)
    def delete(self, at: int, faults: Any) -> None:
        for before in self.pick(at):
            self.send(before.id, things.writes(before, None, self.kind), None, faults)

    @rule(at=st.integers(0), facets=facets, texts=texts, gone=st.booleans())
    def read_to_write_later(self, at: int, facets: Any, texts: Any, gone: bool) -> None:
        """Another writer reads a version, to write later."""
        for before in self.pick(at):
            after = None if gone else replace(before, facets=facets, texts=texts)
            self.stale.append((before, after, things.writes(before, after, self.kind)))

    @rule(faults=faults)
    def write_late(self, faults: Any) -> None:
        if self.stale:
            before, after, commit = self.stale.pop()
            self.send(before.id, commit, after, faults, stale=before)

    @rule(texts=st.lists(texts, min_size=2, max_size=3), facets=facets, faults=faults)
    def create_together(self, texts: Any, facets: Any, faults: Any) -> None:
        joint, made = Commit(), []
        for one_texts in texts:
            one = replace(things.thing(sort="2026-02"), facets=facets, texts=one_texts)
            commit = things.writes(None, one, self.kind)
            if joint.has_room_for(commit):
                joint.join(commit)
                made.append(one)
        self.send(made[0].id, joint, made[0], faults, others=made[1:])

    def pick(self, at: int) -> list[Thing]:
        ids = sorted(self.model)
        return [self.model[ids[at % len(ids)]]] if ids else []

    def send(
        self,
        id: str,
        commit: Commit,
        after: Thing | None,
        faults: Any,
        *,
        stale: Thing | None = None,
        others: Any = (),
    ) -> None:
        before = self.model.get(id)
        outdated = stale is not None and (before is None or before.version != stale.version)
        self.plan(faults)
        try:
            commit.send()
        except table.ConditionFailed:
            assert outdated
        except (Crash, Busy, ClientError, BotoCoreError):
            # No answer: the record decides, and everything else has to agree with it.
            self.plan([])
            found = things.find(id)
            happened = found is None if after is None else bool(found and _same(found, after))
            if happened and not outdated:
                self.take(id, after, others)
        else:
            self.plan([])
            assert not outdated
            self.take(id, after, others)
        self.plan([])

    def take(self, id: str, after: Thing | None, others: Any) -> None:
        self.model.pop(id, None)
        for one in (after, *others):
            if one:
                stored = things.find(one.id)
                assert stored and _same(stored, one)
                self.model[one.id] = stored

    def plan(self, faults: list[tuple[int, Fault]]) -> None:
        """The nth calls from here fail."""
        left = dict(faults)
        calls = iter(range(1_000_000))
        self.dynamodb.faults = lambda operation, request: left.get(next(calls))

    @rule(kind=st.sampled_from([KIND, BEFORE]))
    def deploy(self, kind: listing.Kind) -> None:
        """The next writers are of this release."""
        self.kind = kind

    @rule(at=st.integers(0), faults=faults)
    def reindex(self, at: int, faults: Any) -> None:
        for one in self.pick(at):
            self.plan(faults)
            with contextlib.suppress(Crash, Busy, ClientError, BotoCoreError):
                listing.reindex(RECORDS, one.id)
            self.plan([])
            self.take(one.id, one, ())

    # --- reads ---

    @rule(query=queries, page=numbers, faults=faults)
    def read(self, query: listing.Query, page: int, faults: Any) -> None:
        self.plan(faults)
        with contextlib.suppress(Crash, Busy, ClientError, BotoCoreError):
            self.check(replace(query, page=page))
        self.plan([])

    @rule(query=queries)
    def walk(self, query: listing.Query) -> None:
        """All pages by cursor, and by number."""
        start: str | None = ""
        while start is not None:
            start = self.check(replace(query, cursor=start))
        for page in range(1, 9):
            self.check(replace(query, page=page))

    @rule(query=queries, at=st.integers(0), facets=facets, faults=faults)
    def walk_while_others_write(
        self, query: listing.Query, at: int, facets: Any, faults: Any
    ) -> None:
        """Lasting records are listed once. The writers stop at some time: otherwise pages towards
        the newest might never end."""
        staying, seen = {one.id for one in self.found(query)}, list[str]()
        start: str | None = ""
        for step in count():
            if start is None:
                break
            try:
                some = listing.read_page(KIND, replace(query, cursor=start), things.load)
            except Invalid:
                return
            seen += [one.id for one in some.records]
            start = some.next
            if step > MOST_WRITES:
                continue
            gone = [one.id for one in self.pick(at)]
            for one in self.pick(at):
                self.send(one.id, things.writes(one, None, self.kind), None, faults)
            staying -= set(gone)
            new = replace(things.thing(sort="2026-02"), facets=facets, texts=("T-Shirt",))
            self.send(new.id, things.writes(None, new, self.kind), new, faults)
        assert staying <= set(seen)
        assert len(seen) == len(set(seen))

    @rule(where=wheres)
    def count(self, where: Any) -> None:
        if where.keys() & {"owner", "tag"} or where.keys() >= {"type", "vendor"}:
            return  # counted where they are listed
        if "" in where.get("type", ()):
            return  # only values have cells
        total = sum(map(things.passes(where), self.model.values()))
        assert listing.count(KIND, where) == total

    def check(self, query: listing.Query) -> str | None:
        """Compares a page with the model; returns the cursor of the next page."""
        terms = words.search_terms(query.search)
        matching = self.matching(terms)
        broad = [term for term, found in matching.items() if len(found) > FEW_MATCHES]
        try:
            answer = listing.read_page(KIND, query, things.load)
        except Invalid as refused:
            assert refused.code == "search_too_broad"
            assert len(broad) == len(terms)
            return None
        found = self.found(query)
        if terms and len(broad) == len(terms):
            # Records that have the longest one as a separate word.
            assert answer.at_least
            assert {one.id for one in answer.records} <= {one.id for one in found}
            return None
        assert not answer.at_least
        if query.cursor:
            # Cursors are opaque to clients, but not to this test.
            whole = base64.urlsafe_b64decode(query.cursor + "=" * (-len(query.cursor) % 4))
            position, page = json.loads(whole.decode()[12:])
            behind = [one for one in found if self.is_behind(one, position, query)]
            expected, rest = behind[: query.limit], behind[query.limit :]
            assert answer.page == page
        else:
            begin = (query.page - 1) * query.limit
            expected, rest = found[begin:][: query.limit], found[begin + query.limit :]
        assert answer.total == len(found)
        assert [one.id for one in answer.records] == [one.id for one in expected]
        assert (answer.next is not None) == bool(rest)
        return answer.next

    def found(self, query: listing.Query) -> list[Thing]:
        """All of a list, in its order."""
        matching = self.matching(words.search_terms(query.search))
        return [
            one
            for one in sorted(
                self.model.values(),
                key=lambda one: self.position(one, query),
                reverse=not query.forward,
            )
            if things.passes(query.where)(one)
            and query.between.holds(one.sort)
            and all(one.id in ids for ids in matching.values())
        ]

    def position(self, one: Thing, query: listing.Query) -> str:
        return f"{one.index.orders['name']}#{one.id}" if query.order else one.position

    def is_behind(self, one: Thing, position: str, query: listing.Query) -> bool:
        own = self.position(one, query)
        return own > position if query.forward else own < position

    def matching(self, terms: list[str]) -> dict[str, set[str]]:
        return {
            term: {one.id for one in self.model.values() if things.has_word(one, term)}
            for term in terms
        }

    # --- always ---

    @invariant()
    def nothing_is_left_over_or_missing(self) -> None:
        if not hasattr(self, "dynamodb"):
            return
        expected = set()
        cells: dict[Any, int] = {}
        for one in self.model.values():
            expected |= entries.entries_of(KIND, one.id, one.index)
            for cell in KIND.cell_keys(one.index.facets):
                cells[cell] = cells.get(cell, 0) + 1
        found, counted = set(), dict[Any, int]()
        for item in self.dynamodb.items(SETTINGS["TABLE"]):
            pk, sk = item["pk"]["S"], item["sk"]["S"]
            if pk.startswith("count#"):
                cell = pk, sk.rsplit("#", 1)[0]
                counted[cell] = counted.get(cell, 0) + int(item["n"]["N"])
            # Leftovers of a failed write are allowed.
            elif pk.startswith(("list#", "word#")) and ("at" not in item or (pk, sk) in expected):
                found.add((pk, sk))
        assert found == expected
        assert {cell: n for cell, n in counted.items() if n} == cells


def _same(a: Thing, b: Thing) -> bool:
    return (a.facets, a.texts, a.tags, a.sort) == (b.facets, b.texts, b.tags, b.sort)


TestShop = Shop.TestCase
TestShop.settings = settings(
    max_examples=max(1, STEPS // STEPS_A_RUN),
    stateful_step_count=STEPS_A_RUN,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.generate] if "LISTING_STEPS" in os.environ else list(Phase)[:3],
)
