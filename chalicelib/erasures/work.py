"""An erasure: each of its phases rewrites one kind of what stays, in the order of `_PHASES`.

Nothing searches the whole shop. Orders are found by their customer; those that an edit moved to
another customer, by what the edit noted (`customers.list_moved`) and by the audit log. What ends
by itself within 30 days is left alone: `GONE_AFTER`.

Since the job was asked for, the customer takes no more orders (`hold_for_erasure`). A step that
crashes is repeated.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any, Final

from chalicelib import listing
from chalicelib.audit import store as audit
from chalicelib.audit.model import AuditEntry
from chalicelib.customers import store as customers
from chalicelib.customers.model import Customer, phone_digits
from chalicelib.erasures import jobs as requests
from chalicelib.erasures import texts
from chalicelib.facets import store as facets
from chalicelib.files import store as files
from chalicelib.imports import store as imports
from chalicelib.jobs import store as jobs
from chalicelib.jobs.model import KEPT_SECONDS, MOST_AT_ONCE, Job, RecordOutcome, RecordResult, Step
from chalicelib.orders import store as orders
from chalicelib.storage import idempotency, outbox, table
from chalicelib.storage.attributes import Item
from chalicelib.storage.conditions import Attr, all_of
from chalicelib.values import clock
from chalicelib.values.forgetting import Person, identifying_values

# Seconds after which it is gone by itself.
GONE_AFTER: Final = {
    "replies": idempotency.KEPT_SECONDS,
    "events": outbox.KEPT_SECONDS,
    "deliveries": outbox.KEPT_SECONDS,
    "undos": KEPT_SECONDS,
    "exports": KEPT_SECONDS,
    "imports": KEPT_SECONDS,
}
_SECONDS: Final = 10  # of a step that reads page after page
_LEFT_SECONDS: Final = 15 * 60  # running writes end within this time
_PAGE: Final = 100
_WAIT_SECONDS: Final = 15  # until the next check whether another job has ended

# A step whose `cursor` is None at the end of the phase, and how many of each it changed.
_Done = tuple[Step, Counter[str]]


@dataclass(frozen=True)
class _Erasure:
    """The job, whom it erases, and where its phase continues; `after`: None at its beginning."""

    job: Job
    customer: Customer
    person: Person
    after: Any

    def learn(self, facts: Iterable[str]) -> Person:
        """Store texts of the person before they are removed. Raise TooManyTexts."""
        return texts.remember(self.customer.id, self.person, facts)


def step(job: Job) -> Step:
    """Do the next step of the current phase; after the last phase, end the erasure."""
    at = job.cursor or _BEGINNING
    at = at if at["phase"] in _PHASES else _BEGINNING  # of release 1.0.0
    customer = customers.get(str(job.request["customer"]))
    person = texts.load_person(customer)
    done, changed = _PHASES[at["phase"]](_Erasure(job, customer, person, at["after"]))
    touched = dict(Counter(at["touched"]) + changed)
    phase = at["phase"] if done.cursor is not None else _FOLLOWING.get(at["phase"])
    if phase is not None:
        return replace(done, cursor={"phase": phase, "after": done.cursor, "touched": touched})
    texts.delete(customer.id)
    customers.let_go(customer.id, job.id)
    gone_by = {
        name: clock.iso(clock.seconds_from_now(seconds)) for name, seconds in GONE_AFTER.items()
    }
    return replace(done, set={"touched": touched, "goneBy": gone_by})


def _learn_names(erasure: _Erasure) -> _Done:
    """Learn the names, e-mails and phones that the customer had earlier.

    The audit log has changes, and a merge has noted what the other was called.
    """
    known = (table.get((erasure.job.id, "facts")) or {}).get("texts", ())  # release 1.0.0
    facts = {*known, *customers.load_former_texts(erasure.customer)}
    for id in sorted(erasure.person.ids):
        for page in _walk_entries({"recordId": id}):
            facts |= identifying_values(
                change for entry in page.records for change in entry.changes
            )
    erasure.learn(facts)
    return Step(), Counter()


def _erase_orders(erasure: _Erasure) -> _Done:
    query = orders.query_by_customer(erasure.customer.id, MOST_AT_ONCE).continue_after(
        erasure.after
    )
    page = orders.page(query)
    facts = [orders.facts_about(order, erasure.person) for order in page.records]
    person = erasure.learn(set().union(*facts))
    calls = [partial(orders.forget, order.id, person) for order in page.records]
    endings = [partial(files.delete_files, order.id) for order in page.records]
    total = {} if erasure.after else {"total": page.total + 1}  # and the customer
    done = Step.combine(map(RecordResult.from_change, jobs.run_together(calls)), page.next, **total)
    return done, Counter(orders=len(page.records), files=sum(jobs.run_together(endings)))


def _erase_customer(erasure: _Erasure) -> _Done:
    erasure.learn(erasure.person.facts_in(erasure.customer.fields))
    audit.unname(erasure.person.ids)
    facets.forget_tags(erasure.customer.fields)
    customers.forget_former_texts(erasure.customer)
    customers.forget(erasure.customer.id)
    return Step(counts={RecordOutcome.UPDATED: 1}), Counter(customers=1)


def _erase_moved(erasure: _Erasure) -> _Done:
    """Erase the person from orders that an edit moved to another customer."""
    ids = sorted(erasure.person.ids)
    customer_id, after = erasure.after or (ids[0], "")
    moved = customers.list_moved(customer_id, after, MOST_AT_ONCE)
    changed = _erase_moved_orders(erasure, moved)
    if len(moved) == MOST_AT_ONCE:
        return Step((customer_id, moved[-1])), changed
    following = next((id for id in ids if id > customer_id), None)
    return Step((following, "") if following else None), changed


def _erase_audit(erasure: _Erasure) -> _Done:
    """Clear the person's entries in the audit log, and moved orders that only the log knows."""
    ids = frozenset(erasure.person.ids)
    query = listing.Query({"customerId": ids}, limit=MOST_AT_ONCE, cursor=erasure.after or "*")
    page = audit.page(query)
    moved = {entry.order_id for entry in page.records if not ids.issuperset(entry.customers)}
    changed = _erase_moved_orders(erasure, sorted(filter(None, moved)))
    changed["audit"] += audit.clear(page.records, erasure.person)
    return Step(page.next), changed


def _erase_moved_orders(erasure: _Erasure, order_ids: Sequence[str]) -> Counter[str]:
    """Erase the person from orders that were also another customer's, and from their audit entries.

    In between, entries of such an order are about the other customer.
    """
    person, changed = erasure.person, Counter[str]()
    former = [order for order in orders.load(order_ids) if not person.is_about(order.fields)]
    person = erasure.learn(set().union(*(orders.facts_about(one, person) for one in former)))
    changed["orders"] += sum(orders.forget(order.id, person) for order in former)
    for order in former:
        files.redact_files(order.id, person.redact)
    for id in order_ids:
        for page in _walk_entries({"recordId": id}):
            changed["audit"] += audit.clear(page.records, person)
    return changed


def _walk_entries(where: Mapping[str, str]) -> Iterable[listing.Page[AuditEntry]]:
    wanted = {facet: frozenset({value}) for facet, value in where.items()}
    return listing.walk_pages(audit.page, listing.Query(wanted, limit=_PAGE, cursor="*"))


def _erase_values(erasure: _Erasure) -> _Done:
    """Erase values to choose from, and saved mappings, that mention the person."""
    person = erasure.person
    changed = Counter(values=facets.forget(person), mappings=imports.forget_mappings(person))
    for page in _walk_entries({"type": "mapping"}):
        changed["audit"] += audit.clear(page.records, person)
    return Step(), changed


def _erase_requests(erasure: _Erasure) -> _Done:
    """Erase mentions in requests and names of jobs.

    A job at work that needs its own has to end first: all are read again until none does.
    """
    at = dict(erasure.after or _FIRST_PASS)
    changed, until = Counter[str](), time.monotonic() + _SECONDS
    while time.monotonic() < until:
        page = jobs.page(listing.Query(limit=_PAGE, cursor=at["page"]))
        for job in page.records:
            at["again"] |= requests.is_needed(job, erasure.person)
            current = _end_waiting(job, erasure)
            if changes := requests.redact_job(current, erasure.person):
                same = all_of(Attr(name).eq(current.fields[name]) for name in changes)
                at["again"] |= not jobs.update_if(job.id, same, assign=changes)
                changed["jobs"] += 1
        if page.next is None:
            again = at["again"]
            return Step(_FIRST_PASS if again else None, wait=again * _WAIT_SECONDS), changed
        at["page"] = page.next
    return Step(at), changed


def _end_waiting(job: Job, erasure: _Erasure) -> Job:
    """Return the job, failed if it is an import that waits for a mapping.

    Its file may name the person, and an answer would copy it.
    """
    if not requests.is_waiting(job, before=str(erasure.job.fields["createdAt"])):
        return job
    jobs.fail(job.id, "customer_erased", requests.NO_MAPPING, row=None)
    return jobs.get(job.id)


def _erase_words(erasure: _Erasure) -> _Done:
    """Delete search words of the person that failed writes left."""
    phones = map(phone_digits, erasure.person.facts)
    words = sorted(listing.words_of([*erasure.person.facts, *phones]))
    before, until = clock.unix() - _LEFT_SECONDS, time.monotonic() + _SECONDS
    changed = Counter[str]()
    for number, word in islice(enumerate(words, 1), erasure.after or 0, None):
        for records in (orders.RECORDS, customers.RECORDS):
            changed["words"] += listing.discard_words(records, word, before)
        if time.monotonic() > until:
            return Step(number), changed
    return Step(), changed


_PHASES: Final[Mapping[str, Callable[[_Erasure], _Done]]] = {
    "names": _learn_names,
    "orders": _erase_orders,
    "customer": _erase_customer,
    "moved": _erase_moved,
    "audit": _erase_audit,
    "values": _erase_values,
    "jobs": _erase_requests,
    "words": _erase_words,
}
_FOLLOWING: Final = dict(zip(_PHASES, list(_PHASES)[1:], strict=False))
_BEGINNING: Final[Item] = {"phase": "names", "after": None, "touched": {}}
_FIRST_PASS: Final = {"page": "*", "again": False}
