"""Work that advances in step, so that it shares its calls.

What several pieces of work read is one read, and what they write fits into few transactions.

A piece of work is a generator. It yields what it needs next, and is continued with the outcome.
"""

from collections.abc import Collection, Generator, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from botocore.exceptions import BotoCoreError, ClientError

from chalicelib.problems import Busy
from chalicelib.storage import table
from chalicelib.storage.attributes import Item, Key
from chalicelib.storage.commit import Commit, send_all

# Failures after which all work is done again. Any other is caused by what is worked on.
TEMPORARY: Final = (Busy, BotoCoreError, ClientError)


@dataclass(frozen=True)
class Need:
    """What a piece of work waits for.

    Items that are read, commits that are sent, or (`is_last`) the end of all other work.
    """

    keys: Collection[Key] = ()
    commits: Sequence[Commit] = ()
    is_last: bool = False


@dataclass(frozen=True)
class Outcome:
    """The result of what a piece of work needed.

    The items that exist of the keys of all work, and the failure of each commit that this one
    needed, in order; None is success.
    """

    items: dict[Key, Item]
    failures: list[Exception | None]


Work = Generator[Need, Outcome, None]


def run(works: Iterable[Work]) -> None:
    """Run pieces of work to their end, in rounds: what they need next is read or sent together.

    Those that need the end of all other work (`is_last`) are continued when no other work is left.
    When one raises, it is raised here, and the others stop where they are.
    """
    needs: dict[Work, Need] = {}
    for work in works:
        with suppress(StopIteration):
            needs[work] = next(work)
    while needs:
        begun = {work: need for work, need in needs.items() if not need.is_last} or needs.copy()
        for work, outcome in zip(begun, _perform([*begun.values()]), strict=True):
            del needs[work]
            with suppress(StopIteration):
                needs[work] = work.send(outcome)


def _perform(needs: Sequence[Need]) -> list[Outcome]:
    """Read the items, and then send the commits, of several pieces of work, each kind together.

    Return the outcome of each: the items of all of them, and the failures of its own commits.
    """
    keys = [key for need in needs for key in need.keys]
    commits = [commit for need in needs for commit in need.commits]
    items = table.batch_get(keys) if keys else {}
    failures = iter(send_all(commits) if commits else ())
    return [Outcome(items, [next(failures) for _ in need.commits]) for need in needs]
