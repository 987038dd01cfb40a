"""Access to DynamoDB: get, batch_get, query, and writes of one item (`commit.py`: of several).

Items are plain Python values: str, int, Decimal, bool, None, list, dict, frozenset of str. Every
read is consistent: what a write answered is what the next read shows. Keys are `(pk, sk)`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial, update_wrapper
from typing import Any, Final, Generic, ParamSpec, TypeVar

from botocore.exceptions import ClientError

from chalicelib import aws, settings
from chalicelib.storage.attributes import (
    Expressions,
    Item,
    Key,
    pack,
    pack_key,
    unpack,
    update_request,
    write_request,
)
from chalicelib.storage.conditions import Attr, Condition
from chalicelib.storage.dynamodb import DynamoCall, Wire, wait_for_results
from chalicelib.values.batches import batches

BATCH_KEYS: Final = 100  # AWS: at most 100 keys in a BatchGetItem call
BATCH_WRITES: Final = 25  # AWS: at most 25 writes in a BatchWriteItem call
_CALL_ITEMS: Final = 5_000  # about as many keys fill the 1 MB of a call

client = partial(aws.client, "dynamodb")
absent = Attr("pk").not_exists()
present = Attr("pk").exists()
sk = Attr("sk")  # for `query(…, where=sk.begins_with(…))`


P = ParamSpec("P")
T = TypeVar("T")


class CallMaker(Generic[P, T]):
    """A function that makes a DynamoCall, and usually also waits for it.

    `get(key)` sends the call and returns its result; `get.call(key)` returns the call itself, for
    `dynamodb.wait_for_results`.
    """

    def __init__(self, make: Callable[P, DynamoCall[T]]) -> None:
        self.call = make
        update_wrapper(self, make)

    def __call__(self, *args: P.args, **options: P.kwargs) -> T:
        """Send the call with these arguments, wait for it, and return its result."""
        return self.call(*args, **options).wait_for_result()


class ConditionFailed(Exception):
    """A condition without an error of its own did not hold. `old` is the item that was there."""

    def __init__(self, key: Key, old: Item | None) -> None:
        super().__init__(f"condition on {key} failed")
        self.key, self.old = key, old


_permission: ContextVar[Callable[[], object]] = ContextVar("permission", default=lambda: None)


@contextmanager
def writing_after(permission: Callable[[], object]) -> Iterator[None]:
    """Call `permission` before each write in the `with` block; it waits, and raises to forbid it.

    A request is admitted while it reads (`request/authenticate.py`): nothing is written before.
    """
    token = _permission.set(permission)
    try:
        yield
    finally:
        _permission.reset(token)


def await_permission() -> None:
    """Wait until this context may write (`writing_after`), or raise why it may not.

    A context without `writing_after` always may.
    """
    _permission.get()()


class _WriteCall(DynamoCall[T]):
    def send(self) -> None:
        """Wait until this context may write (`await_permission`), then send; or raise why not."""
        await_permission()
        super().send()


@CallMaker
def get(key: Key, table: str | None = None) -> DynamoCall[Item | None]:
    """Read the item with a key, None if there is none; from the main table unless another is named.

    `.call(…)` returns the call, unsent.
    """
    name = table or settings.table()
    request = {"TableName": name, "Key": pack_key(key), "ConsistentRead": True}
    return DynamoCall(
        "GetItem", request, lambda reply: unpack(reply["Item"]) if "Item" in reply else None
    )


def batch_get(
    keys: Iterable[Key], table: str | None = None, fields: Iterable[str] = ()
) -> dict[Key, Item]:
    """Read the items with these keys, each key once; return those that exist, by key.

    They are read in calls of 100 made at the same time, from the main table unless another is
    named. `fields`: only these attributes and the key are read; none: all. Without keys there is no
    call. Raises Busy when DynamoDB leaves keys unprocessed for too long.
    """
    wanted = list(dict.fromkeys(keys))
    name, only = table or settings.table(), _projection(fields)
    replies = wait_for_results(
        [_batch_get_call(name, part, only) for part in batches(wanted, BATCH_KEYS)]
    )
    return {key: item for part in replies for key, item in part.items()}


def _projection(fields: Iterable[str]) -> dict[str, object]:
    """Return the part of a request that limits it to these fields and the key.

    {ProjectionExpression, ExpressionAttributeNames}; {}, for all attributes, if `fields` has none
    but the key.
    """
    expressions = Expressions()
    names = [expressions.name(field) for field in dict.fromkeys(("pk", "sk", *fields))]
    return expressions.add_to({"ProjectionExpression": ", ".join(names)}) if len(names) > 2 else {}


def _batch_get_call(
    name: str, keys: Sequence[Key], only: dict[str, object]
) -> DynamoCall[dict[Key, Item]]:
    """Return the unsent call that reads at most 100 keys of the table `name`.

    It results in {key: item} of those that exist. `only`: its projection (`_projection`).
    """
    request = {"Keys": [pack_key(key) for key in keys], "ConsistentRead": True, **only}
    items: dict[Key, Item] = {}

    def collect_items(reply: Wire) -> dict[Key, Item]:
        """Add the items of a reply to those of earlier attempts; return all of them, by key."""
        for item in map(unpack, reply["Responses"].get(name, ())):
            items[item["pk"], item["sk"]] = item
        return items

    return _batch_call("BatchGetItem", {name: request}, collect_items)


def _batch_call(
    operation: str, items: Wire, read: Callable[[Wire], object] = lambda reply: None
) -> DynamoCall[Any]:
    """Return the unsent call of a batch; what DynamoDB leaves unprocessed counts as a throttle.

    The next attempt, after a pause, asks only for what was left. `items`: the `RequestItems`.
    `read` gets the reply of each attempt, and its value for the last one is the result: so it has
    to accumulate.
    """
    request: dict[str, object] = {"RequestItems": items}

    def read_unless_unprocessed(reply: Wire) -> object:
        """Return what `read` makes of a reply; if some of the batch is left, raise a throttle.

        The next attempt then asks only for what is left.
        """
        value, left = read(reply), reply.get("UnprocessedKeys") or reply.get("UnprocessedItems")
        if left:
            request["RequestItems"] = left
            raise ClientError({"Error": {"Code": "ThrottlingException"}}, operation)
        return value

    return DynamoCall(operation, request, read_unless_unprocessed)


@dataclass(frozen=True)
class Rows:
    """One page of a query. `after`: the `sk` after which the next one starts, None at the end."""

    items: list[Item]
    after: str | None


@CallMaker
def query(
    pk: str,
    *,
    where: Condition | None = None,
    matching: Condition | None = None,
    after: str | None = None,
    forward: bool = True,
    limit: int | None = None,
    fields: Sequence[str] = (),
    then: Callable[[Rows], object] = lambda rows: rows,
) -> DynamoCall[Rows]:
    """Read up to `limit` items (or 1 MB) of one partition in the order of `sk`; one call.

    `where` is a condition on `sk`; `matching` drops items after they were read and paid for, so
    `limit` counts them; `after` is the `sk` to continue after (before, unless `forward`); `fields`:
    only these attributes; none: all. `then(rows)` returns the result in place of the rows, or the
    call that follows. `.call(…)` returns the call, unsent.
    """
    expressions = Expressions()
    request = _query_request(expressions, pk, where, matching)
    request["ScanIndexForward"] = forward
    if fields:
        request["ProjectionExpression"] = ", ".join(expressions.name(field) for field in fields)
    if limit is not None:
        request["Limit"] = limit
    if after is not None:
        request["ExclusiveStartKey"] = pack_key((pk, after))
    return DynamoCall("Query", expressions.add_to(request), lambda reply: then(_parse_rows(reply)))


def _query_request(
    expressions: Expressions, pk: str, where: Condition | None, matching: Condition | None
) -> dict[str, object]:
    """Return the request of a consistent query of a partition, without its names and values.

    These are registered in `expressions`; the caller adds them. `where`: a condition on `sk`;
    `matching`: a filter.
    """
    partition = Attr("pk").eq(pk)
    on_key = partition if where is None else partition & where
    request: dict[str, object] = {
        "TableName": settings.table(),
        "KeyConditionExpression": expressions.condition(on_key),
        "ConsistentRead": True,
    }
    if matching is not None:
        request["FilterExpression"] = expressions.condition(matching)
    return request


def _parse_rows(reply: Wire) -> Rows:
    """Return the items of a reply to a query, and the `sk` to continue after (None at the end)."""
    last = reply.get("LastEvaluatedKey")
    return Rows([unpack(stored) for stored in reply["Items"]], last["sk"]["S"] if last else None)


@dataclass(frozen=True)
class Tally:
    """How many items of a partition pass (`passed`), of those that were looked at (`looked`).

    `whole`: they are all of the partition.
    """

    passed: int
    looked: int
    whole: bool


@CallMaker
def tally(
    pk: str, *, where: Condition | None, matching: Condition | None, look_at_least: int
) -> DynamoCall[Tally]:
    """Look at the first items of a partition, at least `look_at_least` of them or all; count them.

    The Tally says how many were looked at, how many of those passed `matching`, and whether they
    were all (`whole`). No item is returned. `where`: a condition on `sk`, on what is looked at. It
    takes several calls if one does not reach so many. `.call(…)` returns the call, unsent.
    """
    expressions = Expressions()
    request = _query_request(expressions, pk, where, matching)
    request["Select"] = "COUNT"
    if look_at_least < _CALL_ITEMS:
        request["Limit"] = look_at_least
    expressions.add_to(request)

    def add_page(so_far: Tally, reply: Wire) -> Tally | DynamoCall[object]:
        """Add a page's items to the tally: passed, looked at, and whether it was the last page.

        Return the tally, or the call for the next page, if there is one and fewer than
        `look_at_least` items were looked at.
        """
        last = reply.get("LastEvaluatedKey")
        passed, looked = int(reply["Count"]), int(reply["ScannedCount"])
        now = Tally(so_far.passed + passed, so_far.looked + looked, last is None)
        if last is None or now.looked >= look_at_least:
            return now
        return DynamoCall("Query", {**request, "ExclusiveStartKey": last}, partial(add_page, now))

    return DynamoCall("Query", request, partial(add_page, Tally(0, 0, False)))


@CallMaker
def query_all(pk: str, **options: object) -> DynamoCall[list[Item]]:
    """Read all items of a partition that is known to be small, in as many calls as it takes.

    `options`: those of `query`, without `limit`, `after` and `then`. `.call(…)` returns the call,
    unsent.
    """

    def add_rows(before: list[Item], rows: Rows) -> list[Item] | DynamoCall[object]:
        """Add a page to the items before it.

        Return all, or the call for the next page if there is one.
        """
        items = before + rows.items
        if rows.after is None:
            return items
        return query_page(items, {**options, "after": rows.after})

    def query_page(before: list[Item], page_options: dict[str, Any]) -> DynamoCall[Any]:
        """Return the call for one page, whose items are added to those before it."""
        return query.call(pk, **page_options, then=partial(add_rows, before))

    return query_page([], options)


def pages(pk: str, **options: Any) -> Iterator[list[Item]]:
    """Yield the items of a partition in pages, a call at a time: there may be a million of them.

    Each page is read when it is asked for; it may be empty. `options`: those of `query`; with a
    `limit`, a page has at most so many.
    """
    rows = query(pk, **options)
    yield rows.items
    while rows.after is not None:
        rows = query(pk, **{**options, "after": rows.after})
        yield rows.items


def scan(name: str, after: Key | None) -> tuple[list[Item], Key | None]:
    """Read items of a whole table, up to 1 MB; return them and the key to continue after.

    The key is None at the end. `name`: of the table. `after`: the key to begin after; None: the
    begin. It is no snapshot.
    """
    request: dict[str, object] = {"TableName": name, "ConsistentRead": True}
    if after is not None:
        request["ExclusiveStartKey"] = pack_key(after)
    reply = DynamoCall[Wire]("Scan", request).wait_for_result()
    last = reply.get("LastEvaluatedKey")
    return [unpack(item) for item in reply["Items"]], (
        last["pk"]["S"],
        last["sk"]["S"],
    ) if last else None


def put(item: Item, when: Condition | None = None, table: str | None = None) -> None:
    """Write an item in place of any with its key, to the main table unless another is named.

    It waits until this context may write. Raises ConditionFailed, with the old item, if `when` does
    not hold.
    """
    request = write_request(table or settings.table(), {"Item": pack(item)}, when)
    _write_call("PutItem", request, (item["pk"], item["sk"])).wait_for_result()


@CallMaker
def update(
    key: Key,
    *,
    assign: Mapping[str, object] | None = None,
    add: Mapping[str, object] | None = None,
    remove: Iterable[str] = (),
    when: Condition | None = None,
) -> DynamoCall[Item]:
    """Update an item, or create it, and return the whole item after that.

    `assign`: values by path; `add`: numbers to add (an attribute that is not there begins with 0);
    `remove`: attributes. One of these has to be given. It waits until this context may write.
    Raises ConditionFailed, with the old item (None: there is none), if `when` does not hold.
    `.call(…)` returns the call, unsent.
    """
    request = update_request(
        settings.table(), key, assign=assign, add=add, remove=remove, when=when
    )
    request["ReturnValues"] = "ALL_NEW"
    return _write_call("UpdateItem", request, key, lambda reply: unpack(reply["Attributes"]))


def update_if(
    key: Key,
    when: Condition,
    *,
    assign: Mapping[str, object] | None = None,
    remove: Iterable[str] = (),
) -> bool:
    """Update an item on a condition, as `update` does; return whether the condition held.

    Without it nothing is written.
    """
    try:
        update(key, assign=assign, remove=remove, when=when)
    except ConditionFailed:
        return False
    return True


@CallMaker
def delete(key: Key, when: Condition | None = None) -> DynamoCall[object]:
    """Delete an item, which need not be there. Raises ConditionFailed if `when` does not hold.

    It waits until this context may write. `.call(…)` returns the call, unsent.
    """
    request = write_request(settings.table(), {"Key": pack_key(key)}, when)
    return _write_call("DeleteItem", request, key)


def batch_write(puts: Iterable[Item] = (), deletes: Iterable[Key] = ()) -> None:
    """Write and delete different items of the main table, without conditions, and not as one.

    It waits until this context may write (`await_permission`), also for no items. Calls of 25 are
    made at the same time. Raises Busy when DynamoDB leaves some unprocessed for too long.
    """
    writes: list[dict[str, object]] = [{"PutRequest": {"Item": pack(item)}} for item in puts]
    writes += [{"DeleteRequest": {"Key": pack_key(key)}} for key in deletes]
    await_permission()
    name = settings.table()
    parts = batches(writes, BATCH_WRITES)
    wait_for_results([_batch_call("BatchWriteItem", {name: part}) for part in parts])


def _write_call(
    operation: str,
    request: Wire,
    key: Key,
    read: Callable[[Wire], object] = lambda reply: None,
) -> DynamoCall[Any]:
    """Return the unsent call of a write of one item, which results in `read(reply)`.

    `request`: all of it. The call raises ConditionFailed, whose `old` is known only if the request
    asks for the item on a failed condition.

    A write whose answer is lost is sent again, and may then fail its own condition. Who must tell
    that from the write of another puts a marker into the item, and looks for it in `old`.
    """

    def to_condition_failed(error: ClientError) -> Exception:
        """Return ConditionFailed with the old item, or `error` itself if it is another."""
        if error.response["Error"]["Code"] != "ConditionalCheckFailedException":
            return error
        reply: Wire = {**error.response}
        return ConditionFailed(key, unpack(reply.get("Item", {})) or None)

    return _WriteCall(operation, request, read, to_condition_failed)
