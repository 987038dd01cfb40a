"""The lines of an order, and its sums: pure functions (docs/orders.md#lines-and-sums).

A line is of a variant, or a custom line without stock. Its total is quantity times price, less its
discount; the total of an order is subtotal, less its discount, plus shipping and tax.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from decimal import Decimal
from typing import Final, TypedDict

from chalicelib.orders.model import MOST_PRODUCTS, MOST_WORK, Discount, OrderLine
from chalicelib.orders.schemas import (
    DepositInput,
    DiscountInput,
    LineItemInput,
    NewOrder,
    SpecifiedValue,
    SpecifiedValueInput,
    StockPolicy,
)
from chalicelib.problems import Invalid
from chalicelib.products.model import Product, title_of
from chalicelib.values import ids, money

Errors = list[dict[str, str]]
Lines = Sequence[OrderLine]

_NOTHING: Final = Decimal(0)
_FIRST_DAY: Final = date(2000, 1, 1)  # by which something can be due


class OrderSums(TypedDict):
    """The sums of an order, as stored."""

    subtotal: str
    shipping: str
    tax: str
    total: str
    discount: Discount | None


def count_pieces(lines: Iterable[LineItemInput], field: str) -> dict[str, dict[str, int]]:
    """Return the pieces that all lines want: {product id: {variant id: pieces}}.

    Custom lines want none. `field`: the field of the request that has the lines. Raise Invalid for
    too many products.
    """
    wanted: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for line in lines:
        if line.variant_id is not None:
            wanted[ids.product_of(line.variant_id)][line.variant_id] += line.quantity
    refuse_many_products(wanted, field)
    return wanted


def refuse_many_products(product_ids: Iterable[str], field: str) -> None:
    """Raise Invalid if these are more different products than an order can have."""
    number = len(set(product_ids))
    if number > MOST_PRODUCTS:
        message = f"must be of at most {MOST_PRODUCTS} different products, not {number}"
        raise Invalid.field(field, "too_long", message)


def make_lines(
    sent: Sequence[LineItemInput],
    field: str,
    products: Mapping[str, Product],
    lead_from: date | None,
) -> list[OrderLine]:
    """Return new order lines, priced, with what they take from a tracked stock, whatever is there.

    Raise Invalid with the errors of all lines. `field`: the field of the request that has the
    lines; `products`: those that exist, by id. `lead_from`: the day from which the lead time of
    what is made counts; None: no line gets a day.
    """
    errors: Errors = []
    lines = [
        _make_line(line, f"{field}.{place}", products, errors) for place, line in enumerate(sent)
    ]
    if errors:
        raise Invalid.fields(errors)
    if lead_from:
        for line in lines:
            _set_lead_time(line, products, lead_from)
    return lines


def _set_lead_time(line: OrderLine, products: Mapping[str, Product], start: date) -> None:
    """Set a line's day after the lead time of its product, if it is made and has no day.

    `start`: from when it counts. Nothing if the product has no lead time.
    """
    if line["make"] and line["productId"] and not line["dueOn"]:
        days = products[line["productId"]].fields["leadDays"]
        if days is not None and start >= _FIRST_DAY:
            line["dueOn"] = (start + timedelta(days=int(days))).isoformat()


def _make_line(
    sent: LineItemInput, path: str, products: Mapping[str, Product], errors: Errors
) -> OrderLine:
    """Return a new line, priced if it has a price; what is wrong with it is added to `errors`."""
    line: OrderLine = {
        "id": ids.new_id("li"),
        "variantId": None,
        "productId": None,
        "isCustom": sent.variant_id is None,
        "title": sent.title or "",
        "sku": None,
        "quantity": sent.quantity,
        "price": sent.price or "",
        "cost": None,
        "discount": None,
        "total": "",
        "note": sent.note or None,
        "taken": 0,
        "oversold": 0,
        "refundedQuantity": 0,
        "make": bool(sent.make),
        "dueOn": sent.due_on,
        "specification": to_specification(sent.specification),
    }
    if sent.variant_id is None:
        missing = [name for name in ("title", "price") if getattr(sent, name) is None]
        message = "is required: a line needs a variantId, or a title and a price"
        if missing:
            field = "variantId" if len(missing) > 1 else missing[0]
            errors.append(_error(f"{path}.{field}", "required", message))
    else:
        _take_from_variant(line, sent, path, products, errors)
    if line["price"]:
        price_line(line, sent.discount, path, errors)
    return line


def _take_from_variant(
    line: OrderLine, sent: LineItemInput, path: str, products: Mapping[str, Product], errors: Errors
) -> None:
    """Set a line's product, title, SKU, price, cost, and stock to take, by its variant.

    What is made takes no stock, and gets the `required` details. Errors are added to `errors`.
    """
    id = str(sent.variant_id)
    product = products.get(ids.product_of(id))
    variant = product.variant(id) if product else None
    if product is None or variant is None:
        message = f"there is no variant {id!r}"
        errors.append(_error(f"{path}.variantId", "unknown_variant", message))
        return
    title = title_of(product.fields["name"], variant["title"])
    if sent.title not in {None, title}:
        message = f"must be absent, or the variant's: {title!r}"
        errors.append(_error(f"{path}.title", "invalid", message))
    line |= {
        "variantId": id,
        "productId": product.id,
        "title": title,
        "sku": variant["sku"],
        "price": sent.price or variant["price"],
        "cost": variant["cost"],
        "make": bool(product.fields["madeToOrder"] if sent.make is None else sent.make),
    }
    if line["make"]:
        line["required"] = required_details(product)
    elif id in product.quantities:
        line["taken"] = sent.quantity


def required_details(product: Product) -> list[str]:
    """Return the names of the details that a product requires before it can be made."""
    return [one["name"] for one in product.fields["specification"] if one["required"]]


def refuse_much_work(lines: Iterable[OrderLine], field: str) -> None:
    """Raise Invalid for more lines that are made than one transaction can write, also at the end.

    `field`: the field of the request that has the lines. The entry of each takes the room of a
    product's stock.
    """
    lines = list(lines)
    made = sum(line["make"] for line in lines)
    if made > MOST_WORK:
        message = f"must have at most {MOST_WORK} lines that are made, not {made}"
        raise Invalid.field(field, "too_many", message)
    stocked = {line["productId"] for line in lines if not line["make"]} - {None}
    if made and made + len(stocked) > MOST_PRODUCTS:
        message = f"must be at most {MOST_PRODUCTS} products and lines that are made; divide them"
        raise Invalid.field(field, "too_large", message)


def to_specification(sent: Iterable[SpecifiedValueInput]) -> list[SpecifiedValue]:
    """Return the details of a line as stored: an empty value is null."""
    return [{"name": one.name, "value": one.value or None} for one in sent]


def sold_pieces(lines: Lines) -> dict[str, dict[str, int]]:
    """Return the pieces that lines sell from the stock: product id → variant id → pieces.

    Custom lines, and lines that are made, sell none.
    """
    sold: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for line in lines:
        if line["productId"] and line["variantId"] and not line["make"]:
            sold[line["productId"]][line["variantId"]] += line["quantity"]
    return sold


def allot_stock(
    lines: Lines, products: Mapping[str, Product], policy: StockPolicy
) -> Iterator[OrderLine]:
    """Yield copies of the lines, each with what it takes from the stock and what is `oversold`.

    FORCE takes all that is there, line by line, and the rest is oversold; any other policy takes
    nothing, and nothing is oversold.
    """
    left = Counter[str | None]()
    for product in products.values():
        left.update(product.quantities)
    for line in lines:
        taken = oversold = 0
        if policy is StockPolicy.FORCE:
            taken = min(line["taken"], left[line["variantId"]])
            left[line["variantId"]] -= taken
            oversold = line["taken"] - taken
        yield {**line, "taken": taken, "oversold": oversold}


def price_line(line: OrderLine, discount: DiscountInput | None, path: str, errors: Errors) -> None:
    """Set a line's discount and total; what is wrong is added to `errors`.

    The line stays as it is if its total would be too large, and has no discount if that is wrong.
    `path`: of the line in the request.
    """
    whole = Decimal(line["price"]) * line["quantity"]
    if whole >= money.LARGEST:
        message = f"makes the line's total {money.LARGEST:f} or more"
        errors.append(_error(f"{path}.quantity", "out_of_range", message))
        return
    try:
        line["discount"] = make_discount(discount, whole, f"{path}.discount")
    except Invalid as error:
        errors.extend(error.extra["errors"])
        line["discount"] = None
    line["total"] = money.render(whole - discount_amount(line["discount"]))


def make_discount(sent: DiscountInput | None, whole: Decimal, path: str) -> Discount | None:
    """Return a discount as stored, {amount, percent, reason}; None for none.

    `whole`: the amount that it is taken off. Raise Invalid if it is more than that, or its percent
    and amount differ.
    """
    if sent is None:
        return None
    amount, percent = amount_and_percent(whole, sent, path)
    assert amount is not None
    if Decimal(amount) > whole:
        message = f"must be at most what it is taken off, {money.render(whole)}"
        raise Invalid.field(f"{path}.amount", "out_of_range", message)
    return {"amount": amount, "percent": percent, "reason": sent.reason or None}


def amount_and_percent(
    whole: Decimal, sent: DiscountInput | DepositInput, path: str
) -> tuple[str | None, str | None]:
    """Return (amount, percent) as stored, of which one or both were sent.

    A percent gives the amount, of `whole`; without one it is None, and the amount is as sent. Raise
    Invalid, naming `path`, if both were sent and differ.
    """
    if sent.percent is None:
        return sent.amount, None
    computed = money.percent_of(whole, str(sent.percent))
    if sent.amount is not None and Decimal(sent.amount) != computed:
        message = f"must be {money.render(computed)}, or absent"
        raise Invalid.field(f"{path}.amount", "invalid", message)
    return money.render(computed), format(abs(sent.percent).normalize(), "f")  # zero has no sign


def to_discount_input(discount: Discount | None) -> DiscountInput | None:
    """Return a stored discount as a client would send it: its percent, or else its amount.

    With its reason. None for None.
    """
    if discount is None:
        return None
    reason, percent = {"reason": discount["reason"]}, discount["percent"]
    sent = {"amount": discount["amount"]} if percent is None else {"percent": percent}
    return DiscountInput.model_validate({**sent, **reason})


def discount_amount(discount: Discount | None) -> Decimal:
    """Return the amount that a discount takes off; 0 for None."""
    return Decimal(discount["amount"]) if discount else _NOTHING


def compute_sums(lines: Lines, new: NewOrder) -> OrderSums:
    """Return the sums of a new order as stored; those that were sent are kept. Raise Invalid.

    The subtotal is by default the lines', the total subtotal - discount + shipping + tax.
    """
    subtotal = Decimal(new.subtotal) if new.subtotal else sum_lines(lines)
    discount = make_discount(new.discount, subtotal, "discount")
    shipping, tax = Decimal(new.shipping or 0), Decimal(new.tax or 0)
    computed = subtotal - discount_amount(discount) + shipping + tax
    return render_sums(subtotal, discount, shipping, tax, Decimal(new.total or computed))


def render_sums(
    subtotal: Decimal, discount: Discount | None, shipping: Decimal, tax: Decimal, total: Decimal
) -> OrderSums:
    """Return these sums as stored; `discount` stays as it is, also None.

    Raise Invalid, naming `total`, if one of them is too large.
    """
    if max(subtotal, shipping, tax, total) >= money.LARGEST:
        raise Invalid.field("total", "out_of_range", f"must be below {money.LARGEST:f}")
    return {
        "subtotal": money.render(subtotal),
        "shipping": money.render(shipping),
        "tax": money.render(tax),
        "total": money.render(total),
        "discount": discount,
    }


def sum_lines(lines: Lines) -> Decimal:
    """Return the sum of the lines' totals."""
    return sum((Decimal(line["total"]) for line in lines), _NOTHING)


def _error(field: str, code: str, message: str) -> dict[str, str]:
    """Return an error of a field, in the shape of Invalid's `errors`."""
    return {"field": field, "code": code, "message": message}
