"""What a page reads: the lists with the fewest entries, and little more of them than it shows."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from chalicelib import listing
from chalicelib.listing import best, lists, search
from chalicelib.listing.lists import Lists
from chalicelib.listing.positions import Listing
from chalicelib.listing.upgrades import RELEASE, Reindexing
from chalicelib.problems import Invalid
from chalicelib.storage import table
from tests.listing.things import KIND, create, names, page, thing
from tests.support.dynamodb_double import Double

Read = tuple[str, int, bool]  # a list, the entries that a query asks for, and lowest first


class Reads(list[Read]):
    """The queries of lists, in both shards, since the last look; and how many counted."""

    counts = 0

    def note(self, operation: str, request: Any) -> None:
        if request.get("Select") == "COUNT":
            self.counts += 1
        elif operation == "Query":
            pk = request["ExpressionAttributeValues"][":0"]["S"]
            if pk.startswith("list#"):
                self.append((pk.split("#")[2], request["Limit"], request["ScanIndexForward"]))

    def taken(self) -> list[Read]:
        seen = sorted(self)
        self.clear()
        assert seen[::2] == seen[1::2]  # of two shards
        return seen[::2]

    def names(self) -> list[str]:
        return [name for name, _, _ in self.taken()]


@pytest.fixture
def reads(dynamodb: Double) -> Reads:
    seen = Reads()
    dynamodb.faults = seen.note
    return seen


def some(number: int, **facets: Any) -> None:
    tags = facets.pop("tags", ())
    create(*(replace(thing(f"red {n:03d}", **facets), tags=tags) for n in range(number)))


def test_a_shard_is_asked_for_its_part_with_room_for_an_uneven_hash(reads: Reads) -> None:
    some(5, status="DRAFT", storefront="eu")
    some(15, status="DRAFT", storefront="us")
    some(20)
    page(limit=20)
    assert reads.taken() == [("*", 22, False)]
    page({"status": ["DRAFT"]}, limit=20, forward=True)
    assert reads.taken() == [("status=DRAFT", 22, True)]
    # A quarter of the list matches.
    page({"status": ["DRAFT"], "storefront": ["eu", ""]}, limit=20)
    assert reads.taken() == [("status=DRAFT", 63, False)]
    # An unknown part of it.
    between = listing.Range("0")
    page({"status": ["DRAFT"], "storefront": ["eu", ""]}, limit=20, between=between)
    assert reads.taken() == [("status=DRAFT", 50, False)]
    page({"storefront": ["eu", ""]}, limit=20)
    assert reads.taken() == [("*", 50, False)]


def test_a_query_asks_for_at_most_what_one_answer_holds(dynamodb: Double) -> None:
    every: Any = Lists(KIND, ["*"], {}).first_queries(20_000, None, False)
    assert [call.request["Limit"] for call in every] == [5_000, 5_000]


@pytest.mark.parametrize(
    ("names", "size", "total", "cost"),
    [
        (["*"], 1_000, 100, 10 * 21 + 25),
        (["*"], 100, 50, 2 * 21 + 25),
        (["*"], 30, 10, 30 + 25),
        (["*"], 1_000, 0, 1_000 + 25),
        (["a", "b", "c"], 40, None, 40 + 75),
        (["a", "b"], None, None, 50_000 + 50),
        (["a"], None, 50, 21_000 + 25),
    ],
)
def test_a_list_costs_its_entries_up_to_the_last_match_and_25_a_query(
    names: list[str], size: int | None, total: int | None, cost: int
) -> None:
    assert Lists(KIND, names, {}, size=size, total=total).cost(21) == cost


def test_the_shorter_of_the_lists_is_read(reads: Reads) -> None:
    some(30, status="DRAFT", type="hat")
    some(4, status="DRAFT", type="mug")
    some(6, type="mug")
    assert page({"status": ["DRAFT"], "type": ["mug"]}).total == 4
    assert reads.names() == ["type=mug"]
    assert page({"status": ["ACTIVE"], "published": ["yes"]}).total == 6
    assert reads.names() == ["live"]
    assert page({"published": ["yes"], "storefront": ["", "eu"]}).total == 40
    assert reads.names() == ["*"]


def test_a_list_of_several_values_is_read_with_the_other_filters(reads: Reads) -> None:
    some(9)
    some(5, storefront="eu")
    some(4, storefront="us")
    some(7, published="no", storefront="eu")
    some(3, published="no", storefront="us")
    some(30, status="DRAFT")
    live = {"status": ["ACTIVE"], "published": ["yes"], "storefront": ["", "eu"]}
    found = page(live)
    assert (len(found.records), found.total, reads.names()) == (14, 14, ["live"])
    hidden = {**live, "published": ["no"]}
    found = page(hidden)
    assert (len(found.records), found.total, reads.names()) == (7, 7, ["hidden"])
    # Until all records are indexed again, a new list lacks some.
    new = replace(KIND, since={"hidden": 2})
    assert (page(hidden, kind=new).total, reads.names()) == (7, ["status=ACTIVE"])
    assert (page(live, kind=new).total, reads.names()) == (14, ["live"])


def test_at_most_three_lists_are_read_without_the_totals(reads: Reads, rounds: list[int]) -> None:
    for kind in "abcd":
        some(2, type=kind)
    rounds.clear()
    assert page({"type": ["a", "b", "c"]}, limit=2).total == 6
    assert reads.names() == ["type=a", "type=b", "type=c"]
    assert len(rounds) == 1
    assert page({"type": ["a", "b", "c", "d"]}, limit=2).total == 8
    assert len(rounds) == 3
    rounds.clear()
    page(limit=500)
    assert len(rounds) == 1
    rounds.clear()
    page(limit=501)
    assert len(rounds) == 2  # far from the beginning, the total is read first


def test_keys_are_counted_only_for_a_total_that_is_not_kept(reads: Reads) -> None:
    some(4, owner="ann")
    some(3)
    ranged = listing.Range("0")
    for where, options, total, counts in (
        ({}, {}, 7, 0),
        ({"published": ["yes"], "status": ["ACTIVE"], "storefront": [""]}, {}, 7, 0),
        ({"owner": ["ann"]}, {}, 4, 2),
        ({}, {"between": ranged}, 7, 2),
        ({"owner": ["ann"], "status": ["ACTIVE"]}, {}, 4, 2),
    ):
        reads.counts = 0
        found = page(where, limit=2, **options)
        assert (len(found.records), found.total, reads.counts) == (2, total, counts), where
        assert found.next


def test_a_list_that_lacks_records_is_not_read(reads: Reads) -> None:
    some(3, published="no")
    some(4)
    assert (page({"published": ["no"]}).total, reads.names()) == (3, ["hidden"])
    new = replace(KIND, since={"hidden": 2})
    hidden = page({"published": ["no"]}, kind=new)
    assert (hidden.total, reads.names()) == (3, ["*"])


def test_a_numbered_page_of_a_list_of_unknown_length_is_limited_in_depth(
    dynamodb: Double, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lists, "MOST_COUNTED", 10)
    some(22, owner="ann", type="hat")
    where = {"owner": ["ann"], "status": ["ACTIVE"]}
    assert len(page(where, limit=5, page=3).records) == 5
    with pytest.raises(Invalid, match="use the cursor") as refused:
        page(where, limit=11, page=2)
    assert refused.value.extra["errors"][0]["code"] == "too_deep"
    assert len(page({"status": ["ACTIVE"], "type": ["hat"]}, limit=11, page=2).records) == 11


def test_a_rare_tag_is_read_instead_of_a_common_status(reads: Reads) -> None:
    some(60, status="DRAFT")
    some(3, status="DRAFT", tags=("new",))
    some(2, tags=("new",))
    assert page({"tag": ["new"], "status": ["DRAFT"]}).total == 3
    assert reads.names() == ["tag*", "tag=new"]
    assert reads.counts == 4  # two lists in two shards, once


def test_a_page_is_read_from_the_nearer_end(reads: Reads) -> None:
    some(50, status="DRAFT", type="hat")
    some(60, type="hat")
    where = {"status": ["DRAFT"], "type": ["hat"]}
    expected = [f"red {n:03d}" for n in reversed(range(50))]
    for number, limit, forward in (
        (1, 14, False),
        (3, 29, False),
        (4, 21, True),
        (5, 13, True),
    ):
        found = page(where, limit=10, page=number)
        assert (names(found), found.total) == (expected[number * 10 - 10 : number * 10], 50)
        assert reads.taken() == [("status=DRAFT", limit, forward)]
        assert bool(found.next) == (number < 5)
    last = page(where, limit=20, page=3)
    assert (names(last), last.next) == (expected[40:], None)
    assert reads.taken() == [("status=DRAFT", 13, True)]
    for number in (6, 7):
        assert (page(where, limit=10, page=number).records, reads.taken()) == ([], [])


def test_few_records_are_sorted_and_many_read_in_their_order(reads: Reads) -> None:
    some(6, status="DRAFT")
    some(94)
    # Six records cost 6² · 50 = 18 · 100 entries: the page and one more, of a hundred.
    for limit, read in ((17, ["status=DRAFT"]), (16, ["*name"])):
        found = page({"status": ["DRAFT"]}, order="name", limit=limit)
        assert (names(found), found.total) == ([f"red {n:03d}" for n in reversed(range(6))], 6)
        assert reads.names() == read


@pytest.mark.parametrize(
    ("others", "read"), [(39, []), (38, ["status=DRAFT"]), (0, ["status=DRAFT"])]
)
def test_a_search_with_a_filter_reads_a_list_of_up_to_20_entries_a_match(
    reads: Reads, others: int, read: list[str]
) -> None:
    some(others, status="DRAFT")
    create(thing("blue", status="DRAFT"), thing("blue"), *(thing("grey") for _ in range(50)))
    found = page({"status": ["DRAFT"]}, search="blue")
    assert (names(found), found.total) == (["blue"], 1)
    assert reads.names() == read


def test_a_search_of_few_words_reads_no_list_entries_and_loads_what_it_finds(
    dynamodb: Double,
) -> None:
    some(5)
    for where, found, loads in (({}, 5, 1), ({"status": ["DRAFT"]}, 0, 0)):
        with dynamodb.metered() as calls:
            assert page(where, search="red").total == found
        others = [call.operation for call in calls if call.operation != "Query"]
        assert others == ["BatchGetItem"] * loads  # the records


def test_a_search_reads_all_answers_of_a_shard(
    dynamodb: Double, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.support.dynamodb_double.ANSWER_BYTES", 500)
    some(40)
    assert page(search="red").total == 40


def test_a_total_is_at_least_what_one_of_several_terms_has(
    dynamodb: Double, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "MOST_MATCHES", 20)
    create(*(thing(f"red number{n}") for n in range(30)), thing("red number"))
    found = page(search="number red")
    assert (names(found), found.at_least) == (["red number"], True)


def test_an_empty_facet_has_no_list_entry(dynamodb: Double) -> None:
    one = thing("red", status="DRAFT")
    create(one)
    stored = {item["pk"]["S"] for item in dynamodb.items("backroom-test")} - {one.id}
    assert {pk.rsplit("#", 1)[0] for pk in stored if pk.startswith("list#")} == {
        "list#thing#*",
        "list#thing#*name",
        "list#thing#status=DRAFT",
    }
    assert {pk for pk in stored if pk.startswith("count#")} == {"count#thing"}


def entries(first: str = "") -> Iterable[str]:
    return (entry["sk"] for entry in listing.walk_entries(KIND, (), first))


def test_all_records_are_read_newest_first_without_most_of_those_created_meanwhile(
    dynamodb: Double, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.support.dynamodb_double.ANSWER_BYTES", 500)
    made = [thing(sort=f"1{n:02d}") for n in range(30)]
    create(*made)
    found = entries()
    first = next(iter(found))
    later = [thing(sort=f"2{n:02d}") for n in range(30)]
    create(*later)
    seen = {first, *found}
    assert {one.position for one in made} <= seen
    assert len(seen) < 60
    assert {*entries("2")} == {one.position for one in later}


def best_of(*terms: str) -> list[str]:
    rows = [call.wait_for_result() for call in best.candidate_calls(KIND, terms)]
    return best.rank_candidates(terms, rows)


def test_the_best_candidates_are_whole_words_and_then_the_newest(dynamodb: Double) -> None:
    made = [thing(f"a wool{'ly' if n % 2 else ''}", sort=f"{n:02d}") for n in range(10)]
    create(*made, thing("a cap"))
    newest = [one.id for one in reversed(made)]
    assert best_of("wool") == newest[1::2] + newest[::2]
    assert best_of("woolly") == newest[::2]
    assert best_of("a", "woolly") == newest[::2]
    assert best_of("cap", "wool") == []
    create(*(thing(f"a hat {n}", sort=f"{n:02d}") for n in range(30)))
    assert len(best_of("hat")) == 20


def test_records_with_the_rarer_of_two_common_terms_are_candidates(
    dynamodb: Double, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(best, "_WHOLE", 1)
    monkeypatch.setattr(best, "_BESIDE", 2)  # both caps may be in one shard
    caps = [thing(f"a cap {n}") for n in range(2)]
    create(*(thing(f"a wool {n}") for n in range(30)), *caps)
    assert {*best_of("wool", "cap")} == {*best_of("cap", "wool")} == {one.id for one in caps}


def test_a_count_by_filters_that_are_not_counted_is_an_error(dynamodb: Double) -> None:
    create(thing(type="hat", vendor="acme"), thing(type="mug"))
    accepted = {"type": frozenset({"hat", "mug"}), "status": frozenset({"ACTIVE"})}
    assert listing.count(KIND, accepted) == 2
    for where in ({"type": "hat", "vendor": "acme"}, {"owner": "ann"}):
        with pytest.raises(ValueError, match="not counted"):
            listing.count(KIND, {facet: frozenset({value}) for facet, value in where.items()})


def test_a_list_names_the_filters_and_orders_that_wait_for_reindexing(dynamodb: Double) -> None:
    create(thing())
    new = replace(KIND, since={"vendor": 2, "tag": 3, "*name": 2})
    where = {"vendor": ["acme"], "tag": ["new"], "status": ["ACTIVE"]}
    for options in ({}, {"search": "red"}):
        with pytest.raises(Reindexing, match=r"^Not available yet: tag, vendor\. Records"):
            page(where, kind=new, **options)
    with pytest.raises(Reindexing, match=r"^Not available yet: sorting by name\. Records"):
        page(order="name", kind=new)
    assert page({"status": ["ACTIVE"]}, kind=new).total == 1
    pk, sk = RELEASE
    table.put({"pk": pk, "sk": sk, "indexed": {KIND.name: 2}})
    assert page({"vendor": ["acme"]}, order="name", kind=new).total == 0
    with pytest.raises(Reindexing, match=r"available yet: tag\. Records"):
        page(where, kind=new)


def test_a_range_is_bounded_on_either_side_or_both() -> None:
    both = listing.Range("b", "d")
    assert [both.holds(sort) for sort in "abcde"] == [False, True, True, False, False]
    assert [listing.Range("b").holds(sort) for sort in "abc"] == [False, True, True]
    assert [listing.Range(end="b").holds(sort) for sort in "abc"] == [True, False, False]
    assert not lists.EVERYTHING
    assert listing.Range("b") and listing.Range(end="b")


# Questions of the table of `Listing`, the lists that are read for each, and the round trips.
QUESTIONS: dict[str, tuple[dict[str, Any], list[str], int]] = {
    "at most one filter, up to result 500": (
        {"where": {"type": ["hat"]}},
        ["type=hat"],
        1,
    ),
    "… whose number no cell has": ({"where": {"owner": ["ann"]}}, ["owner=ann"], 1),
    "another order without a filter": ({"order": "name"}, ["*name"], 1),
    "a range of another order": (
        {"where": {"type": ["hat"]}, "order": "name", "within": listing.Range("red")},
        ["*name"],
        1,
    ),
    "several filters, more than three values, or further on": (
        {"where": {"type": ["hat"], "status": ["ACTIVE"]}},
        ["status=ACTIVE"],
        2,
    ),
    "a tag and other filters": (
        {"where": {"tag": ["new"], "type": ["hat"]}},
        ["tag*", "tag=new"],
        2,
    ),
    "another order and a filter, few matches": (
        {"where": {"storefront": ["eu"]}, "order": "name"},
        ["storefront=eu"],
        3,
    ),
    "another order and a filter, many matches": (
        {"where": {"type": ["hat"]}, "order": "name"},
        ["*name"],
        2,
    ),
    "a search": ({"search": "rare"}, [], 1),
    "a search and a filter, few found": (
        {"search": "rare", "where": {"type": ["hat"]}},
        [],
        2,
    ),
    "… more than a twentieth of the filter's list": (
        {"search": "rare", "where": {"storefront": ["eu"]}},
        ["storefront=eu"],
        2,
    ),
    "a search with a term that is too broad": ({"search": "red rare"}, [], 2),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_each_question_is_answered_as_the_table_says(
    question: str,
    dynamodb: Double,
    reads: Reads,
    rounds: list[int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(search, "MOST_MATCHES", 20)
    monkeypatch.setattr(search, "ENTRIES_A_RECORD", 1)  # few found: loading them is cheaper
    some(40, type="hat", status="DRAFT")
    some(30, type="hat", owner="ann")
    some(3, type="mug", storefront="eu", tags=("new",))
    some(2, type="hat", tags=("new",))
    create(thing("red rare", type="hat", status="DRAFT", storefront="eu"))
    asked, lists_read, trips = QUESTIONS[question]
    rounds.clear()
    with dynamodb.metered() as calls:
        assert page(limit=20, **asked).records
    assert [*dict.fromkeys(reads.names())] == lists_read
    gets = sum(call.operation == "BatchGetItem" for call in calls)
    assert len(rounds) + gets == trips + 1, "and the records of the page"


def test_the_table_has_the_tested_questions() -> None:
    rows = [line.split("|") for line in (Listing.__doc__ or "").splitlines() if "| " in line]
    assert [row[1].strip() for row in rows[1:] if row[1].strip()] == [*QUESTIONS]
