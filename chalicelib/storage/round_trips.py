"""Calls to DynamoDB: repeated until a deadline, and several in one round trip, in one thread.

Functions that make calls are generators of requests (`Stepwise`); the first requests of several are
sent before the first reply is read ([why](docs/decisions/2026-11-22-one-thread.md)).
"""

from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from functools import cache, partial, update_wrapper
from itertools import islice
from threading import Lock
from typing import Any, Final, Generic, ParamSpec, TypeGuard, TypeVar

from botocore.exceptions import ClientError

from chalicelib import deadline
from chalicelib.problems import Busy
from chalicelib.storage import dynamodb
from chalicelib.storage.dynamodb import NO_ANSWER

_AT_ONCE: Final = 32  # calls of one thread, each of which has a connection

# The refusals after which a write surely did not happen, and may be sent again.
REFUSED: Final = frozenset(
    {
        "TransactionConflictException",
        "ProvisionedThroughputExceededException",
        "ThrottlingException",
        "RequestLimitExceeded",
    }
)

P = ParamSpec("P")
T = TypeVar("T")

# A request, for its reply.
Steps = Generator[tuple[str, dict[str, Any]], Any, T]


class Stepwise(Generic[P, T]):
    """A function that asks DynamoDB by yielding requests: it is given the replies.

    So the first requests of several can be sent before the first reply is read, without threads:
    those cost as much CPU as the calls. `steps`: for another such function to go through.
    """

    def __init__(self, steps: Callable[P, Steps[T]]) -> None:
        self.steps = steps
        update_wrapper(self, steps)

    def __call__(self, *arguments: P.args, **named: P.kwargs) -> T:
        steps = self.steps(*arguments, **named)
        try:
            asked = next(steps)
            while True:
                asked = _answered(steps, partial(ask, *asked))
        except StopIteration as end:
            result: T = end.value
            return result


def _answered(steps: Steps[object], reply: Callable[[], object]) -> tuple[str, dict[str, object]]:
    """The next request. Raises StopIteration with the result."""
    try:
        given = reply()
    except Exception as failure:
        return steps.throw(failure)
    return steps.send(given)


class _Underway(Generic[T]):
    """A call of a Stepwise function whose request has been sent, until it has `ended`."""

    result: T
    _sent: "dynamodb.Sent | Future[Any] | None"

    def __init__(self, call: "partial[T]") -> None:
        function: Any = call.func
        self._steps: Steps[T] = function.steps(*call.args, **call.keywords)
        self.ended = False
        self._ask(partial(next, self._steps))
        if not self.ended and self._sent is None:
            self.advance()  # at once: others could not be sent either, each after a wait

    def advance(self) -> None:
        """Waits for the reply; sends the next request, if there is one."""
        reply = partial(ask, *self._asked, self._sent)
        self._ask(partial(_answered, self._steps, reply))

    def advance_among_others(self) -> None:
        """The same, but a call that is refused for a moment is repeated by another thread, so that
        other calls do not wait for its pauses."""
        if not isinstance(self._sent, dynamodb.Sent):
            self.advance()
            return
        try:
            given = self._sent.result()
        except Exception as failure:
            if _passes(failure):
                self._sent = _elsewhere(ask, *self._asked)
            else:
                self._ask(partial(self._steps.throw, failure))
        else:
            self._ask(partial(self._steps.send, given))

    def finish(self) -> T:
        while not self.ended:
            self.advance()
        return self.result

    def close(self) -> None:
        """Nobody waits for the reply any more."""
        if isinstance(self._sent, dynamodb.Sent):
            self._sent.close()

    def _ask(self, step: Callable[[], tuple[str, dict[str, object]]]) -> None:
        self._sent = None
        try:
            self._asked = step()
        except StopIteration as end:
            self.result, self.ended = end.value, True
            return
        with suppress(*NO_ANSWER):  # else it is sent when the reply is waited for
            self._sent = dynamodb.send(*self._asked) or _elsewhere(dynamodb.call, *self._asked)


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=16, thread_name_prefix="dynamodb")


def _elsewhere(call: Callable[..., T], *arguments: object) -> Future[T]:
    return _pool().submit(copy_context().run, call, *arguments)


def begin(call: "partial[T]") -> Callable[[], T]:
    """Sends the first request of a call of a Stepwise function.

    The function that it returns reads the reply and makes the remaining calls, once, in the context
    of `begin`. Every caller, in any thread, gets the same result.
    """
    underway, context, lock, outcome = _Underway(call), copy_context(), Lock(), Future[T]()

    def finish() -> T:
        with lock:
            if not outcome.done():
                try:
                    outcome.set_result(context.run(underway.finish))
                except BaseException as failure:
                    outcome.set_exception(failure)
        return outcome.result()

    return finish


def together(calls: Sequence[Callable[[], object]]) -> list[Any]:
    """The results of independent calls, made at the same time: one round trip instead of several.

    Calls of Stepwise functions (`partial`, 32 at once) and the first are made in this thread,
    others in threads of their own. Of those, none may itself use `together`: the pool could
    otherwise fill with callers who wait for a place in it.
    """
    if len(calls) == 1:
        return [calls[0]()]
    results: list[object] = [None] * len(calls)
    stepwise = {place: call for place, call in enumerate(calls) if _is_stepwise(call)}
    waiting = iter(stepwise.items())
    underway: dict[int, _Underway[object]] = {}

    def send() -> None:
        for place, call in islice(waiting, _AT_ONCE - len(underway)):
            underway[place] = _Underway(call)

    try:
        send()
        rest = [place for place in range(1, len(calls)) if place not in stepwise]
        others = {place: _elsewhere(calls[place]) for place in rest}
        if calls and 0 not in stepwise:
            results[0] = calls[0]()
        while underway:
            for place, one in list(underway.items()):
                if one.ended:
                    results[place] = one.result
                    del underway[place]
                else:
                    one.advance_among_others()
            send()
        for place, other in others.items():
            results[place] = other.result()
    finally:
        for one in underway.values():
            one.close()
    return results


def _is_stepwise(call: Callable[[], object]) -> TypeGuard["partial[Any]"]:
    return isinstance(call, partial) and isinstance(call.func, Stepwise)


def ask(
    operation: str, request: dict[str, object], sent: "dynamodb.Sent | Future[Any] | None" = None
) -> Any:
    """The reply; `sent`: the first attempt, where that was made before. Raises Busy where DynamoDB
    refuses or does not answer for too long."""
    for _ in deadline.attempts():
        first, sent = sent, None
        try:
            return first.result() if first else dynamodb.call(operation, request)
        except Exception as failure:
            if not _passes(failure):
                raise
    raise Busy


def _passes(failure: Exception) -> bool:
    """Whether the same call may succeed later."""
    if isinstance(failure, ClientError):
        return may_repeat(failure)
    return isinstance(failure, NO_ANSWER)


def may_repeat(error: ClientError) -> bool:
    """Whether the same request may be sent again: it was refused temporarily, or its outcome is
    unknown, as after every failure of the service itself."""
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    code = error.response["Error"]["Code"]
    return status >= 500 or code in REFUSED or code == "TransactionInProgressException"
