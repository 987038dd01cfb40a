"""API keys: who may call the admin interface, as what, and how often."""

from dataclasses import dataclass
from typing import Annotated, Final

from pydantic import Field, StringConstraints
from typing_extensions import TypedDict

from chalicelib.schemas import Choice, Input

# Requests per minute and key, unless the operator raised them (`spec.md`, Limits).
READS_PER_MINUTE: Final = 120
WRITES_PER_MINUTE: Final = 60


class Role(Choice):
    """What a key may do. Each role may also do what those before it may."""

    STAFF = "STAFF"
    ADMIN = "ADMIN"
    OWNER = "OWNER"

    def includes(self, other: "Role") -> bool:
        ranks = list(Role)
        return ranks.index(self) >= ranks.index(other)


@dataclass(frozen=True)
class Caller:
    """Whoever holds the key of a request."""

    id: str
    name: str
    role: Role
    created_at: str
    reads_per_minute: int = READS_PER_MINUTE
    writes_per_minute: int = WRITES_PER_MINUTE


class NewKey(Input):
    name: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100)] = (
        Field(description="Who or what uses the key.")
    )
    role: Role


class Limits(TypedDict):
    """Requests per minute."""

    read: int
    write: int


class ApiKey(TypedDict):
    id: str
    name: str
    role: Role
    limits: Limits
    createdAt: str


class MintedKey(TypedDict):
    """A new key. `key` is the secret itself, and never shown again."""

    id: str
    name: str
    role: Role
    key: str
    createdAt: str


def shown(caller: Caller) -> ApiKey:
    return {
        "id": caller.id,
        "name": caller.name,
        "role": caller.role,
        "limits": {"read": caller.reads_per_minute, "write": caller.writes_per_minute},
        "createdAt": caller.created_at,
    }
