"""The list and word entries of a record, and their difference between two of its versions."""

from dataclasses import replace
from itertools import groupby

from chalicelib.listing import kinds
from chalicelib.listing.index import SEVERAL, Index, settled, value_writes
from chalicelib.listing.kinds import Kind, escape, shard_of
from chalicelib.storage.attributes import Item, Key
from chalicelib.storage.commit import Commit
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
    """Adds the index writes between two versions of a record to the commit that changes it; returns
    the index of the new version, which the record must store.

    `inside`, `room`: the kind's, unless given. Words without room in the transaction are written
    before it, and deleted after it.
    """
    room = kind.room if room is None else room
    if after is not None:
        if after.format != kind.format:
            after = replace(after, format=kind.format, added=kind.added())
        after = settled(before, after, inside=kind.inside if inside is None else inside, room=room)
    is_in_same_lists = before is not None and after is not None and before.listed == after.listed
    entries_in = order_entries if is_in_same_lists else list_entries
    old_entries, new_entries = entries_in(kind, id, before), entries_in(kind, id, after)
    differing = [key for key, known in new_entries.items() if old_entries.get(key) != known]
    for known, keys in groupby(differing, new_entries.__getitem__):
        commit.put_each(keys, known)
    for key in [key for key in old_entries if key not in new_entries]:
        commit.delete(key)
    if not (before and after and before.worded == after.worded):
        room -= value_writes(before, after)
        _change_words(commit, word_keys(kind, id, before), word_keys(kind, id, after), room)
    for index, step in () if is_in_same_lists else ((before, -1), (after, 1)):
        for pk, cell in count_cells(kind, index) if index else ():
            sums = kind.sums(index.facets) if index and pk == kind.count_pk() else {}
            commit.count((pk, cell), {"n": step} | {name: step * n for name, n in sums.items()})
    return after


def remove_later(commit: Commit, kind: Kind, id: str, index: Index) -> None:
    """As `change` to nothing, of a record whose entries have no effect without it: they are deleted
    after the commit, which has no room for them."""
    for key in entries_of(kind, id, index):
        commit.delete_after(key)
    for cell in count_cells(kind, index):
        commit.count(cell, {"n": -1})


def count_cells(kind: Kind, index: Index) -> list[Key]:
    return kind.of(index.format, index.added).cells(index.facets)


def _change_words(commit: Commit, old: dict[Key, bool], new: dict[Key, bool], room: int) -> None:
    """`old`, `new`: the keys of words, and whether each belongs to a generation."""
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
    """The keys of all list and word entries of a record with this index."""
    return {*list_entries(kind, id, index), *word_keys(kind, id, index)}


def list_entries(kind: Kind, id: str, index: Index | None) -> dict[Key, Item]:
    """The keys of the list entries, and the other attributes of each."""
    if index is None:
        return {}
    shards = kinds.SHAPES[index.version].list_shards
    kind = kind.of(index.format, index.added)
    names = kind.lists(index.facets)
    if index.many:
        names.append(f"{kind.several}*")
    names += [f"{kind.several}={value}" for value in index.values]
    known, shard = _known(index), shard_of(id, shards)
    entries = {(kind.list_pk(name, shard, shards), f"{index.sort}#{id}"): known for name in names}
    if index.ahead:
        whole = kind.entry_key("*", id, index.sort, shards)
        entries[whole] = {**known, "generation": index.generation}
    return entries | order_entries(kind, id, index)


def order_entries(kind: Kind, id: str, index: Index | None) -> dict[Key, Item]:
    """Those of them in other orders."""
    if index is None:
        return {}
    known, shards = _known(index), kinds.SHAPES[index.version].list_shards
    return {
        kind.entry_key(f"*{order}", id, sort, shards): known for order, sort in index.orders.items()
    }


def _known(index: Index) -> Item:
    return {**index.facets, **({SEVERAL: frozenset(index.several)} if index.several else {})}


def word_keys(kind: Kind, id: str, index: Index | None) -> dict[Key, bool]:
    """The keys of a record's words, and whether each belongs to a generation."""
    if index is None:
        return {}
    shards = kinds.SHAPES[index.version].word_shards
    shard = shard_of(id, shards)
    here, ahead = f"#{index.sort}#{id}", f"#{index.sort}+{index.generation}#{id}"
    places = (index.words, here, False), (index.ahead, ahead, True)
    return {
        (kind.word_pk(word, shard, shards), f"{escape(word)}{suffix}"): is_ahead
        for words, suffix, is_ahead in places
        for word in words
    }
