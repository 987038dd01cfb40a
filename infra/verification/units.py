"""The request units that DynamoDB bills, against those of docs/listing.md.

The code of the shop runs in this process on the stage's tables, with the credentials of whoever
calls; each call asks DynamoDB for what it consumed.
"""

import os
import re
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final
from unittest import mock

from chalicelib import listing
from chalicelib.products import merge, store
from chalicelib.products.model import Product
from chalicelib.storage.dynamodb import DynamoCall, Wire
from chalicelib.values import clock, money
from infra import keys, package, steps
from infra.verification.stage import Stage
from infra.verification.statements import DoesNotHoldError

_PAGE: Final = package.PROJECT / "docs/listing.md"
_SLACK: Final = 0.15  # of the documented units, and two more: this shop has other records
_PRODUCTS: Final = 20  # a page
_READ, _WRITE = 0.125e-6, 0.625e-6  # dollars a unit (docs/listing.md#what-it-costs)


@dataclass
class Units:
    read: float = 0
    write: float = 0


def as_documented(stage: Stage) -> str:
    """Create products like those of the page, and read and change them."""
    keys.use_table(stage.resource_outputs["Table"])
    os.environ["CURRENCY"] = steps.shop_settings(stage.name)["currency"]
    mark = f"v{secrets.token_hex(3)}"
    made = [_make_product(mark, number) for number in range(_PRODUCTS)]
    vendor = listing.Query({"vendor": frozenset({mark})}, "")
    try:
        seen = {"create": _measure_units(lambda: _create_products(made))}
        seen["create"].write /= _PRODUCTS
        seen["get"] = _measure_units(lambda: store.get(made[0].id))
        seen["vendor"] = _measure_units(lambda: store.page(vendor))
        seen["change a price"] = _measure_units(lambda: _change_product(made[0].id))
    finally:
        for one in made:
            store.delete(one.id, None)
    return _compare_units(seen)


def _compare_units(seen: dict[str, Units]) -> str:
    texts, wrong = [], False
    for name, units in seen.items():
        reads, writes = documented_units(name)
        texts.append(
            f"{name} {units.read:g} and {units.write:g} ({reads:g} and {writes:g}),"
            f" ${1e6 * (units.read * _READ + units.write * _WRITE):.2f} a million"
        )
        wrong |= not (_is_near(units.read, reads) and _is_near(units.write, writes))
    text = f"read and write units (documented): {'; '.join(texts)}"
    if wrong:
        raise DoesNotHoldError(text)
    return text


def documented_units(request: str) -> tuple[float, float]:
    """Return read units at 1,000 products, and write units, of a row of docs/listing.md."""
    row = re.search(rf"^\| {re.escape(request)} \|(.*)\|$", _PAGE.read_text(), re.M)
    if row is None:
        raise LookupError(f"docs/listing.md has no row {request}")
    cells = [cell.strip().replace(",", "") for cell in row[1].split("|")]
    return float(cells[1]), float(cells[3])


def _is_near(real: float, expected: float) -> bool:
    return abs(real - expected) <= _SLACK * expected + 2


def _make_product(mark: str, number: int) -> Product:
    """Like a product of bench/requests.py, but of its own vendor."""
    sku, slug = f"SKU{number:06d}", f"{mark}-shirt-{number}"
    fields = {
        "name": "blue linen shirt",
        "slug": slug,
        "description": "A good one. " * 20,
        "status": "ACTIVE",
        "price": money.render(Decimal(19)),
        "sku": sku,
        "vendor": mark,
        "type": "shirt",
        "storefront": "eu",
        "tags": ["linen", "regular"],
        "images": [{"url": f"https://img.example/{number}.jpg", "alt": "shirt"}],
        "variants": [{"title": each, "sku": sku + each, "stock": 9} for each in "SM"],
    }
    return merge.create_product(fields, slug, clock.iso(clock.now()))


def _create_products(products: Sequence[Product]) -> None:
    for one in products:
        store.build_commit(None, one).send()


def _change_product(id: str) -> None:
    before, cheaper = store.get(id), {"price": money.render(Decimal(1))}
    store.build_commit(before, merge.apply_change(before, cheaper, clock.iso(clock.now()))).send()


def _measure_units(work: Callable[[], object]) -> Units:
    with _count_units() as units:
        work()
    return units


@contextmanager
def _count_units() -> Iterator[Units]:
    """Yield what the calls made meanwhile consume."""
    units, send, read_reply = Units(), DynamoCall.send, DynamoCall.read_reply

    def ask_for_units(call: DynamoCall[Any]) -> None:
        call.request["ReturnConsumedCapacity"] = "TOTAL"
        send(call)

    def add_units(call: DynamoCall[Any]) -> Wire:
        reply = read_reply(call)
        consumed: Any = reply.pop("ConsumedCapacity", [])
        for each in [consumed] if isinstance(consumed, dict) else consumed:
            number = float(each["CapacityUnits"])
            if call.operation in {"GetItem", "BatchGetItem", "Query"}:
                units.read += number
            else:
                units.write += number
        return reply

    with (
        mock.patch.object(DynamoCall, "send", ask_for_units),
        mock.patch.object(DynamoCall, "read_reply", add_units),
    ):
        yield units
