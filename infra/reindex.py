"""Moves all records to the index of the deployed code, while the shop is in use.

    python infra/reindex.py --stage prod                # all kinds, 10 records a second
    python infra/reindex.py --stage prod product --rate 50

Run it after a deployment that splits text into other words, spreads lists or words over another
number of partitions, or adds a facet to a kind (docs/listing.md, Changing the index). If stopped,
it resumes; `--restart` starts again. It is done once a pass over all records finds none to move. A
record is always found: at its old place until it is at its new one.

Functions of the previous release may still run for a while after a deployment, and write the old
index. So the last pass begins at least `--settle` seconds after the start. Then totals are
recounted, and requests that were 503 `reindexing` are served.
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from chalicelib import listing
from chalicelib.customers import store as customers
from chalicelib.jobs import store as jobs
from chalicelib.listing.kinds import list_shards
from chalicelib.orders import store as orders
from chalicelib.problems import Busy
from chalicelib.products import store as products
from chalicelib.storage import table
from chalicelib.storage.attributes import Item
from chalicelib.values import clock
from infra import keys, release

ALL: Final = (products.RECORDS, orders.RECORDS, customers.RECORDS, jobs.RECORDS)
_LOOKED_AT_ONCE: Final = 100
_LONGEST_FUNCTION: Final = 900.0  # seconds: .chalice/config.json
_LOOKS_A_MOVE: Final = 50  # looking at a record takes a unit or two, moving one up to 200


@dataclass(frozen=True)
class Progress:
    """The progress of a pass over the records of a kind: `reindex` / `<kind>`.

    It goes through the lists of all records, newest spread first, so that what it moves is not
    met again, and newest record first, so that what is created meanwhile is not met at all.
    `after`: the position of the last record that was dealt with, in the partition `at`.
    """

    kind: str
    at: str = ""
    after: str = ""
    looked: int = 0
    moved: int = 0

    def save(self) -> None:
        item = {"at": self.at, "after": self.after, "looked": self.looked, "moved": self.moved}
        table.put({**_key(self.kind), **item, "saved": clock.iso(clock.now())})


def _key(kind: str) -> dict[str, str]:
    return {"pk": "reindex", "sk": kind}


def resumed(kind: str) -> Progress:
    """The pass that was not finished, or a new one."""
    item = table.get(("reindex", kind))
    if item is None:
        return Progress(kind)
    return Progress(kind, item["at"], item["after"], item["looked"], item["moved"])


def upgrade(records: listing.Records, rate: float, settled: float) -> int:
    """Moves all records of a kind and says that they are; how many were moved. `settled`: when
    (`time.monotonic`) no function of the previous release runs any more."""
    moved = move_all(records, rate)
    if listing.is_ready(records.kind):
        return moved
    if (wait := settled - time.monotonic()) > 0:
        print(
            f"waiting {wait:.0f} s, until no function of the previous release can run", flush=True
        )
        time.sleep(wait)
        moved += move_all(records, rate)
    listing.repair(listing.recount(records.kind).wrong)
    while not listing.retire(records.kind):
        moved += move_all(records, rate)
    return moved


def move_all(
    records: listing.Records, rate: float, sleep: Callable[[float], None] = time.sleep
) -> int:
    """Passes over all records of a kind until one finds none to move; how many were moved.

    `rate`: records moved a second. A pass that was broken off is finished first.
    """
    moved, progress = 0, resumed(records.kind.name)
    while True:
        fresh = progress == Progress(records.kind.name)
        progress = _passed(records, progress, rate, sleep)
        table.delete(("reindex", records.kind.name))
        moved += progress.moved
        if fresh and not progress.moved:
            return moved
        progress = Progress(records.kind.name)


def _passed(
    records: listing.Records, progress: Progress, rate: float, sleep: Callable[[float], None]
) -> Progress:
    for pk in _partitions(records.kind, progress.at):
        if pk != progress.at:
            progress = replace(progress, at=pk, after="")
        for positions in _slices(pk, progress.after):
            ids = {position: position.rsplit("#", 1)[1] for position in positions}
            # One call reads them all. A record that changes before its turn is read again.
            read = table.batch_get(map(records.key, ids.values()))
            for position, id in ids.items():
                start = time.monotonic()
                moved = _moved(records, id, read.get(records.key(id)))
                progress = replace(
                    progress,
                    after=position,
                    looked=progress.looked + 1,
                    moved=progress.moved + moved,
                )
                due = (1 if moved else 1 / _LOOKS_A_MOVE) / rate
                sleep(max(0.0, due - (time.monotonic() - start)))
            progress.save()
        print(f"{pk}: {progress.looked:,} checked, {progress.moved:,} moved", flush=True)
    return progress


def _partitions(kind: listing.Kind, start: str) -> Iterator[str]:
    """Those of the list of all records, from `start` on."""
    every = [kind.list_pk("*", at, of) for of in reversed(list_shards()) for at in range(of)]
    return iter(every[every.index(start) if start in every else 0 :])


def _slices(pk: str, after: str) -> Iterator[list[str]]:
    while True:
        below = table.sk.lt(after) if after else None
        rows = table.query(pk, where=below, forward=False, limit=_LOOKED_AT_ONCE, fields=("sk",))
        if rows.items:
            after = rows.items[-1]["sk"]
            yield [item["sk"] for item in rows.items]
        if rows.after is None:
            return


def _moved(records: listing.Records, id: str, read: Item | None) -> bool:
    while True:
        try:
            return listing.reindex(records, id, read)
        except Busy:
            read = None
            print(f"{id} keeps changing; trying again", flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    options = _options(arguments)
    keys.connect(options.stage, options.endpoint_url)
    settled = time.monotonic() + options.settle
    for records in ALL:
        name = records.kind.name
        if name not in options.kinds:
            continue
        if options.restart:
            table.delete(("reindex", name))
        print(f"{name}: {upgrade(records, options.rate, settled):,} moved")
    if set(options.kinds) == {records.kind.name for records in ALL}:
        release.reindexed()


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = [records.kind.name for records in ALL]
    parser.add_argument(
        "kinds", nargs="*", metavar="KIND", help=f"{', '.join(names)}; default: all"
    )
    parser.add_argument("--stage", required=True, help="such as prod, or local for `make run`")
    parser.add_argument("--endpoint-url", help="of an emulated AWS")
    parser.add_argument("--rate", type=float, default=10.0, help="records moved a second")
    parser.add_argument(
        "--settle",
        type=float,
        default=_LONGEST_FUNCTION,
        help="seconds for which functions of the previous release may run; 0 if there are none",
    )
    parser.add_argument("--restart", action="store_true", help="start from the beginning")
    options = parser.parse_args(arguments)
    options.kinds = options.kinds or names
    if unknown := set(options.kinds) - set(names):
        # To do nothing would look as if nothing was left to be moved.
        parser.error(f"no kind {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    if not options.rate > 0:
        parser.error("--rate must be more than 0")
    return options


if __name__ == "__main__":
    main()
