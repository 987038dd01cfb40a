"""Customers as they are stored and listed. The first order with an e-mail creates one."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, cast

from chalicelib import listing
from chalicelib.customers.schemas import (
    MOST_ADDRESSES,
    NOTE_CHARACTERS,
    TAGS,
    OrderCustomer,
    ShownCustomer,
)
from chalicelib.problems import Conflict, Invalid
from chalicelib.storage.attributes import Fields, Item
from chalicelib.values import addresses, clock, ids, metadata, money

# Together with an order's this must leave room in a transaction: see `orders/model.py`.
KIND: Final = listing.Kind(
    "customer",
    several="tag",
    orders=("name", "updated"),
    since={"*updated": 2},
    identified=("customer",),
    exact={"email": lambda customer: [(customer.email or "").lower()]},
)
_MOST_DIGITS: Final = 20  # of a phone number that are searchable


class EmailTaken(Conflict):
    """409 with the `id` of the customer who has the e-mail."""

    code = "email_taken"

    def __init__(self, id: str) -> None:
        super().__init__("Another customer has this e-mail.", field="email", id=id)


# --- What is stored -------------------------------------------------------------------------------

# Fields that clients change, with their defaults.
_EMPTY: Final[Mapping[str, object]] = {
    "email": None,
    "firstName": None,
    "lastName": None,
    "company": None,
    "phone": None,
    "note": None,
    "tags": [],
    "addresses": [],
    "defaultAddressId": None,
    "externalId": None,
    "metadata": {},
}
EDITABLE: Final = tuple(_EMPTY)


@dataclass(frozen=True)
class Customer(listing.Record):
    """A customer as stored: names as shown, and `index` if it was read for a list.

    Not shown: `held`, the job that merges or erases it; `leaving`: `{"into": id}` for a merge, `{}`
    for an erasure; `merged`, the ids that were merged into it; `orders`, how many it has,
    including cancelled ones.
    """

    version: int

    @property
    def email(self) -> str | None:
        email: str | None = self.fields["email"]
        return email

    @property
    def is_erased(self) -> bool:
        return "erasedAt" in self.fields

    @property
    def is_leaving(self) -> bool:
        """Say whether it takes no more orders or changes."""
        return "leaving" in self.fields or self.is_erased

    @property
    def held_by(self) -> str | None:
        held: str | None = self.fields.get("held")
        return held

    @property
    def merged_ids(self) -> list[str]:
        return list(self.fields.get("merged", ()))

    @property
    def etag(self) -> str:
        """Return a tag that changes with every change and every order; without quotes."""
        spent = money.render(self.fields["totalSpent"])
        return f"{self.version}.{self.fields['ordersCount']}.{spent}"

    def matches(self, tags: frozenset[str] | None) -> bool:
        """Say whether one of these ETags includes the last change; later orders do not count."""
        return tags is None or any(tag.partition(".")[0] == str(self.version) for tag in tags)


@dataclass(frozen=True)
class Totals:
    """A change of a customer's totals.

    Of all `orders`, of the `count` that are not cancelled, and of the `spent` revenue.
    """

    orders: int = 0
    count: int = 0
    spent: Decimal = Decimal(0)

    def __bool__(self) -> bool:
        return any((self.orders, self.count, self.spent))

    def __add__(self, other: "Totals") -> "Totals":
        return Totals(
            self.orders + other.orders, self.count + other.count, self.spent + other.spent
        )

    def numbers(self) -> dict[str, int | Decimal]:
        """Return the changes by attribute of the record."""
        return {"orders": self.orders, "ordersCount": self.count, "totalSpent": self.spent}


def add_totals(customer: Customer, change: Totals) -> Customer:
    fields = dict(customer.fields)
    for name, number in change.numbers().items():
        fields[name] += number
    return Customer(fields, customer.version)


def _require_identity(fields: Mapping[str, object]) -> None:
    if not any(fields[name] for name in ("email", "phone", "firstName", "lastName", "company")):
        message = "is required unless there is a phone, a company or a name"
        raise Invalid.field("email", "required", message)


def make_customer(id: str, values: Mapping[str, object], now: str) -> Customer:
    """Return a new customer; `values`: as NewCustomer gives it, `now`: ISO 8601. Raises Invalid."""
    fields = {"id": id, **_EMPTY, "createdAt": now, "updatedAt": now}
    fields |= {"ordersCount": 0, "totalSpent": Decimal(0), "orders": 0}
    fields |= _edit_fields(fields, values, is_new=True)
    _require_identity(fields)
    return Customer({**fields, "index": index_of(fields).to_stored()}, 1)


def edit_customer(customer: Customer, values: Mapping[str, object], now: str) -> Customer:
    """Return the customer after a PATCH of `values`; itself if nothing differs. Raises Invalid."""
    fields = {**customer.fields, **_edit_fields(customer.fields, values, is_new=False)}
    _require_identity(fields)
    return rewrite_customer(customer, fields, now)


def rewrite_customer(customer: Customer, fields: Mapping[str, object], now: str) -> Customer:
    """Return the customer with these fields; itself if none that clients change differs."""
    if all(fields[name] == customer.fields[name] for name in EDITABLE):
        return customer
    return _next_version(customer, fields, now)


def _next_version(customer: Customer, fields: Mapping[str, object], now: str) -> Customer:
    after = {**fields, "updatedAt": clock.next_iso(customer.fields["updatedAt"], now)}
    return Customer({**after, "index": index_of(after).to_stored()}, customer.version + 1)


def _edit_fields(before: Fields, values: Fields, *, is_new: bool) -> dict[str, object]:
    fields = {name: None if value == "" else value for name, value in values.items()}
    if "tags" in fields:
        fields["tags"] = list(dict.fromkeys(fields["tags"] or ()))
    if "metadata" in fields:
        fields["metadata"] = fields["metadata"] or {}
    default = fields.pop("defaultAddressId", before["defaultAddressId"])
    names: dict[str, str] = {}  # of a copy: the ids that were sent, and the new ones
    kept = before["addresses"]
    if "addresses" in fields:
        known = {address["id"] for address in kept}
        kept = []
        for place, address in enumerate(fields["addresses"] or ()):
            sent = address.get("id")
            if sent and not is_new and (sent not in known or sent in names):
                message = "is not an address of this customer; omit the id for a new one"
                raise Invalid.field(f"addresses.{place}.id", "unknown_address", message)
            own = sent if sent and not is_new else ids.new_id("adr")
            names[sent or own] = own
            kept.append({"id": own, **addresses.to_address(address)})
        fields["addresses"] = kept
    own_default = names.get(default, default) if default else None
    known_ids = [address["id"] for address in kept]
    if own_default not in known_ids:
        if values.get("defaultAddressId"):
            message = "must be the id of one of the addresses"
            raise Invalid.field("defaultAddressId", "unknown_address", message)
        own_default = known_ids[0] if known_ids else None
    return {**fields, "defaultAddressId": own_default}


_SINGLE: Final = (
    *("email", "firstName", "lastName", "company", "phone", "defaultAddressId"),
    *("externalId", "metadata"),
)


ROOM_OF_MERGED: Final = {"note": NOTE_CHARACTERS, "tags": TAGS, "addresses": MOST_ADDRESSES}


def merge_customers(into: Customer, other: Customer, now: str) -> tuple[Customer, dict[str, int]]:
    """Return the customer with another's values for what it lacks, and what did not fit.

    The second value says how much of which field (`ROOM_OF_MERGED`). The same again if it was
    merged before.
    """
    fields = dict(into.fields)
    for name in _SINGLE:
        fields[name] = fields[name] or other.fields[name]
    # First and last name are not mixed from two people.
    if into.fields["firstName"] or into.fields["lastName"]:
        fields |= {name: into.fields[name] for name in ("firstName", "lastName")}
    note, other_note = (customer.fields["note"] or "" for customer in (into, other))
    if not f"\n\n{note}".endswith(f"\n\n{other_note}"):
        note = "\n\n".join(filter(None, (note, other_note)))
    tags = list(dict.fromkeys([*into.fields["tags"], *other.fields["tags"]]))
    kept = fields["addresses"]
    new = [
        address
        for address in other.fields["addresses"]
        if not any(addresses.is_same_address(address, known) for known in kept)
    ]
    both = {"note": note, "tags": tags, "addresses": [*kept, *new]}
    left = {name: len(both[name]) - limit for name, limit in ROOM_OF_MERGED.items()}
    fields |= {name: both[name][:limit] or _EMPTY[name] for name, limit in ROOM_OF_MERGED.items()}
    fields["merged"] = [*into.merged_ids, *other.merged_ids, other.id]
    return _next_version(into, fields, now), {
        name: number for name, number in left.items() if number > 0
    }


def erase_customer(customer: Customer, now: str) -> Customer:
    """Return what is left of an erased customer: the id and the totals."""
    kept = ("id", "createdAt", "ordersCount", "totalSpent", "orders", "merged")
    fields = {name: customer.fields[name] for name in kept if name in customer.fields}
    fields |= {**_EMPTY, "erasedAt": now}
    return _next_version(customer, fields, now)


def index_of(fields: Fields) -> listing.Index:
    names = (fields["lastName"], fields["firstName"], fields["email"])
    return listing.Index.build(
        sort=fields["createdAt"],
        facets={},
        several=fields.get("tags", ()),
        orders={
            "name": " ".join(name for name in names if name),
            "updated": fields["updatedAt"],
        },
        texts=[*searchable(fields), *_more_texts(fields)],
        exact=[fields["email"]] if fields["email"] else [],
    )


def searchable(customer: Fields) -> list[str]:
    """Return the texts by which a customer and their orders are found."""
    texts = (customer["email"], customer["firstName"], customer["lastName"])
    return [text for text in texts if text]


def _more_texts(fields: Fields) -> list[str]:
    """Return further texts by which a customer is found.

    They are the company, the cities, and the digits of the phone.
    """
    texts = [fields.get("company"), *(address["city"] for address in fields.get("addresses", ()))]
    return list(filter(None, (*dict.fromkeys(texts), phone_digits(fields.get("phone") or ""))))


def phone_digits(phone: str) -> str:
    """Return the text by which a phone is found; none if it has no digit."""
    digits = "".join(re.findall(r"[0-9]", phone))[:_MOST_DIGITS]
    plus = "+" if phone.startswith("+") else ""
    return digits and plus + digits


def read(item: Item) -> Customer:
    return Customer(metadata.from_stored(item), item.get("version", 0))  # a lock has none


def show(customer: Customer, names: Collection[str] = ()) -> dict[str, object]:
    """Return the customer in the shape of ShownCustomer, or these fields of it."""
    fields = customer.fields
    shown_names = fields.keys() & names if names else fields
    shown = {name: fields[name] for name in ShownCustomer.__annotations__ if name in shown_names}
    if "totalSpent" in shown:
        shown["totalSpent"] = money.render(shown["totalSpent"])
    return shown


def of_order(customer: Customer) -> OrderCustomer:
    """Return the customer as an order keeps it."""
    fields = {name: customer.fields[name] for name in OrderCustomer.__annotations__}
    return cast(OrderCustomer, fields)
