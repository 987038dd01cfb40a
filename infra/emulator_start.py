"""Starts ministack, with some of its functions replaced.

    python -P infra/emulator_start.py

Its answers stay the same, but for `compress` (`tests/e2e/test_emulator.py`), and large shops and
imports are slow without this (docs/decisions/emulator.md):

- `Index`: a Query reads what it answers, not the whole partition.
- `parse_once`, `check_once`: a role's policies, a request's body and an expression are parsed once,
  and a transaction is authorized once for each action and table.
- `read_fast`: the JSON of requests is read, and items are copied, by orjson.
- `measure_fast`: the sizes of items are counted with fewer calls.
- `take_turns`: other requests are served between two transactions.
- `compress`: an API with a minimum compression size compresses its answers, as AWS does.
- `fail_alone`: an invocation whose process cannot start ends no others.
- `start_few`: waiting requests get a free process of the function before they start another.
- `delete_beside`: a changed function's old code is deleted while requests are served.
- `stop_soon`: it ends as soon as its data is written.
- `name_replacing_properties`: a change set says, as AWS does, that only another name replaces a
  bucket. The emulator knows that of other types alone.

In another version than the one that was tested, nothing of these is replaced. Always, `protect` and
`hide_sessions` let only this folder's own programs ask it, and `keep` writes snapshots.
"""

import asyncio
import copy
import gc
import gzip
import hashlib
import importlib.metadata
import json
import os
import re
import subprocess
import sys
import threading
import time
from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from infra import emulator_guard, emulator_snapshots

TESTED = "1.5.33"
_SMALL = 64  # items, which are as quickly sorted
_LAST = "\U0010ffff" * 2
_STARTING = 2  # processes of a function at once
_PATIENCE = 0.3  # seconds in which a free process may come back
_LONGEST_WAIT = 20.0  # seconds
_SURELY_SMALL = 1_000_000  # bytes of a transaction in short JSON; it may have 4 MB in long JSON
_HOPS = 10  # of the event loop, from the arrival of a request to its answer

Answer = tuple[int, dict[str, str], Any]
Wire = Mapping[str, Any]
# `#0 = :0`, or followed by a condition on the sort key; anything else is not for us.
_CONDITION = re.compile(
    r"\(?(?P<pk_name>#?\w+) = (?P<pk>:\w+)"
    r"(?: AND (?:begins_with\((?P<begin_name>#?\w+), (?P<begin>:\w+)\)"
    r"|(?P<between_name>#?\w+) BETWEEN (?P<low>:\w+) AND (?P<high>:\w+)"
    r"|(?P<compared_name>#?\w+) (?P<sign><=|<|>=|>|=) (?P<bound>:\w+)))?\)?"
)


class Span(NamedTuple):
    """A partition, and between which sort keys the query looks, both included."""

    partition: str
    low: str
    high: str


def main() -> None:
    """In the interpreter that ministack is installed for."""
    state = Path(os.environ["STATE_DIR"])
    os.environ["STATE_DIR"] = str(emulator_snapshots.find_newest(state))
    from ministack import app
    from ministack.core import iam_actions, iam_evaluator, lambda_runtime
    from ministack.services import apigateway_v1, dynamodb, lambda_svc, s3
    from ministack.services.cloudformation import provisioners

    if app.PERSIST_STATE:
        keep(app, lambda_svc, state)
    protect(app, iam_evaluator, s3)
    hide_sessions(lambda_runtime, lambda_svc)
    version = importlib.metadata.version("ministack")
    if version == TESTED:
        Index(dynamodb).install()
        compress(apigateway_v1)
        fail_alone(lambda_runtime.Worker)
        start_few(lambda_runtime, lambda_svc)
        delete_beside(lambda_runtime.Worker)
        measure_fast(dynamodb)
        read_fast(dynamodb, iam_actions)  # before the next, which keeps its `loads`
        parse_once(dynamodb, iam_actions, iam_evaluator)
        check_once(iam_actions)
        take_turns(app)
        stop_soon()
        name_replacing_properties(provisioners)
        # A full collection walks all the shop's data, and stops every request for seconds.
        gc.set_threshold(20_000, 20, 1_000_000)
    else:
        print(f"ministack {version} is not the tested {TESTED}: large lists are slow", flush=True)
    app.main()


def keep(app: ModuleType, functions: ModuleType, folder: Path) -> None:
    """Keep the data by snapshots.

    The emulator's own way writes all data when it stops, in minutes, over what it wrote before.
    """
    from ministack.core import persistence

    def write_state(name: str, state: Any, target: Path) -> None:
        version = persistence._state_format_version(name)
        wrapped = {"__ministack_format__": version, "payload": state}
        emulator_snapshots.write_json(target / f"{name}.json", wrapped, persistence._json_default)

    def write_states() -> None:
        functions.__dict__["CODE_BLOB_DIR"] = str(folder / "unfinished/lambda-blobs")
        states = app._build_persistence_save_dict
        emulator_snapshots.write_snapshot(folder, states, write_state)

    snapshots = emulator_snapshots.Snapshots(folder, write_states)
    app.__dict__["save_all"] = lambda _: snapshots.finish()
    app.__dict__["app"] = snapshots.watch(app.app)


def protect(app: ModuleType, evaluator: ModuleType, s3: ModuleType) -> None:
    """Refuse requests without the key.

    The emulator's own server answers every request of any program and web page on this machine.
    """
    from ministack.services import sts

    def is_session(key: str) -> bool:
        return key in sts._sessions or evaluator.find_iam_access_key_account(key) is not None

    own_key = os.environ["AWS_ACCESS_KEY_ID"]
    app.__dict__["app"] = emulator_guard.guard(app.app, own_key, is_session)
    # Only forms without a signature are checked here, and written otherwise.
    s3.__dict__["_enforce_post_policy_size"] = lambda *_: s3._error(
        "AccessDenied", "Access Denied", 403
    )


def hide_sessions(*modules: ModuleType) -> None:
    """Its own derives the keys of a function's session from names that everybody knows."""
    salt = os.environ["AWS_SECRET_ACCESS_KEY"].encode()
    salted = SimpleNamespace(sha256=lambda text: hashlib.sha256(salt + text))
    own = modules[0].execution_credentials
    hidden = FunctionType(own.__code__, {**vars(modules[0]), "hashlib": salted})
    for module in modules:
        module.__dict__["execution_credentials"] = hidden


def compress(gateway: ModuleType) -> None:
    """Compress answers as AWS does.

    The emulator keeps `minimumCompressionSize`, and sends every answer as it is.
    """
    own = gateway._handle_execute_in_scope

    async def handle(
        api: str, stage: str, method: str, path: str, headers: Any, *rest: Any
    ) -> Answer:
        status, sent, body = await own(api, stage, method, path, headers, *rest)
        least = (gateway._rest_apis.get(api) or {}).get("minimumCompressionSize")
        if not least or len(body) < int(least):
            return status, sent, body
        if "gzip" not in gateway._header_ci(headers, "accept-encoding"):
            return status, sent, body
        return status, {**sent, "Content-Encoding": "gzip"}, gzip.compress(body, mtime=0)

    gateway.__dict__["_handle_execute_in_scope"] = handle


def fail_alone(worker: Any) -> None:
    """Make what `invoke` raises its answer.

    The emulator's own caller ends all processes of the function then; those that are just starting
    fail, too, and end others: after a deployment that requests ran into, all requests failed for
    seconds.
    """
    own = worker.invoke

    def invoke_alone(self: Any, *arguments: Any, **named: Any) -> Any:
        try:
            return own(self, *arguments, **named)
        except Exception as failure:
            return {"status": "error", "error": str(failure)}

    worker.invoke = invoke_alone


def start_few(runtime: ModuleType, functions: ModuleType) -> None:
    """Start another process of a function only if none was free for a while and few are starting.

    The emulator's own starts one for each request that comes meanwhile: fifteen together on two
    cores took 20 s, in which none of them answered.
    """
    own, turn = runtime.acquire_worker, threading.Lock()

    def count_starting(key: str) -> int:
        with runtime._lock:
            return sum(worker.in_use and worker._cold for worker in runtime._workers.get(key, ()))

    def acquire(name: str, config: Any, code: bytes, qualifier: str = "$LATEST") -> Any:
        key = runtime._worker_key(name, config, qualifier)
        patient, last = time.monotonic() + _PATIENCE, time.monotonic() + _LONGEST_WAIT
        while runtime._workers.get(key) and (now := time.monotonic()) < last:
            worker, reason = own(name, config, code, qualifier, 1)
            if worker:
                return worker, reason
            with turn:
                if now > patient and count_starting(key) < _STARTING:
                    return own(name, config, code, qualifier)
            time.sleep(0.01)
        return own(name, config, code, qualifier)

    functions.__dict__["acquire_worker"] = acquire


def delete_beside(worker: Any) -> None:
    """Delete the code of a function's ended process with another program.

    Its own deletes thousands of files for each process of a changed function, and every request
    waits: half a minute.
    """

    def delete_code(self: Any) -> None:
        folder, self._tmpdir = self._tmpdir, None
        if folder:
            subprocess.Popen(["rm", "-rf", folder], start_new_session=True)

    worker._discard_tmpdir = delete_code


def stop_soon() -> None:
    """End the process as soon as `serve` returns: the emulator has written its data then.

    The emulator's own way waits for idle connections and for threads that poll queues: seconds in
    which nothing happens.
    """
    from hypercorn import asyncio as server
    from hypercorn.config import Config

    own = server.serve

    async def serve(*arguments: Any, **named: Any) -> None:
        await own(*arguments, **named)
        os._exit(0)

    server.__dict__["serve"] = serve
    Config.graceful_timeout = 0.3


def name_replacing_properties(provisioners: ModuleType) -> None:
    """Name the properties whose change replaces a bucket: those of its name.

    The emulator has no such list for buckets: its change sets say of any change that it may replace
    the bucket, and a deployment refuses that.
    """
    names = ("BucketName", "BucketNamePrefix", "BucketNamespace")
    provisioners.__dict__["_REPLACING_PROPERTIES"]["AWS::S3::Bucket"] = names


def parse_once(dynamodb: ModuleType, actions: ModuleType, evaluator: ModuleType) -> None:
    """Parse policies, request bodies and expressions once.

    The emulator's own code parses the policies of a role and the body of a request for each check
    of it, and an expression for each item.
    """
    own = evaluator.parse_policy_document
    kept = lru_cache(1_000)(own)
    evaluator.__dict__["parse_policy_document"] = lambda document: (
        kept(document) if isinstance(document, str) else own(document)
    )
    json_once = SimpleNamespace(**{**vars(json), "loads": lru_cache(1)(actions.json.loads)})
    for name in ("resource_arns", "service_context", "transaction_checks"):
        replace_names(getattr(actions, f"dynamodb_{name}"), actions, json=json_once)
    syntax_error = lru_cache(10_000)(dynamodb._condition_syntax_error)
    dynamodb.__dict__["_condition_syntax_error"] = syntax_error


def read_fast(dynamodb: ModuleType, actions: ModuleType) -> None:
    """Read the JSON of requests by orjson, and write and copy by it what a transaction has.

    What orjson does not take is done as before.
    """
    orjson = emulator_snapshots.import_orjson()
    if orjson is None:
        print("orjson is not installed: writes are slow", flush=True)
        return

    encode, decode = orjson.dumps, orjson.loads

    def load_json(text: Any) -> Any:
        """Return the value of a JSON text; only json takes some, such as halves of surrogates."""
        try:
            return decode(text)
        except ValueError:
            return json.loads(text)

    def dump_json(value: Any) -> str:
        """Return JSON whose length is compared with the 4 MB that a transaction may have."""
        with suppress(TypeError):
            # With json's blanks and escapes, the text has at most three times as many bytes.
            if len(text := encode(value)) < _SURELY_SMALL:
                return str(text, "utf-8")
        return json.dumps(value)

    def copy_item(item: Any) -> Any:
        """Return a copy of an item as deep as itself; None of None."""
        try:
            return decode(encode(item))
        except (TypeError, ValueError):
            return copy.deepcopy(item)

    fast = SimpleNamespace(**{**vars(json), "loads": load_json})
    for module in (dynamodb, actions):
        module.__dict__["json"] = fast
    replace_names(
        dynamodb._apply_update_expression,
        dynamodb,
        copy=SimpleNamespace(deepcopy=copy_item),
        _tokenize=lru_cache(1_000)(dynamodb._tokenize),
    )
    replace_names(
        dynamodb._transact_write_items,
        dynamodb,
        json=SimpleNamespace(dumps=dump_json),
        # The function above copies each item that it changes.
        copy=SimpleNamespace(deepcopy=lambda item: item),
    )


def replace_names(function: Any, module: ModuleType, **names: Any) -> None:
    """Let a function of a module, and no other, find these names in place of the module's."""
    changed = FunctionType(function.__code__, {**vars(module), **names})
    changed.__defaults__ = function.__defaults__
    module.__dict__[function.__name__] = changed


def measure_fast(dynamodb: ModuleType) -> None:
    """Measure the texts of an item in place, which most attributes are, without a call for each."""
    measure_value, measure_item = dynamodb._attribute_value_size, dynamodb._item_size_bytes

    def measure_size(item: Any) -> int:
        if type(item) is not dict:
            return int(measure_item(item))
        size = 0
        for name, value in item.items():
            text = value.get("S") if type(value) is dict and len(value) == 1 else None
            size += len(name) if name.isascii() else len(name.encode())
            if type(text) is not str:
                size += measure_value(value)
            else:
                size += len(text) if text.isascii() else len(text.encode())
        return size

    dynamodb.__dict__["_item_size_bytes"] = measure_size


def check_once(actions: ModuleType) -> None:
    """Its own authorizes each item of a transaction, though only action and table matter."""
    own = actions.dynamodb_transaction_checks
    actions.__dict__["dynamodb_transaction_checks"] = lambda *given: list(
        dict.fromkeys(own(*given))
    )


def take_turns(app: ModuleType) -> None:
    """Let other requests come between transactions.

    The emulator's own loop serves all transactions that have arrived before it looks for others: a
    list waited for a dozen transactions of an import, at each of its calls.
    """
    own, turn = app._dispatch_service_request, asyncio.Lock()

    async def dispatch(method: str, path: str, headers: Any, *rest: Any) -> Any:
        if not headers.get("x-amz-target", "").endswith(".TransactWriteItems"):
            return await own(method, path, headers, *rest)
        async with turn:
            answer = await own(method, path, headers, *rest)
            for _ in range(_HOPS):
                await asyncio.sleep(0)
        return answer

    app.__dict__["_dispatch_service_request"] = dispatch


class Index:
    """The sort keys of each large partition, in order, kept next to ministack's tables.

    Its own Query sorts a partition for each request and evaluates the key condition on every item.
    Here the keys are bisected, and its own code answers from what was found, with all its checks.
    """

    def __init__(self, dynamodb: ModuleType) -> None:
        self._dynamodb = dynamodb
        self._query: Callable[[dict[str, Any]], Answer] = dynamodb._query
        self._set, self._remove = dynamodb._set_item, dynamodb._remove_item
        self._orders: dict[int, tuple[dict[str, Any], list[str]]] = {}
        self._lock = threading.RLock()

    def install(self) -> None:
        self._dynamodb.__dict__.update(
            _query=self.query, _set_item=self._set_item, _remove_item=self._remove_item
        )

    def query(self, request: dict[str, Any]) -> Answer:
        """Return what `_query` answers, looking only at one partition."""
        module = self._dynamodb
        table = module._tables.get(module._normalize_table_name(request.get("TableName")))
        span = span_of(request, table) if table else None
        partition = table["items"].get(span.partition) if table and span else None
        if span is None or partition is None or len(partition) <= _SMALL:
            return self._query(request)
        with self._lock:
            found = dict(self._page(request, partition, span))
        narrow = {**table, "items": {span.partition: found}}
        own = {
            **vars(module),
            "_tables": _One(narrow),
            "_evaluate_condition": _cache_conditions(module),
        }
        answer: Answer = FunctionType(self._query.__code__, own)(request)
        return answer

    def _page(
        self, request: Wire, partition: dict[str, Any], span: Span
    ) -> Iterator[tuple[str, Any]]:
        """All that one page of the query can look at: up to its limit, and the item after 1 MB."""
        order, forward = self._order(partition), request.get("ScanIndexForward", True)
        start, end = bisect_left(order, span.low), bisect_right(order, span.high)
        if "ExclusiveStartKey" in request and forward:
            start = max(start, bisect_left(order, request["ExclusiveStartKey"]["sk"]["S"]))
        elif "ExclusiveStartKey" in request:
            end = min(end, bisect_right(order, request["ExclusiveStartKey"]["sk"]["S"]))
        # Two more than a page has: the key to start after, and the bound of a strict comparison.
        left = request["Limit"] + 2 if "Limit" in request else sys.maxsize
        size = 0
        for place in range(start, end) if forward else range(end - 1, start - 1, -1):
            sk = order[place]
            yield sk, partition[sk]
            left -= 1
            size += self._dynamodb._item_size_bytes(partition[sk])
            # Twice: those two may have 800 KB.
            if left <= 0 or size > 2 * self._dynamodb._DDB_PAGE_SIZE_BYTES:
                return

    def _order(self, partition: dict[str, Any]) -> list[str]:
        kept = self._orders.get(id(partition))
        if kept is None or kept[0] is not partition or len(kept[1]) != len(partition):
            kept = self._orders[id(partition)] = (partition, sorted(partition))
        return kept[1]

    def _set_item(self, table: Any, pk: Any, sk: Any, item: Any) -> Any:
        with self._lock:
            partition = table["items"].get(pk)
            kept = self._orders.get(id(partition)) if partition else None
            if kept is not None and sk not in partition:
                insort(kept[1], sk)
            return self._set(table, pk, sk, item)

    def _remove_item(self, table: Any, pk: Any, sk: Any) -> Any:
        with self._lock:
            partition = table["items"].get(pk)
            kept = self._orders.get(id(partition)) if partition else None
            if kept is not None and sk in partition:
                del kept[1][bisect_left(kept[1], sk)]
                if len(partition) == 1:
                    del self._orders[id(partition)]
            return self._remove(table, pk, sk)


def span_of(request: Wire, table: Wire) -> Span | None:
    """Where the query looks; None for one that ministack has to answer, or to refuse, by itself."""
    names, values = request.get("ExpressionAttributeNames") or {}, _text_values(request)
    match = _CONDITION.fullmatch(request.get("KeyConditionExpression") or "")
    keys = {definition["AttributeName"]: definition for definition in table["AttributeDefinitions"]}
    if (
        match is None
        or request.get("IndexName")
        or request.get("KeyConditions")
        or (table["pk_name"], table["sk_name"]) != ("pk", "sk")
        or any(keys[name]["AttributeType"] != "S" for name in ("pk", "sk"))
        or not isinstance(request.get("Limit", 1), int)
        or request.get("Limit", 1) < 1
        or ("ExclusiveStartKey" in request and not _is_key(request["ExclusiveStartKey"]))
    ):
        return None
    found = {name: part for name, part in match.groupdict().items() if part}
    named = [names.get(part, part) for name, part in found.items() if name.endswith("_name")]
    used = [found[name] for name in ("pk", "begin", "low", "high", "bound") if name in found]
    if named != ["pk", "sk"][: len(named)] or any(each not in values for each in used):
        return None
    partition = values[found["pk"]]
    if "begin" in found:
        begin = values[found["begin"]]
        return Span(partition, begin, begin + _LAST)
    if "low" in found:
        return Span(partition, values[found["low"]], values[found["high"]])
    if "sign" not in found:
        return Span(partition, "", _LAST)
    bound, sign = values[found["bound"]], found["sign"]
    return Span(partition, "" if "<" in sign else bound, _LAST if ">" in sign else bound)


def _is_key(given: Any) -> bool:
    """Whether it has the form of a table's key."""
    return isinstance(given, dict) and all(
        isinstance(given.get(name), dict) and isinstance(given[name].get("S"), str)
        for name in ("pk", "sk")
    )


def _text_values(request: Wire) -> dict[str, str]:
    """Those that are text."""
    given = request.get("ExpressionAttributeValues") or {}
    return {
        name: value["S"]
        for name, value in given.items()
        if isinstance(value, dict) and isinstance(value.get("S"), str)
    }


class _One:
    """Ministack's tables, of which a query sees one."""

    def __init__(self, table: Any) -> None:
        self._table = table

    def get(self, name: str) -> Any:
        return self._table


def _cache_conditions(module: ModuleType) -> Callable[..., Any]:
    """Return `_evaluate_condition` that parses an expression of one query once.

    The original reads and checks it again for each item.
    """
    original, read = module._evaluate_condition, dict[tuple[str, str], Any]()

    def evaluate_cached(
        text: str, item: Any, values: Any, names: Any, slot: str = "ConditionExpression"
    ) -> Any:
        if (text, slot) in read:
            try:
                return module._ExprEval(read[text, slot], item, values, names).evaluate()
            except Exception:
                return original(text, item, values, names, slot=slot)
        result = original(text, item, values, names, slot=slot)
        read[text, slot] = module._tokenize(text)
        return result

    return evaluate_cached


if __name__ == "__main__":
    main()
