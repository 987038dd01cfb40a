"""API keys: who may call the admin API, with which role, and how often."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, ClassVar, Final

from pydantic import AfterValidator, Field, StringConstraints
from typing_extensions import TypedDict

from chalicelib.schemas import SEEN, Choice, Input, about, optional
from chalicelib.storage.attributes import Fields
from chalicelib.values import clock
from chalicelib.values.times import ZONE, Time

# Requests per minute and key, unless the operator raised them (docs/api.md#limits).
READS_PER_MINUTE: Final = 120
WRITES_PER_MINUTE: Final = 60


class Role(Choice):
    """The rights of a key. Each role includes those before it; READER only reads."""

    READER = "READER"
    STAFF = "STAFF"
    ADMIN = "ADMIN"
    OWNER = "OWNER"

    def includes(self, other: "Role") -> bool:
        ranks = list(Role)
        return ranks.index(self) >= ranks.index(other)


@dataclass(frozen=True)
class Caller:
    """The owner of a request's key, as stored (`store`)."""

    fields: Fields

    @property
    def id(self) -> str:
        return str(self.fields["id"])

    @property
    def name(self) -> str:
        return str(self.fields["name"])

    @property
    def role(self) -> Role:
        return Role(self.fields["role"])

    @property
    def sees_costs(self) -> bool:
        """Whether what products cost the shop is shown to it."""
        return self.role.includes(Role.STAFF)


def _check_future(moment: datetime) -> datetime:
    if moment <= clock.now():
        raise ValueError("must be in the future")
    return moment


Expiry = Annotated[Time, AfterValidator(_check_future)]


class NewApiKey(Input):
    """The rights of a new key, and its expiry."""

    # Silently ignoring limits or a key would mislead their sender.
    read_only: ClassVar[frozenset[str]] = frozenset({"id", "createdAt", "lastUsedAt"})

    name: Annotated[
        str,
        StringConstraints(strip_whitespace=True, min_length=1, max_length=100),
        SEEN,
        about("Who or what uses the key."),
    ]
    role: Annotated[Role, about("What the key may do.")]
    expires_at: Expiry | None = optional(
        f"Requests after it are 401 `key_expired`; default: never. {ZONE}"
    )


class RateLimits(TypedDict):
    """Requests per minute."""

    read: Annotated[int, about("Reads per minute.")]
    write: Annotated[int, about("Writes per minute.")]


class _Key(TypedDict):
    id: Annotated[str, about("Identifier.")]
    name: Annotated[str, about("Name.")]
    role: Annotated[Role, about("What the key may do.")]
    createdAt: Annotated[str, about("When it was created.")]
    expiresAt: Annotated[str | None, about("When it expires; null: never.")]


class ApiKey(_Key):
    """An API key, without the key itself."""

    limits: Annotated[RateLimits, about("How often it may call.")]


class ListedApiKey(ApiKey):
    """An API key as the list shows it, without the key itself."""

    lastUsedAt: Annotated[
        str | None, Field(description="The day of the last request, in UTC; null: never used.")
    ]


class ApiKeyWithSecret(_Key):
    """A new key. `key` is the secret itself, shown only once."""

    key: Annotated[str, about("The API key itself, shown only once.")]


def _show_common(caller: Caller) -> _Key:
    return {
        "id": caller.id,
        "name": caller.name,
        "role": caller.role,
        "createdAt": caller.fields["createdAt"],
        "expiresAt": caller.fields.get("until"),
    }


def show_key(caller: Caller) -> ApiKey:
    reads = int(caller.fields.get("readLimit", READS_PER_MINUTE))
    writes = int(caller.fields.get("writeLimit", WRITES_PER_MINUTE))
    return {**_show_common(caller), "limits": {"read": reads, "write": writes}}


def show_key_with_secret(caller: Caller, key: str) -> ApiKeyWithSecret:
    return {**_show_common(caller), "key": key}
