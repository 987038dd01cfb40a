"""The current request, as routes need it."""

from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Final

from chalice.app import Request

from chalicelib import settings
from chalicelib.api_keys.model import Caller
from chalicelib.problems import NotUtf8
from chalicelib.request import proxies
from chalicelib.request.routes import ANY_PATHS, Operation
from chalicelib.storage.actor import Actor


@dataclass(slots=True)
class Call:
    """A request that is being answered. `answer_headers` are added to any answer."""

    request: Request
    id: str
    operation: Operation | None
    caller: Caller | None = None
    answer_headers: dict[str, str] = field(default_factory=dict)

    def actor(self) -> Actor:
        """Return who writes, once the key is known."""
        key = self.caller
        return Actor(key.id if key else None, key.name if key else None, self.id)

    @property
    def path(self) -> str:
        """Return the path as declared, or, without a route, as called; without the stage."""
        if self.request.path not in ANY_PATHS:
            return str(self.request.path)
        proxy = (self.request.uri_params or {}).get("proxy", "")
        return str(self.request.path).replace("{proxy+}", proxy)

    @property
    def reads(self) -> bool:
        return self.request.method in ("GET", "HEAD")

    @property
    def bearer(self) -> str:
        """Return the key that was sent, or an empty text."""
        scheme, _, key = str(self.request.headers.get("authorization", "")).partition(" ")
        return key.strip() if scheme.lower() == "bearer" else ""

    @property
    def address(self) -> str:
        """Return the client's address.

        It is the peer that API Gateway sees or, if that is a trusted proxy (`--trusted-proxies`),
        the address in its X-Forwarded-For.
        """
        identity: dict[str, object] = self.request.context.get("identity") or {}
        peer = str(identity.get("sourceIp") or "unknown")
        forwarded = str(self.request.headers.get("x-forwarded-for", ""))
        return proxies.client(peer, forwarded, settings.trusted_proxies())


REPLACED: Final = "\ufffd"  # which API Gateway writes for each byte that is not UTF-8

# A context variable, because tests answer several requests at once; Lambda does one at a time.
_current: ContextVar[Call] = ContextVar("call")
current = _current.get
begin = _current.set
end = _current.reset


def caller() -> Caller:
    """Return the owner of the key. Only routes with a role have one."""
    who = current().caller
    if who is None:
        raise LookupError("this route takes no key")
    return who


def header(name: str) -> str | None:
    """Return a header that was sent. Raise NotUtf8 for one that API Gateway could not decode."""
    value = current().request.headers.get(name)
    if value and REPLACED in str(value):
        raise NotUtf8(f"The header {name} is not UTF-8.", field=name)
    return None if value is None else str(value)


def if_match() -> frozenset[str] | None:
    """Return the ETags of If-Match, one of which the stored resource must have; None without it.

    They are without quotes, also if a proxy has weakened them (RFC 9110, 13.1.1).
    """
    tags = entity_tags(header("if-match"))
    return None if tags is None or "*" in tags else tags


def entity_tags(value: str | None) -> frozenset[str] | None:
    if value is None:
        return None
    parts = (part.strip().removeprefix("W/").strip('"') for part in value.split(","))
    return frozenset(part for part in parts if part)
