"""The list and word entries of a record, and their difference between two of its versions."""

from dataclasses import replace
from itertools import groupby

from chalicelib.listing.index import SEVERAL, Index, settle_words, value_writes
from chalicelib.listing.kinds import Kind, escape, shard_of
from chalicelib.storage.attributes import Item, Key
from chalicelib.storage.commit import HOMES, Commit
from chalicelib.values import clock


def change(
    commit: Commit,
    kind: Kind,
    id: str,
    before: Index | None,
    after: Index | None,
    *,
    inside: int | None = None,
    room: int | None = None,
) -> Index | None:
    """Add the entries, words and counts that differ between a record's two versions to a commit.

    Return the index that the record must store: `after`, with `many`, `lists`, `cells` and the
    places of its words set; None if the record is deleted. `before`: None if it is created.
    `inside`, `room`: how many words, and how many writes of words and values, the transaction
    takes; None: those of the kind. Words without room are written before the transaction
    (`write_before`), or deleted after it (`delete_after`). Nothing is sent.
    """
    room = kind.room if room is None else room
    if after is not None:
        words_inside = kind.inside if inside is None else inside
        after = replace(after, many=kind.are_too_many(after.several, words_inside))
        if kind.since:
            lists, values = kind.list_names(after.facets), kind.values_counted(after.facets)
            values += kind.values_in_menus(after.facets, after.several)
            after = replace(
                after,
                lists=tuple(filter(kind.is_added, lists)),
                cells=tuple(filter(kind.is_added, values)),
            )
    room -= value_writes(kind, before, after)
    if after is not None:
        after = settle_words(before, after, inside=words_inside, room=room)
    is_in_same_lists = (
        before is not None and after is not None and before.list_state == after.list_state
    )
    is_measured_alike = before is None or after is None or before.measures == after.measures
    entries_in = order_entries if is_in_same_lists and is_measured_alike else list_entries
    old_entries, new_entries = entries_in(kind, id, before), entries_in(kind, id, after)
    differing = [key for key, known in new_entries.items() if old_entries.get(key) != known]
    for known, keys in groupby(differing, new_entries.__getitem__):
        commit.put_each(keys, known)
    for key in [key for key in old_entries if key not in new_entries]:
        commit.delete(key)
    if not (before and after and before.word_state == after.word_state):
        _change_words(commit, word_keys(kind, id, before), word_keys(kind, id, after), room)
    for index, step in () if is_in_same_lists else ((before, -1), (after, 1)):
        if index:
            count_record(commit, kind, index, step)
    return after


def append(commit: Commit, kind: Kind, id: str, index: Index) -> None:
    """Add a new record's list entries and count to its commit, in a third of `change`'s time.

    It is only for a record without words and further orders, of a kind without `since`; its entries
    have no measures. If it has too many of several values (`are_too_many`), it has an entry in
    their common list instead of one for each.
    """
    if kind.are_too_many(index.several):
        index = replace(index, many=True)
    commit.put_each(list_entries(kind, id, index), _entry_attributes(index))
    count_record(commit, kind, index, 1)


def remove_later(commit: Commit, kind: Kind, id: str, index: Index) -> None:
    """Add to a commit that a record counts no more; its entries are deleted after the commit.

    They are all its list and word entries (`delete_after`): the commit has no room for them, and
    they have no effect without the record.
    """
    for key in entries_of(kind, id, index):
        commit.delete_after(key)
    count_record(commit, kind, index, -1)


def count_record(commit: Commit, kind: Kind, index: Index, step: int) -> None:
    """Add to a commit that each count cell of a record changes by `step`: 1, or -1 to take it away.

    Its number of the split value and, in the cells of the whole kind, its sum change likewise.
    Records of one split value, and all cells of a menu, have a home shard by that value; others any
    shard.
    """
    value = index.facets.get(kind.split, "")
    for pk, cell in count_cells(kind, index):
        # A menu has the records of all values in one cell, which a change counts twice.
        home = shard_of(value, HOMES) if value or kind.is_menu(pk) else None
        numbers = kind.cell_increments(pk, index.facets)
        commit.count((pk, cell), {name: step * n for name, n in numbers.items()}, home)


def count_cells(kind: Kind, index: Index) -> list[Key]:
    """Return the keys (partition, cell without shard) of the cells that count this record.

    Of the cells that the first release had not, only those that the index names (`Index.cells`).
    """
    values = [v for v in kind.values_counted(index.facets) if not kind.is_added(v)]
    return kind.cell_keys_under(index.facets, (*values, *index.cells))


def _change_words(commit: Commit, old: dict[Key, bool], new: dict[Key, bool], room: int) -> None:
    """Add the writes of a record's new words, and the deletions of its old ones, to a commit.

    `old`, `new`: the key of each word → whether it belongs to a generation. `room`: how many writes
    the transaction takes. If all do not fit, those of a generation are written before the
    transaction (`write_before`), or deleted after it (`delete_after`); the others are always in it.
    A word of a generation gets `at`, the time.
    """
    added, gone = [key for key in new if key not in old], [key for key in old if key not in new]
    fits = len(added) + len(gone) <= room
    commit.put_each((key for key in added if not new[key]), {})
    ahead, at = [key for key in added if new[key]], clock.unix()
    if fits:
        commit.put_each(ahead, {"at": at})
    else:
        for pk, sk in ahead:
            commit.write_before({"pk": pk, "sk": sk, "at": at})
    for key in gone:
        if fits or not old[key]:
            commit.delete(key)
        else:
            commit.delete_after(key)


def entries_of(kind: Kind, id: str, index: Index | None) -> set[Key]:
    """Return the keys of all list and word entries of a record with this index; none for None."""
    return {*list_entries(kind, id, index), *word_keys(kind, id, index)}


def list_entries(kind: Kind, id: str, index: Index | None) -> dict[Key, Item]:
    """Return a record's entries in all lists and orders: {key: attributes besides the key}.

    {} for None. The attributes are the facets and the set of several values; in measured lists and
    orders the measures too. With `many`, one entry in `<several>*` stands for the several values.
    If words are written ahead, the entry in the list of all names the generation.
    """
    if index is None:
        return {}
    names = [name for name in kind.list_names(index.facets) if not kind.is_added(name)]
    names += index.lists
    if index.many:
        names.append(f"{kind.several}*")
    names += [f"{kind.several}={value}" for value in index.listed_values]
    known, shard = _entry_attributes(index), shard_of(id, kind.list_shards)
    measured = {**known, **index.measures}
    entries = {
        (kind.list_pk(name, shard), f"{index.sort}#{id}"): (
            measured if kind.is_measured(name) else known
        )
        for name in names
    }
    if index.ahead:
        whole = kind.entry_key("*", id, index.sort)
        entries[whole] = {**known, "generation": index.generation}
    return entries | order_entries(kind, id, index) if index.orders else entries


def order_entries(kind: Kind, id: str, index: Index | None) -> dict[Key, Item]:
    """Return a record's entries in other orders, one an order: {key: attributes besides the key}.

    {} for None. The attributes are the facets and the set of several values; of a measured order
    the measures too.
    """
    if index is None:
        return {}
    known = _entry_attributes(index)
    measured = {**known, **index.measures}
    return {
        kind.entry_key(f"*{order}", id, sort): (
            measured if kind.is_measured(f"*{order}") else known
        )
        for order, sort in index.orders.items()
    }


def _entry_attributes(index: Index) -> Item:
    """Return the attributes of each list entry of a record: its facets, and a set of `several`.

    A record without several values has no such set. Measures and the generation are not among them.
    """
    return {**index.facets, **({SEVERAL: frozenset(index.several)} if index.several else {})}


def word_keys(kind: Kind, id: str, index: Index | None) -> dict[Key, bool]:
    """Return the key of each word entry of a record → whether the word is one of `index.ahead`.

    The keys of those have the record's generation. {} for None.
    """
    if index is None:
        return {}
    shard = shard_of(id, kind.word_shards)
    here, ahead = f"#{index.sort}#{id}", f"#{index.sort}+{index.generation}#{id}"
    places = (index.words, here, False), (index.ahead, ahead, True)
    return {
        (kind.word_pk(word, shard), f"{escape(word)}{suffix}"): is_ahead
        for words, suffix, is_ahead in places
        for word in words
    }
