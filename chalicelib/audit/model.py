"""Entries of the audit log: what the API shows, and the query of their list."""

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Final

from pydantic import Field
from typing_extensions import TypedDict

from chalicelib import listing
from chalicelib.schemas import Choice, Several, about
from chalicelib.values.changes import Change

KIND: Final = listing.Kind(
    "audit", listed=("recordId", "keyId", "action", "type"), several="customerId"
)
_COUNTED: Final = 1_000  # entries that a list counts for its total
_OF_STAFF: Final = ("ord_", "prod_", "cus_", "job_")  # ids of records that Staff may read


class AuditVia(Choice):
    """How it was written: by a request, or by a job that one started."""

    API = "API"
    JOB = "JOB"


class ListAudit(listing.Dated):
    facets = ("record_id", "customer_id", "key_id", "action", "type")
    most_counted = _COUNTED

    record_id: Annotated[str, Field(max_length=200, description="Of one record.")] = ""
    customer_id: Annotated[
        str,
        Field(max_length=60, description="Of one customer, and of the orders of the customer."),
    ] = ""
    key_id: Annotated[str, Field(max_length=60, description="By one API key.")] = ""
    action: Several[str] = Field(default_factory=list, description="Such as `order.updated`.")
    type: Several[str] = Field(default_factory=list, description="Types of record.")

    @property
    def is_for_staff(self) -> bool:
        """Whether it is about one record that Staff may read."""
        return self.record_id.startswith(_OF_STAFF) or bool(self.customer_id)


class AuditActor(TypedDict):
    """The API key that asked for it, also where a job did it; null: the shop's operator."""

    keyId: Annotated[str | None, about("Id of the key.")]
    keyName: Annotated[str | None, about("Name of the key.")]


class AuditRecord(TypedDict):
    """What was written."""

    type: Annotated[str, about("Type of record, such as `order`.")]
    id: Annotated[str | None, about("Its id; null: a refused request that names none.")]
    number: Annotated[str | None, about("Number of an order.")]
    name: Annotated[str | None, about("Name of another record; null: none, or erased.")]


class AuditChange(TypedDict):
    """One field that differs. Both are null if a person was erased."""

    field: Annotated[str, about("Which, such as `variants[var_…].price`.")]
    before: Annotated[
        str | int | float | bool | None, about("Its value before; lists and objects as JSON.")
    ]
    after: Annotated[str | int | float | bool | None, about("Its value after.")]


class ShownAudit(TypedDict):
    """One write, or one that was refused."""

    id: Annotated[str, about("Identifier, `aud_…`.")]
    at: Annotated[str, about("When it was committed.")]
    actor: Annotated[AuditActor, about("Who did it.")]
    action: Annotated[str, about("What was done, such as `order.updated` or `request.refused`.")]
    record: Annotated[AuditRecord, about("The record that was written.")]
    changes: Annotated[
        list[AuditChange],
        about("At most 50 fields that differ; texts are cut to 200 characters."),
    ]
    request: Annotated[
        str | None, about("Of a refused request, its operation: `DELETE /api/admin/orders/{id}`.")
    ]
    requestId: Annotated[str | None, about("The `X-Request-Id` of its answer.")]
    via: Annotated[AuditVia, about("A request, or a job.")]
    jobId: Annotated[str | None, about("Id of the job.")]


@dataclass(frozen=True)
class AuditEntry(listing.Record):
    """As stored: names as shown, `changes` as JSON, and `customers`: whose values may be in it."""

    @property
    def order_id(self) -> str | None:
        """The id of the order that it is about; None: it is about another record."""
        record = self.fields["record"]
        return str(record["id"]) if record["type"] == "order" else None

    @property
    def customers(self) -> list[str]:
        """The ids of the customers whose values may be in it."""
        return list(self.fields["customers"])

    @property
    def changes(self) -> list[Change]:
        found: list[Change] = json.loads(self.fields["changes"])
        return found

    @cached_property
    def index(self) -> listing.Index:
        fields = self.fields
        facets = {
            "recordId": fields["record"]["id"] or "",
            "keyId": fields["actor"]["keyId"] or "",
            "action": fields["action"],
            "type": fields["record"]["type"],
        }
        return listing.Index.build(sort=fields["at"], facets=facets, several=fields["customers"])


def show(entry: AuditEntry) -> dict[str, object]:
    """Return the entry in the shape of ShownAudit."""
    shown = {name: entry.fields[name] for name in ShownAudit.__annotations__}
    return shown | {"changes": entry.changes}
