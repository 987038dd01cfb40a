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


def uncounted() -> Window:
    """What is said where nothing counts: the whole of the usual limit."""
    return Window(rate.LIMITS[STOREFRONT], 0, rate.this_minute())


def is_admin(call: Call) -> bool:
    return f"{call.path}/".startswith("/api/admin/")


def _admit_key(call: Call) -> None:
    minute = rate.this_minute()
    try:
        admission = store.admit(call.bearer, reads=call.reads, minute=minute)
        if admission is None:
            raise Unauthorized(_wrong(call))
    except Unauthorized as refused:
        # Guessing is limited, but never in the way of a valid key from the same address.
        call.answer_headers.update(rate.count(call.address, SIGN_IN).headers())
        refused.headers["WWW-Authenticate"] = "Bearer"
        raise
    window = Window(admission.limit, admission.used, minute)
    call.caller = admission.caller
    call.answer_headers.update(window.headers())
    if not admission.admitted:
        raise window.exceeded()
    needed = call.operation.role if call.operation else None
    if needed and not call.caller.role.includes(needed):
        raise Forbidden(f"This needs the role {needed.value}; the key is {call.caller.role.value}.")


def _wrong(call: Call) -> str:
    """What is wrong with the Authorization header. It never repeats what may be a key."""
    sent = str(call.request.headers.get("authorization", "")).strip()
    scheme, _, rest = sent.partition(" ")
    if not sent:
        found = "There is no Authorization header."
    elif scheme.lower() != "bearer":
        found = f"The Authorization header has {'another scheme' if rest else 'one word only'}."
    elif not call.bearer:
        found = "There is no key behind Bearer."
    elif not store.is_well_formed(call.bearer):
        found = f"API keys begin with {store.PREFIX}; this is none."
    else:
        return "There is no such API key: it is mistyped, or was revoked."
    return f"{found} Send one: Authorization: Bearer <API_KEY>."
