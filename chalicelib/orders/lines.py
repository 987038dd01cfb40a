"""The lines of an order, and its sums: pure functions (docs/orders.md#lines-and-sums).

A line is of a variant, or a custom line without stock. Its total is quantity times price, less its
discount; the total of an order is subtotal, less its discount, plus shipping and tax.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Final, TypedDict

from chalicelib.orders.model import (
    MOST_PRODUCTS,
    DepositInput,
    DiscountInput,
    LineItemInput,
    NewOrder,
    StockPolicy,
)
from chalicelib.problems import Invalid
from chalicelib.products.model import Product, title_of
from chalicelib.values import ids, money

Errors = list[dict[str, str]]

_NOTHING: Final = Decimal(0)


class Discount(TypedDict):
    """As stored."""

    amount: str
    percent: str | None
    reason: str | None


class OrderLine(TypedDict):
    """As stored. `taken`: pieces that were taken from the stock and may return."""

    id: str
    variantId: str | None
    productId: str | None
    isCustom: bool
    title: str
    sku: str | None
    quantity: int
    price: str
    cost: str | None
    discount: Discount | None
    total: str
    note: str | None
    taken: int
    oversold: int
    refundedQuantity: int


Lines = Sequence[OrderLine]


def wanted(asked: Iterable[LineItemInput], name: str) -> dict[str, dict[str, int]]:
    """The pieces wanted: product id → variant id → pieces, over all lines. `name`: the field that
    has the lines. Raises Invalid."""
    wanted: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for line in asked:
        if line.variant_id is not None:
            wanted[ids.product_of(line.variant_id)][line.variant_id] += line.quantity
    refuse_many_products(wanted, name)
    return wanted


def refuse_many_products(products: Iterable[str], name: str) -> None:
    """Raises Invalid."""
    there = len(set(products))
    if there > MOST_PRODUCTS:
        message = f"must be of at most {MOST_PRODUCTS} different products, not {there}"
        raise Invalid.field(name, "too_long", message)


def made(
    asked: Sequence[LineItemInput], name: str, products: Mapping[str, Product]
) -> list[OrderLine]:
    """New lines. `name`: of the field that they were sent in. Raises Invalid."""
    errors: Errors = []
    lines = [_made(line, f"{name}.{place}", products, errors) for place, line in enumerate(asked)]
    if errors:
        raise Invalid.fields(errors)
    return lines


def _made(
    asked: LineItemInput, at: str, products: Mapping[str, Product], errors: Errors
) -> OrderLine:
    line: OrderLine = {
        "id": ids.new("li"),
        "variantId": None,
        "productId": None,
        "isCustom": asked.variant_id is None,
        "title": asked.title or "",
        "sku": None,
        "quantity": asked.quantity,
        "price": asked.price or "",
        "cost": None,
        "discount": None,
        "total": "",
        "note": asked.note or None,
        "taken": 0,
        "oversold": 0,
        "refundedQuantity": 0,
    }
    if asked.variant_id is None:
        missing = [name for name in ("title", "price") if getattr(asked, name) is None]
        message = "is required: a line needs a variantId, or a title and a price"
        if missing:
            field = "variantId" if len(missing) > 1 else missing[0]
            errors.append(_error(f"{at}.{field}", "required", message))
    else:
        _take_from_variant(line, asked, at, products, errors)
    if line["price"]:
        priced(line, asked.discount, at, errors)
    return line


def _take_from_variant(
    line: OrderLine, asked: LineItemInput, at: str, products: Mapping[str, Product], errors: Errors
) -> None:
    id = str(asked.variant_id)
    product = products.get(ids.product_of(id))
    variant = product.variant(id) if product else None
    if product is None or variant is None:
        message = f"there is no variant {id!r}"
        errors.append(_error(f"{at}.variantId", "unknown_variant", message))
        return
    title = title_of(product.fields["name"], variant["title"])
    if asked.title not in {None, title}:
        message = f"must be absent, or the variant's: {title!r}"
        errors.append(_error(f"{at}.title", "invalid", message))
    line |= {
        "variantId": id,
        "productId": product.id,
        "title": title,
        "sku": variant["sku"],
        "price": asked.price or variant["price"],
        "cost": variant["cost"],
        "taken": asked.quantity if id in product.quantities else 0,
    }


def allotted(
    made: Lines, products: Mapping[str, Product], policy: StockPolicy
) -> Iterator[OrderLine]:
    """The lines with what they take of the stock: without CHECK, less than their quantity."""
    left = Counter[str | None]()
    for product in products.values():
        left.update(product.quantities)
    for line in made:
        taken = oversold = 0
        if policy is StockPolicy.FORCE:
            taken = min(line["taken"], left[line["variantId"]])
            left[line["variantId"]] -= taken
            oversold = line["taken"] - taken
        yield {**line, "taken": taken, "oversold": oversold}


def priced(line: OrderLine, discount: DiscountInput | None, at: str, errors: Errors) -> None:
    """Gives a line its discount and its total."""
    whole = Decimal(line["price"]) * line["quantity"]
    if whole >= money.LARGEST:
        message = f"makes the line's total {money.LARGEST:f} or more"
        errors.append(_error(f"{at}.quantity", "out_of_range", message))
        return
    try:
        line["discount"] = discounted(discount, whole, f"{at}.discount")
    except Invalid as error:
        errors.extend(error.extra["errors"])
        line["discount"] = None
    line["total"] = money.render(whole - off(line["discount"]))


def discounted(asked: DiscountInput | None, whole: Decimal, at: str) -> Discount | None:
    """A discount as stored, of what it is taken off. Raises Invalid."""
    if asked is None:
        return None
    amount, percent = part_of(whole, asked, at)
    assert amount is not None
    if Decimal(amount) > whole:
        message = f"must be at most what it is taken off, {money.render(whole)}"
        raise Invalid.field(f"{at}.amount", "out_of_range", message)
    return {"amount": amount, "percent": percent, "reason": asked.reason or None}


def part_of(
    whole: Decimal, asked: DiscountInput | DepositInput, at: str
) -> tuple[str | None, str | None]:
    """The amount and the percent, as stored, of which one or both were sent. Raises Invalid if they
    differ."""
    if asked.percent is None:
        return asked.amount, None
    computed = money.percent_of(whole, str(asked.percent))
    if asked.amount is not None and Decimal(asked.amount) != computed:
        message = f"must be {money.render(computed)}, or absent"
        raise Invalid.field(f"{at}.amount", "invalid", message)
    return money.render(computed), format(abs(asked.percent).normalize(), "f")  # zero has no sign


def asked(discount: Mapping[str, object] | None) -> DiscountInput | None:
    """What a stored discount was asked as: its percent, or its amount."""
    if discount is None:
        return None
    how = "amount" if discount["percent"] is None else "percent"
    return DiscountInput.model_validate({how: discount[how], "reason": discount["reason"]})


def off(discount: Discount | None) -> Decimal:
    return Decimal(discount["amount"]) if discount else _NOTHING


def sums(lines: Lines, asked: NewOrder) -> dict[str, object]:
    """The sums of a new order: those that are given are kept. Raises Invalid."""
    subtotal = Decimal(asked.subtotal) if asked.subtotal else of(lines)
    discount = discounted(asked.discount, subtotal, "discount")
    shipping, tax = Decimal(asked.shipping or 0), Decimal(asked.tax or 0)
    computed = subtotal - off(discount) + shipping + tax
    return summed(subtotal, discount, shipping, tax, Decimal(asked.total or computed))


def summed(
    subtotal: Decimal, discount: Discount | None, shipping: Decimal, tax: Decimal, total: Decimal
) -> dict[str, object]:
    """Raises Invalid if one of them is no amount of an order."""
    named = {"subtotal": subtotal, "shipping": shipping, "tax": tax, "total": total}
    if max(named.values()) >= money.LARGEST:
        raise Invalid.field("total", "out_of_range", f"must be below {money.LARGEST:f}")
    return {**{name: money.render(one) for name, one in named.items()}, "discount": discount}


def of(lines: Lines) -> Decimal:
    """The sum of lines."""
    return sum((Decimal(line["total"]) for line in lines), _NOTHING)


def _error(field: str, code: str, message: str) -> dict[str, str]:
    return {"field": field, "code": code, "message": message}
