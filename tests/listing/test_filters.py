"""Every filter and order, alone and combined, gives the same as a simple filter and sort."""

import random
from dataclasses import replace
from itertools import product

import pytest

from chalicelib import listing
from chalicelib.listing import positions
from chalicelib.problems import Invalid
from chalicelib.values.ids import key_part
from tests.listing import things
from tests.listing.things import KIND, Thing, create, names, page, thing
from tests.support.dynamodb_double import Double

STATUSES = ["ACTIVE", "DRAFT", "ARCHIVED"]
TYPES = ["", "shirt", "a#b", "a/b|c", "シャツ", "x" * 300]
FACETS = ["status", "published", "type", "vendor", "owner"]
STOREFRONTS = ["", "eu", "us"]


@pytest.fixture
def stock(dynamodb: Double) -> list[Thing]:
    """One of each kind, newest first."""
    made = [
        thing("one", status=status, published=live, storefront=front, type=kind)
        for status, live, front, kind in product(STATUSES, ["yes", "no"], STOREFRONTS, TYPES)
    ]
    create(*made)
    return sorted(made, key=lambda one: one.position, reverse=True)


@pytest.mark.thorough
@pytest.mark.parametrize("few", [0, 300], ids=["read in order", "read and sorted"])
def test_filters_combine_with_orders_tags_ranges_searches_pages_and_cursors(
    dynamodb: Double, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    monkeypatch.setattr(positions, "_FEW", few)
    chance = random.Random(7)
    values = {"status": ["ACTIVE", "DRAFT"], "published": ["yes", "no"]} | {
        "type": ["", "hat", "a#b/c|d"],
        "vendor": ["acme", "bolt"],
        "owner": ["", "ann", "bob"],
        "tag": ["new", "sale", "eco"],
    }
    made = [
        replace(
            thing(
                f"{chance.choice('ÄabZéñ')}{n:02d} {chance.choice(['red', 'blue'])}",
                **{f: chance.choice(["", *values[f]][-3:]) for f in FACETS},
            ),
            tags=tuple(chance.sample(values["tag"], chance.randrange(4))),
        )
        for n in range(40)
    ]
    create(*made)
    ranges = [listing.Range(), listing.Range(made[4].sort), listing.Range(end=made[30].sort)]
    ranges.append(listing.Range(made[3].sort, made[35].sort))
    for _ in range(80):
        facets = chance.sample(sorted(values), chance.randrange(4))
        where = {
            f: frozenset(chance.sample(values[f], chance.randint(1, len(values[f]))))
            for f in facets
        }
        ranged, forward = chance.choice(ranges), chance.random() < 0.5
        search, order = chance.choice(["", "", "red"]), chance.choice(["", "name"])
        options = {"search": search, "between": ranged, "forward": forward, "order": order}
        options["limit"] = 5
        expected = [
            one.id
            for one in sorted(
                made,
                key=lambda one: one.index.orders["name"] if order else one.position,
                reverse=not forward,
            )
            if things.passes(where)(one) and ranged.holds(one.sort) and search in one.name
        ]
        asked = (where, options)
        first, second = page(where, **options), page(where, page=2, **options)
        assert [one.id for one in first.records] == expected[:5], asked
        assert [one.id for one in second.records] == expected[5:10], asked
        assert (first.total, first.at_least, first.page) == (len(expected), False, 1), asked
        assert (second.total, second.at_least, second.page) == (len(expected), False, 2), asked
        walked, cursor = list[str](), first.next
        while cursor:
            some = page(where, cursor=cursor, **options)
            walked, cursor = walked + [one.id for one in some.records], some.next
        assert walked == expected[5:], asked


def test_empty_and_unknown_values_match_nothing(stock: list[Thing]) -> None:
    assert page({"status": []}).total == 0
    assert page({"status": ["GONE"]}).total == 0
    assert page({"type": ["%"]}).total == 0
    assert page({"type": ["type=", "shirt#0", "*"]}).records == []


def test_a_filter_accepts_at_most_100_values(stock: list[Thing]) -> None:
    hundred = [*TYPES, *(f"t{n}" for n in range(94))]
    assert page({"type": hundred}).total == len(stock)
    with pytest.raises(Invalid) as refused:
        page({"type": [*hundred, "one more"]})
    assert refused.value.extra["errors"][0]["field"] == "type"


def test_values_of_any_length_and_alphabet_fit_a_key_and_differ(dynamodb: Double) -> None:
    odd = ["é" * 255, "é" * 254 + "x", "🙂" * 255, "\x00", "#", "/", "|", "%23", "~", " "]
    create(*(thing(str(at), type=value, storefront=value[:100]) for at, value in enumerate(odd)))
    for at, value in enumerate(odd):
        assert names(page({"type": [value]})) == [str(at)]
        assert names(page({"type": [value], "storefront": [value[:100]]})) == [str(at)]


def test_a_value_like_the_hashed_key_of_a_long_one_is_distinct(dynamodb: Double) -> None:
    long = "x" * 255
    create(thing("long", type=long), thing("spelled", type=key_part(long)))
    assert names(page({"type": [long]})) == ["long"]
    assert names(page({"type": [key_part(long)]})) == ["spelled"]


def test_the_key_of_a_long_tag_is_hashed() -> None:
    short, long = "x" * 39, "x" * 40
    hashed = "xxxxxxx~bd913ff68243d41b9611b2690dfbf2b0"
    of_both = listing.Index.build(sort="1", facets={}, several=[short, long])
    assert of_both.several == (short, hashed)


def test_names_of_any_length_and_alphabet_can_be_stored_and_found(dynamodb: Double) -> None:
    odd = ["\x00a", "🙂" * 5_000, "c" * 10_000, "# / | %", "東京" * 5_000, "d\u0000e"]
    create(*map(thing, odd))
    for search in ["a", "🙂", "c" * 10_000, "#", "|", "%", "東京", "京東", "d e"]:
        assert page(search=search).total == 1, search


@pytest.mark.thorough
def test_a_filter_with_only_distant_matches_takes_few_calls(dynamodb: Double) -> None:
    create(*(thing(f"old {n}", status="DRAFT", published="no") for n in range(400)))
    create(*(thing("new", status="DRAFT") for _ in range(400)))
    create(*(thing("new", published="no") for _ in range(400)))
    with dynamodb.metered() as calls:
        found = page({"status": ["DRAFT"], "published": ["no"]}, limit=3)
    assert (names(found), found.total) == (["old 399", "old 398", "old 397"], 400)
    assert len(calls) <= 12


@pytest.mark.parametrize(
    ("where", "trips"),
    [
        ({}, 1),
        ({"published": ["yes"]}, 1),
        ({"published": ["yes"], "status": ["ACTIVE"]}, 1),
        ({"type": ["shirt"]}, 1),
        ({"type": ["shirt"], "status": ["ACTIVE"]}, 2),
    ],
)
def test_a_page_takes_one_round_trip_and_two_if_lists_are_compared(
    stock: list[Thing], rounds: list[int], where: dict[str, list[str]], trips: int
) -> None:
    rounds.clear()
    assert page(where, limit=2).records
    assert len(rounds) == trips


def test_a_page_takes_as_many_round_trips_during_reindexing(
    dynamodb: Double, rounds: list[int]
) -> None:
    create(*(thing(status="ACTIVE") for _ in range(5)))
    rounds.clear()
    usual = page({"status": ["ACTIVE"]})
    before = rounds.copy()
    rounds.clear()
    assert page({"status": ["ACTIVE"]}, kind=replace(KIND, since={"vendor": 2})) == usual
    assert rounds == before


def test_an_uncounted_long_list_is_not_read_as_a_short_one(
    dynamodb: Double, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(positions, "_PROBE", 2)
    monkeypatch.setattr("tests.support.dynamodb_double.ANSWER_BYTES", 2_000)
    create(*(replace(thing(status="ACTIVE"), tags=("new",)) for _ in range(60)))
    drafts = [thing(status="DRAFT") for _ in range(60)]
    create(*drafts[1:], replace(drafts[0], tags=("new",)))
    queries = dynamodb.asked("Query")
    assert page({"tag": ["new"], "status": ["DRAFT"]}).total == 1
    reads = [query for query in queries if "Limit" in query and "Select" not in query]
    read = {query["ExpressionAttributeValues"][":0"]["S"] for query in reads}
    assert read == {f"list#thing#status=DRAFT#{shard}of2" for shard in range(2)}


def test_sorting_by_name_ignores_case_and_accents(dynamodb: Double) -> None:
    names = ["", "#1 mug", "apple", "Apple 2", "apple pie", "apple!", 'apple"', "apple-pie"]
    names += ["Éclair", "École", "zebra"]
    create(*map(thing, reversed(names)))
    found = page(order="name", forward=True).records
    assert [one.name for one in found] == names
