"""Who calls, and how often they may: the first thing that happens to a request."""

from chalicelib.api_keys import store
from chalicelib.api_keys.model import READS_PER_MINUTE, WRITES_PER_MINUTE
from chalicelib.problems import Forbidden, Unauthorized
from chalicelib.request import rate
from chalicelib.request.call import Call
from chalicelib.request.rate import SIGN_IN, STOREFRONT, Window


def authenticate(call: Call) -> None:
    """Admits the call or raises Unauthorized, Forbidden or RateLimited.

    Puts the X-RateLimit headers on the answer, whatever it will be, and the caller into the call.
    One round trip for a valid key, or for the storefront.
    """
    call.answer_headers.update(_unknown(call).headers())
    if call.request.method == "OPTIONS":
        # A browser asks before a request: that costs nobody a request of their minute.
        call.answer_headers.update(rate.peek(call.address, STOREFRONT).headers())
    elif is_admin(call):
        _admit_key(call)
    else:
        call.answer_headers.update(rate.count(call.address, STOREFRONT).headers())


def _unknown(call: Call) -> Window:
    """Until somebody has counted, and if nobody can: no answer goes without these headers."""
    usual = READS_PER_MINUTE if call.reads else WRITES_PER_MINUTE
    limit = usual if is_admin(call) else rate.LIMITS[STOREFRONT]
    return Window(limit, limit, rate.this_minute())


def is_admin(call: Call) -> bool:
    return f"{call.path}/".startswith("/api/admin/")


def _admit_key(call: Call) -> None:
    key = _bearer(call)
    minute = rate.this_minute()
    admission = store.admit(key, reads=call.reads, minute=minute) if key else None
    if admission is None:
        # Guessing is limited, but never in the way of a valid key from the same address.
        call.answer_headers.update(rate.count(call.address, SIGN_IN).headers())
        raise Unauthorized(
            "Send a valid API key: Authorization: Bearer <API_KEY>.",
            headers={"WWW-Authenticate": "Bearer"},
        )
    window = Window(admission.limit, admission.used, minute)
    call.caller = admission.caller
    call.answer_headers.update(window.headers())
    if not admission.admitted:
        raise window.exceeded()
    needed = call.operation.role if call.operation else None
    if needed and not call.caller.role.includes(needed):
        raise Forbidden(f"This needs the role {needed.value}; the key is {call.caller.role.value}.")


def _bearer(call: Call) -> str | None:
    scheme, _, key = str(call.request.headers.get("authorization", "")).partition(" ")
    return key.strip() or None if scheme.lower() == "bearer" else None
