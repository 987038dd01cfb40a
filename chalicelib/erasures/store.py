"""The texts that an erasure searches for: `job_…` / `facts`, until it is done.

They are stored here because they may be gone elsewhere: an old response of a receiver may have an
earlier e-mail.
"""

from collections.abc import Iterable, Set
from typing import Final

from chalicelib.jobs import store as jobs
from chalicelib.problems import Problem
from chalicelib.storage import table
from chalicelib.storage.attributes import Item, Key
from chalicelib.values.forgetting import Person

_MOST_BYTES: Final = 300_000  # DynamoDB: 400 KB an item


class TooManyTexts(Problem):
    """The erasure fails: it would leave what it cannot remember."""

    status, code = 422, "too_many_texts"

    def __init__(self) -> None:
        super().__init__(
            f"The names, phones and addresses of this person exceed {_MOST_BYTES // 1000} KB, more"
            " than one erasure can search for. Part of the data is erased. Erase again: erased"
            " data no longer counts."
        )


def _key(job_id: str) -> Key:
    return job_id, "facts"


def person(job_id: str, ids: Iterable[str]) -> Person:
    return Person(frozenset(ids), frozenset(_item(job_id).get("texts", ())))


def moved(job_id: str) -> set[str]:
    """Ids of orders with addresses of the person that were moved to another customer."""
    return set(_item(job_id).get("orders", ()))


def learn_moved(job_id: str, person: Person, order_id: str) -> None:
    _add(job_id, person, orders={order_id})


def _item(job_id: str) -> Item:
    return table.get(_key(job_id)) or {}


def _add(job_id: str, person: Person, **more: Set[str]) -> None:
    those = {"of": frozenset(person.ids), "expiresAt": jobs.expires()}
    table.update(_key(job_id), add=more, assign=those)


def learn(job_id: str, known: Person, facts: Iterable[str]) -> Person:
    """The person, with more known texts. Raises TooManyTexts."""
    new = frozenset(facts) - known.facts
    both = known.facts | new
    if not new:
        return known
    if sum(len(fact.encode()) for fact in both) > _MOST_BYTES:
        raise TooManyTexts
    _add(job_id, known, texts=new)
    return Person(known.ids, both)


def forgotten(item: Item, person: Person) -> dict[str, object] | None:
    """None, which deletes it, for the texts of an earlier erasure of this person that did not
    end."""
    is_left = item["sk"] == "facts" and not person.ids.isdisjoint(item.get("of", ()))
    return None if is_left else {}


def unlearn(job_id: str) -> None:
    table.delete(_key(job_id))
