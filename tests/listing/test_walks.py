"""Pages by number and by cursor, also with concurrent writes."""

import base64
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from chalicelib import listing
from chalicelib.listing import lists, pages, search
from chalicelib.listing.cursor import Cursor
from chalicelib.problems import Invalid
from chalicelib.storage import table
from tests.listing import things
from tests.listing.things import KIND, Thing, create, delete, names, page, thing, update
from tests.support.dynamodb_double import Double


def numbered(count: int, **facets: str) -> list[Thing]:
    """`0` is the oldest."""
    made = [thing(str(n), sort=f"{n:06d}", **facets) for n in range(count)]
    create(*made)
    return made


def test_a_page_past_the_end_is_empty_and_one_past_the_deepest_refused(dynamodb: Double) -> None:
    numbered(5)
    for number in (2, 99, 10**12):
        assert (names(page(page=number)), page(page=number).total) == ([], 5)
        assert page(search="1", page=number).records == []
    assert len(page(limit=2, page=2, deepest=4).records) == 2
    with pytest.raises(Invalid) as refused:
        page(limit=2, page=3, deepest=4)
    assert refused.value.extra["errors"][0]["field"] == "page"


@pytest.mark.thorough
@pytest.mark.parametrize("options", [{}, {"order": "name"}, {"forward": True}])
def test_each_page_by_cursor_costs_the_same(dynamodb: Double, options: Any) -> None:
    numbered(400)
    costs, cursor = [], ""
    while len(costs) < 19:
        with dynamodb.metered() as calls:
            cursor = page(limit=20, cursor=cursor, **options).next or ""
        costs.append((len(calls), sum(call.read_units for call in calls)))
    assert len(set(costs[1:])) == 1


@pytest.mark.parametrize("limit", [5, 20])
def test_the_first_page_has_the_newest_despite_a_concurrent_insert(
    dynamodb: Double, limit: int
) -> None:
    numbered(5)
    older = thing("older", sort="-")
    dynamodb.meanwhile("Query", lambda: create(older), "list#")
    assert names(page(limit=limit))[:5] == ["4", "3", "2", "1", "0"]
    assert page().total == 6, "the record was inserted during the read"


@pytest.mark.parametrize("others", [0, 1])
def test_a_walk_ends_if_all_that_is_left_leaves_the_list(dynamodb: Double, others: int) -> None:
    made = numbered(6, type="shirt")
    where = {"status": ["ACTIVE"], "type": ["shirt"]}
    cursor = page(where, limit=2).next
    if others:
        create(thing("mug", type="mug"), thing("draft", status="DRAFT", type="shirt"))
    for one in made:
        delete(one)
    rest = page(where, limit=2, cursor=cursor)
    assert (rest.records, rest.total, rest.next) == ([], 0, None)


def walked(where: Any = None, search: str = "", limit: int = 7, **options: Any) -> Iterator[Any]:
    """All pages, by cursor."""
    cursor: str | None = ""
    while cursor is not None:
        some = page(where, search, limit=limit, cursor=cursor, **options)
        cursor = some.next
        yield some


@pytest.mark.parametrize("search", ["", "n"])
def test_pages_by_cursor_miss_nothing_if_read_records_leave_the_list(
    dynamodb: Double, search: str
) -> None:
    """A program reads a page of open records, handles them, and reads the next page."""
    create(*(thing(f"n{n}", sort=f"{n:06d}") for n in range(60)))
    seen: list[str] = []
    for some in walked({"status": ["ACTIVE"]}, search, limit=7):
        seen += names(some)
        for one in some.records:
            update(one, facets={**one.facets, "status": "DRAFT"})
    assert seen == [f"n{n}" for n in reversed(range(60))]


@pytest.mark.parametrize("search", ["", "n"])
def test_pages_by_cursor_repeat_nothing_if_the_list_grows(dynamodb: Double, search: str) -> None:
    create(*(thing(f"n{n}", sort=f"{n:06d}") for n in range(10)))
    seen: list[str] = []
    for some in walked({}, search, limit=2):
        seen += names(some)
        create(*(thing(f"n{n}", sort=f"1{n:05d}") for n in range(2)))
    assert seen == [f"n{n}" for n in reversed(range(10))]
    assert (some.page, some.total) == (5, 18)


def test_a_total_read_during_a_change_is_not_negative(dynamodb: Double) -> None:
    table.put({"pk": KIND.count_pk(), "sk": "1|ACTIVE|yes|#3", "n": -1})
    assert page().total == listing.count(KIND, {}) == 0


def test_a_cursor_of_another_list_is_refused(dynamodb: Double) -> None:
    numbered(9)
    cursor = page(limit=3).next
    assert cursor and names(page(limit=2, cursor=cursor)) == ["5", "4"]
    filtered = page({"status": ["ACTIVE"]}, limit=3).next
    foreign: list[tuple[str | None, Any]] = [
        (cursor, {"where": {"status": ["ACTIVE"]}}),
        (filtered, {}),
        (cursor, {"search": "1"}),
        (cursor, {"forward": True}),
        (cursor, {"order": "name"}),
        (cursor, {"between": listing.Range("0")}),
        *((text, {}) for text in ("x", "AAAA", cursor[:-1], cursor[1:], f"{cursor}A", "é", "=")),
        (f"{cursor}!!!!", {}),  # Python's decoder would drop such letters
        (base64.urlsafe_b64encode(b'0123456789ab["0#x",2]').decode(), {}),
    ]
    # The check of a cursor is no secret.
    asked = pages.list_identity(KIND, listing.Query(), {})
    made: list[Any] = [(position, 2) for position in (1, None, "x" * 1_001)]
    made += [("0#x", number) for number in (0, -1, True, "2", 1.5, 10**15 + 1)]
    foreign += [(Cursor(*both).to_text(asked), {}) for both in made]
    assert page(cursor=Cursor("0#x", 2).to_text(asked)).page == 2
    for forward, position in ((True, "000008#x"), (False, "000001#x")):  # outside of the period
        options = {"between": listing.Range("000003", "000005"), "forward": forward}
        asked = pages.list_identity(KIND, listing.Query(**options), {})
        assert page(cursor=Cursor(position, 2).to_text(asked), **options).records == []
    for text, options in foreign:
        with pytest.raises(Invalid) as refused:
            page(cursor=text, **options)
        assert refused.value.extra["errors"][0]["field"] == "cursor", (text, options)


def test_an_asterisk_is_the_cursor_of_the_first_page(dynamodb: Double) -> None:
    numbered(5)
    first = page(limit=2, cursor="*")
    assert (names(first), first.page) == (["4", "3"], 1)
    assert first.after is not None
    assert names(page(limit=2, cursor=first.after(1))) == ["3", "2"]
    assert page(limit=2).after is None


def test_a_cursor_of_a_deleted_record_continues_after_it(dynamodb: Double) -> None:
    made = numbered(6)
    cursor = page(limit=2).next
    delete(made[4])
    create(thing("new", sort="000004x"), thing("newer", sort="9"))
    assert names(page(limit=9, cursor=cursor)) == ["3", "2", "1", "0"]


def test_a_numbered_page_has_the_cursor_of_the_next(dynamodb: Double) -> None:
    numbered(9)
    assert names(page(limit=3, page=2)) == ["5", "4", "3"]
    create(thing("new", sort="1"))
    second, last = page(limit=3, page=2), page(limit=3, page=4)
    assert names(second) == ["6", "5", "4"]
    assert names(page(limit=3, cursor=second.next)) == ["3", "2", "1"]
    assert (names(last), last.next) == (["0"], None)


@pytest.mark.parametrize(("search", "left"), [("", ["n4", "other", "n0"]), ("n", ["n4", "n0"])])
def test_a_record_that_no_longer_matches_when_it_is_read_is_dropped(
    dynamodb: Double, search: str, left: list[str]
) -> None:
    made = [thing(f"n{n}") for n in range(5)]
    create(*made)

    def load(ids: list[str]) -> list[Thing]:
        delete(made[1])
        update(made[2], facets={**made[2].facets, "status": "DRAFT"})
        update(made[3], texts=("other",))
        return things.load(ids)

    query = listing.Query({"status": frozenset({"ACTIVE"})}, search)
    assert names(listing.read_page(KIND, query, load)) == left


def test_concurrent_writes_to_the_same_counts_are_all_counted(
    dynamodb: Double, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chalicelib.storage.commit.COUNT_SHARDS", 4)
    dynamodb.pause = lambda: time.sleep(0.001)
    conflicts = []
    kept = dynamodb._on_TransactWriteItems

    def watched(request: object) -> object:
        try:
            return kept(request)  # type: ignore[arg-type]
        except Exception as error:
            conflicts.append(error)
            raise

    dynamodb._on_TransactWriteItems = watched  # type: ignore[method-assign, assignment]

    def write(writer: int) -> None:
        for n in range(25):
            one = thing(f"{writer} {n}", status="ACTIVE" if n % 2 else "DRAFT")
            create(one)
            if n % 5 == 0:
                delete(one)

    writers = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert conflicts, "nobody seen anybody"
    assert page(limit=100).total == len(page(limit=100).records) == 80
    assert page({"status": ["ACTIVE"]}).total == 40


def test_a_total_beyond_the_counting_limit_is_a_minimum(
    dynamodb: Double, monkeypatch: pytest.MonkeyPatch
) -> None:
    create(*(thing(f"{n}", sort=f"{n:06d}", owner="ann") for n in range(60)))
    monkeypatch.setattr(lists, "MOST_COUNTED", 20)
    monkeypatch.setattr("tests.support.dynamodb_double.ANSWER_BYTES", 1_000)
    some = page({"owner": ["ann"]}, limit=50)
    assert (some.total, some.at_least, len(some.records)) == (20, True, 50)
    rest = page({"owner": ["ann"]}, limit=50, cursor=some.next)
    assert (len(rest.records), rest.next) == (10, None)
    assert (page(limit=50).total, page(limit=50).at_least) == (60, False)
    monkeypatch.setattr(lists, "MOST_COUNTED", 1_000)
    exact = page({"owner": ["ann"]})
    assert (exact.total, exact.at_least) == (60, False)


# Of the records found, all are loaded to check the term, unless it is cheaper to read its entries.
@pytest.mark.parametrize(("entries_a_record", "loads"), [(1, 2), (9, 2), (50, 1)])
def test_a_too_broad_term_is_checked_on_the_results_of_the_others(
    dynamodb: Double, monkeypatch: pytest.MonkeyPatch, entries_a_record: int, loads: int
) -> None:
    create(*(thing(f"shirt {'blue' if n % 10 == 0 else 'red'}", sort=str(n)) for n in range(60)))
    monkeypatch.setattr(search, "MOST_MATCHES", 20)
    monkeypatch.setattr(search, "ENTRIES_A_RECORD", entries_a_record)
    with dynamodb.metered() as calls:
        assert page(search="shirt blue", limit=1).total == 6
    assert [call.operation for call in calls].count("BatchGetItem") == loads
    assert page({"status": ["DRAFT"]}, search="shirt blue").total == 0
    for too_broad in ("shirt", "r", "shirt red"):
        with pytest.raises(Invalid) as refused:
            page(search=too_broad)
        assert refused.value.code == "search_too_broad"


def test_a_broad_search_reads_a_limited_number_of_entries(
    dynamodb: Double, monkeypatch: pytest.MonkeyPatch
) -> None:
    create(*(thing("shirt", sort=str(n)) for n in range(300)))
    monkeypatch.setattr(search, "MOST_MATCHES", 16)
    with dynamodb.metered() as calls, pytest.raises(Invalid):
        page(search="shirt")
    assert len(calls) == 8  # words that begin with it, and the word itself


def test_a_change_of_everything_writes_the_items_of_the_budget(dynamodb: Double) -> None:
    """Old and new words, tags and lists, and six count cells: the limits of every kind follow from
    this number."""
    old = {"type": "a", "storefront": "a", "vendor": "a", "owner": "a"}
    before = replace(
        thing(" ".join(f"a{n}x" for n in range(50)), **old, status="ACTIVE"), tags=tuple("abcdef")
    )
    new = {"type": "b", "storefront": "b", "vendor": "b", "owner": "b", "status": "DRAFT"}
    after = replace(
        before,
        texts=(" ".join(f"b{n}x" for n in range(50)),),
        tags=tuple("uvwxyz"),
        facets={**before.facets, **new, "published": "no"},
    )
    stored = listing.change(things.Commit(), KIND, before.id, None, before.index)
    commit = things.Commit()
    listing.change(commit, KIND, before.id, stored, after.index)
    lists_before_and_after = 1 + 5 * 2 + 2 + 2  # `*`, each value, `live` and `hidden`, by name
    assert len(commit) == KIND.room + lists_before_and_after + 6


def test_only_the_longest_of_many_terms_are_read(
    dynamodb: Double, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "_MOST_READ", 1)
    monkeypatch.setattr(search, "MOST_MATCHES", 5)
    create(*(thing(f"a number{n:02d}") for n in range(20)))
    found = page(search="a number07")
    assert (names(found), found.total, found.at_least) == (["a number07"], 1, False)
