"""Authenticates a request and applies its rate limit: the first step of every request.

Where this process admitted the same key (or, for the storefront, address) within the last minute,
the request is admitted at the same time as its route reads: one round trip less. The answer waits
for that, and so does the first write: who is refused reads nothing and writes nothing.
"""

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from threading import Lock
from typing import Final

from chalicelib.api_keys import store
from chalicelib.api_keys.model import READS_PER_MINUTE, WRITES_PER_MINUTE, Caller
from chalicelib.problems import Forbidden, Unauthorized
from chalicelib.request import rate
from chalicelib.request.call import Call
from chalicelib.request.rate import STOREFRONT_PER_MINUTE, Window
from chalicelib.storage import table
from chalicelib.values import clock

_REMEMBERED_SECONDS: Final = 60
_MOST_REMEMBERED: Final = 1_000


@dataclass(frozen=True)
class _Admitted:
    """When a key or an address was last admitted here (Unix seconds), and the owner of the key."""

    at: int
    caller: Caller | None


_admitted: dict[str, _Admitted] = {}


def authenticate(call: Call) -> Callable[[], object]:
    """Admit the call or raise Unauthorized, Forbidden or RateLimited.

    That happens now, or when what it returns is called, which waits for it. Puts the X-RateLimit
    headers on the answer, whatever it will be, and the caller into the call. One round trip for a
    valid key, or for the storefront.
    """
    call.answer_headers.update(_uncounted_window(call).headers())
    if call.request.method == "OPTIONS":
        # A browser's preflight request is not counted.
        call.answer_headers.update(rate.peek(call.address).headers())
        return _is_admitted
    admitted = _admit_key(call) if is_admin(call) else _admit_address(call)
    reads_first = call.operation is not None and call.operation.reads_first
    known = _recall_admission(_identify_caller(call)) if reads_first else None
    if known is None or not _has_role(call, known.caller):
        admitted()
    else:
        call.caller = known.caller
    return admitted


def _is_admitted() -> None:
    return None


def _uncounted_window(call: Call) -> Window:
    """Return the window of a request that is not counted yet, and perhaps cannot be.

    Every answer has its headers.
    """
    usual = READS_PER_MINUTE if call.reads else WRITES_PER_MINUTE
    limit = usual if is_admin(call) else STOREFRONT_PER_MINUTE
    return Window(limit, limit, rate.this_minute())


def uncounted_window() -> Window:
    """Return the window of what is never counted: the whole of the usual limit."""
    return Window(STOREFRONT_PER_MINUTE, 0, rate.this_minute())


def is_admin(call: Call) -> bool:
    return f"{call.path}/".startswith("/api/admin/")


def _admit_once(call: Call, admit: Callable[[], None]) -> Callable[[], object]:
    """Return a function that admits once, for all who call it, from any thread.

    A refusal is raised each time, and who is refused is no longer known.
    """
    admitted, lock = Future[None](), Lock()

    def wait_until_admitted() -> None:
        with lock:
            if not admitted.done():
                # What admits may write: the counters of past minutes are removed.
                try:
                    with table.writing_after(_is_admitted):
                        admit()
                    admitted.set_result(None)
                except Exception as refused:
                    _admitted.pop(_identify_caller(call), None)
                    admitted.set_exception(refused)
        admitted.result()

    return wait_until_admitted


def _admit_address(call: Call) -> Callable[[], object]:
    counted = rate.count(call.address)

    def admit_address() -> None:
        call.answer_headers.update(counted().headers())
        _remember_admission(call, None)

    return _admit_once(call, admit_address)


def _admit_key(call: Call) -> Callable[[], object]:
    minute = rate.this_minute()
    admitted = store.admit(call.bearer, reads=call.reads, minute=minute)

    def admit_key() -> None:
        try:
            admission = admitted()
            if admission is None:
                raise Unauthorized(_explain_header(call))
        except Unauthorized as refused:
            # Guessing is limited, but never in the way of a valid key from the same address.
            call.answer_headers.update(rate.count_failed_sign_in(call.address).headers())
            refused.headers["WWW-Authenticate"] = "Bearer"
            raise
        window = Window(admission.limit, admission.used, minute)
        call.caller = admission.caller
        call.answer_headers.update(window.headers())
        if not admission.admitted:
            raise window.to_rate_limited()
        _remember_admission(call, admission.caller)
        _require_role(call, admission.caller)

    return _admit_once(call, admit_key)


def _require_role(call: Call, caller: Caller) -> None:
    if not _has_role(call, caller):
        assert call.operation and call.operation.role
        needed = call.operation.role.value
        raise Forbidden(f"This needs the role {needed}; the key has {caller.role.value}.")


def _has_role(call: Call, caller: Caller | None) -> bool:
    needed = call.operation.role if call.operation else None
    return needed is None or (caller is not None and caller.role.includes(needed))


def _explain_header(call: Call) -> str:
    """Say what is wrong with the Authorization header.

    The text never repeats what may be a key.
    """
    sent = str(call.request.headers.get("authorization", "")).strip()
    scheme, _, credentials = sent.partition(" ")
    if not sent:
        explanation = "There is no Authorization header."
    elif scheme.lower() != "bearer":
        explanation = (
            f"The Authorization header has {'another scheme' if credentials else 'one word only'}."
        )
    elif not call.bearer:
        explanation = "There is no key after Bearer."
    elif not store.is_well_formed(call.bearer):
        explanation = f"API keys begin with {store.KEY_PREFIX}; this is none."
    else:
        return "There is no such API key: it is mistyped, or was revoked."
    return f"{explanation} Send one: Authorization: Bearer <API_KEY>."


# --- Who was admitted here ------------------------------------------------------------------------


def _identify_caller(call: Call) -> str:
    if not is_admin(call):
        return f"address {call.address}"
    return f"key {store.digest_of(call.bearer)}"


def _recall_admission(who: str) -> _Admitted | None:
    known = _admitted.get(who)
    is_fresh = known is not None and 0 <= clock.unix() - known.at < _REMEMBERED_SECONDS
    return known if is_fresh else None


def _remember_admission(call: Call, caller: Caller | None) -> None:
    if len(_admitted) >= _MOST_REMEMBERED:
        _admitted.clear()
    _admitted[_identify_caller(call)] = _Admitted(clock.unix(), caller)
