"""An erasure, in this order, so that nothing mentions the person again after it was read, except
the response to an attempt that was under way (docs/customers.md):

1. the orders of the customer, each in its own commit;
2. the customer's record;
3. the customer's addresses in orders that were moved to another customer: the whole table;
4. the bodies of events: the whole outbox;
5. the whole table: kept replies, receivers' responses, requests of jobs, words of failed writes,
   entries of the audit log, values in use;
6. files of exports;
7. jobs that ran meanwhile, and imports: uploaded files, reports, and quotes of them in jobs.

Since the job was asked for, the customer takes no more orders (`hold_for_erasure`). A step that
crashes is repeated; counted are all items about the person, changed before or not.
"""

import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, Final

from chalicelib import listing, settings
from chalicelib.audit import store as audit
from chalicelib.customers import store as customers
from chalicelib.customers.model import phone_digits
from chalicelib.erasures import store
from chalicelib.exports import store as exports
from chalicelib.facets import store as facets
from chalicelib.imports.forgotten import store as imports
from chalicelib.imports.forgotten.store import Left
from chalicelib.jobs import store as jobs
from chalicelib.jobs.model import MOST_AT_ONCE, Job, RecordOutcome, Step
from chalicelib.orders import store as orders
from chalicelib.storage import idempotency, outbox, table
from chalicelib.storage.attributes import Item, Key
from chalicelib.storage.conditions import Attr, all_of
from chalicelib.undo import store as undo
from chalicelib.values import clock
from chalicelib.values.forgetting import Person
from chalicelib.webhooks import store as webhooks

_SECONDS: Final = 10  # of a step that scans a table
_LEFT_SECONDS: Final = 15 * 60  # running writes end within this time
_JOBS: Final = 50
_IMPORT_SECONDS: Final = 15  # until the next check whether an import has ended


# Of a phase, whose `cursor` is None at its end, and how many of each it changed.
_Done = tuple[Step, Counter[str]]


def step(job: Job) -> Step:
    """The next step of the phase that it is in."""
    at = job.cursor or {"phase": 0, "after": None, "touched": {}}
    if at["phase"] == len(_PHASES):
        store.unlearn(job.id)
        customers.let_go(str(job.asked["customer"]), job.id)
        return Step(set={"touched": at["touched"]})
    customer = customers.get(str(job.asked["customer"]))
    person = store.person(job.id, [customer.id, *customer.merged])
    done, touched = _PHASES[at["phase"]](job, person, at["after"])
    following = at["phase"] + (done.cursor is None)
    touched = Counter(at["touched"]) + touched
    cursor = {"phase": following, "after": done.cursor, "touched": dict(touched)}
    return replace(done, cursor=cursor)


def _orders(job: Job, person: Person, after: str | None) -> _Done:
    customer = customers.get(str(job.asked["customer"]))
    page = orders.page(orders.of_customer(customer.id, MOST_AT_ONCE).after(after))
    facts = [person.facts_in(one.fields) for one in (customer, *page.records)]
    person = store.learn(job.id, person, set().union(*facts))
    calls = [partial(orders.forget, order.id, person) for order in page.records]
    total = {} if job.step else {"total": page.total + 1}  # and the customer
    done = Step.together(map(Step.changed, jobs.at_once(calls)), page.next, **total)
    return done, Counter(orders=len(page.records))


def _customer(job: Job, person: Person, after: object) -> _Done:
    customer = customers.get(str(job.asked["customer"]))
    store.learn(job.id, person, person.facts_in(customer.fields))
    audit.unname(person.ids)
    facets.forget_tags(customer.fields)
    customers.forget(customer.id)
    return Step(counts={RecordOutcome.UPDATED: 1}), Counter(customers=1)


def _moved(job: Job, person: Person, after: object) -> _Done:
    def facts(item: Item) -> set[str]:
        return orders.former_facts(item, person)

    def look(item: Item) -> Counter[str]:
        if not orders.was_of(item, person):
            return Counter()
        store.learn_moved(job.id, person, item["pk"])
        orders.forget(item["pk"], store.person(job.id, person.ids))
        return Counter(orders=1)

    return _through(settings.table(), after, look, partial(_learn, job, person, facts))


def _events(job: Job, person: Person, after: object) -> _Done:
    def look(item: Item) -> Counter[str]:
        about, _, left = outbox.forgotten(item, person)
        if left != item:
            with suppress(table.ConditionFailed):  # it has just expired
                table.put(left, when=table.present, table=settings.outbox_table())
        return Counter(events=about)

    def facts(item: Item) -> set[str]:
        return outbox.forgotten(item, person)[1]

    return _through(settings.outbox_table(), after, look, partial(_learn, job, person, facts))


def _learn(job: Job, person: Person, facts: Callable[[Item], set[str]], items: list[Item]) -> None:
    """Before they are removed, the person's texts are stored."""
    store.learn(job.id, store.person(job.id, person.ids), set().union(*map(facts, items)))


def _table(job: Job, person: Person, after: object) -> _Done:
    phones = map(phone_digits, person.facts)
    words = listing.words_of([*person.facts, *phones])
    left_before = clock.unix() - _LEFT_SECONDS

    def is_theirs(word: str, id: str) -> bool:
        return id in person.ids or word in words or person.mentions(word)

    def look(item: Item) -> Counter[str]:
        if item["pk"] == job.id:
            return Counter()
        for name, forgotten in _FORGOTTEN.items():
            changes = forgotten(item, person)
            if changes is None:
                table.delete((item["pk"], item["sk"]))
            elif changes:
                _change(item, changes)
            if name == "undos" and changes:  # it may have been undone since the orders were erased
                orders.forget(undo.record_of(item), person)
            if changes != {}:
                return Counter({name: 1})
        for records in (orders.RECORDS, customers.RECORDS):
            if listing.discard(records, item, is_theirs, left_before):
                return Counter(words=1)
        return Counter()

    return _through(settings.table(), after, look)


_FORGOTTEN: Final[Mapping[str, Callable[[Item, Person], dict[str, object] | None]]] = {
    "replies": idempotency.forgotten,
    "attempts": webhooks.forgotten,
    "jobs": jobs.forgotten,
    "undos": undo.forgotten,
    "erasures": store.forgotten,
    "audit": audit.forgotten,
    "values": facets.forgotten,
}


def _change(item: Item, changes: Mapping[str, object]) -> None:
    """If the item changed meanwhile, its current version is changed."""
    same = all_of(Attr(name).eq(item[name]) for name in changes)
    key: Key = item["pk"], item["sk"]
    try:
        table.update(key, assign=changes, when=same)
    except table.ConditionFailed as failed:
        if failed.old is not None:
            raise


def _through(
    name: str,
    after: Any,
    look: Callable[[Item], Counter[str]],
    before: Callable[[list[Item]], None] = lambda items: None,
) -> _Done:
    """Scans a table, for some seconds."""
    touched: Counter[str] = Counter()
    until = time.monotonic() + _SECONDS
    place: Key | None = tuple(after) if after else None  # JSON has no tuples
    while True:
        items, place = table.scanned(name, place)
        before(items)
        for item in items:
            touched += look(item)
            if time.monotonic() > until:
                return Step((item["pk"], item["sk"])), touched
        if place is None:
            return Step(), touched


def _exports(job: Job, person: Person, after: Any) -> _Done:
    page = jobs.page(listing.Query(limit=_JOBS).after(after))
    those = sorted(person.ids | store.moved(job.id))
    gone = sum(exports.forget(each, those) for each in page.records)
    return Step(page.next), Counter(exports=gone)


def _jobs(job: Job, person: Person, after: Any) -> _Done:
    """All jobs, repeatedly until nothing is left: a `retry` may have copied a file before that was
    deleted, and jobs that are running have to end first."""
    begin = {"page": "", "found": False, "waits": False}
    at = after or dict(begin)
    page = jobs.page(listing.Query(limit=_JOBS, cursor=at["page"]))
    touched: Counter[str] = Counter()
    until = time.monotonic() + _SECONDS
    for each in page.records:
        left = imports.forget(each, person, str(job.fields["createdAt"]), until)
        at["found"] |= left is not Left.NOTHING
        if left is Left.MORE:
            return Step(at), touched
        remains = _names(each, person)
        at["found"] |= remains
        at["waits"] |= remains or left is Left.OPEN
        touched["imports"] += left is Left.GONE
    if page.next is not None:
        return Step({**at, "page": page.next}), touched
    wait = _IMPORT_SECONDS if at["waits"] else 0
    return Step(begin if at["found"] else None, wait=wait), touched


def _names(job: Job, person: Person) -> bool:
    """Whether a job is running that names the person. In one that has ended since the table was
    scanned, the person is replaced here."""
    if not jobs.names(job, person):
        return False
    if job.has_ended:
        item = dict(job.fields)
        _change(item, jobs.forgotten(item, person))
    return not job.has_ended


_PHASES: Final = (_orders, _customer, _moved, _events, _table, _exports, _jobs)
