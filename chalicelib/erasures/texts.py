"""The texts that an erasure searches for: `cus_…` / `erasing`, until it is done.

They are stored because they may be gone elsewhere: an old note may name an earlier e-mail. They
belong to the customer, not to the job, so a second erasure knows what a failed one found.
"""

from collections.abc import Iterable
from typing import Final

from chalicelib.customers.model import Customer
from chalicelib.jobs import store as jobs
from chalicelib.problems import Problem
from chalicelib.storage import table
from chalicelib.storage.attributes import Key
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


def _key(customer_id: str) -> Key:
    return customer_id, "erasing"


def load_person(customer: Customer) -> Person:
    """Return the customer, with those who were merged into it and the texts that are known."""
    known = (table.get(_key(customer.id)) or {}).get("texts", ())
    return Person(frozenset([customer.id, *customer.merged_ids]), frozenset(known))


def remember(customer_id: str, person: Person, texts: Iterable[str]) -> Person:
    """Store more texts of the person; return the person with all of them. Raise TooManyTexts."""
    new = frozenset(texts) - person.facts
    both = person.facts | new
    if not new:
        return person
    if sum(len(text.encode()) for text in both) > _MOST_BYTES:
        raise TooManyTexts
    table.update(_key(customer_id), add={"texts": new}, assign={"expiresAt": jobs.expires()})
    return Person(person.ids, both)


def delete(customer_id: str) -> None:
    """Delete the texts of a person who is erased."""
    table.delete(_key(customer_id))
