"""What an order or a transaction adds to a report: pure functions (docs/orders.md#reports).

All are sums, in Decimals. By product, what an order has as a whole is
shared out to its lines so that all shares together are exactly the whole.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Final

from chalicelib.orders.model import Order, OrderLine, Transaction, refunded_tax
from chalicelib.orders.schemas import MoneyClock, OrderStatus
from chalicelib.reports.model import MOST_KEPT, ReportBy, ReportType
from chalicelib.storage.attributes import Fields
from chalicelib.values import clock, money, timezone

Values = Mapping[str, Decimal]

COUNTS: Final = frozenset({"orders", "pieces"})
COLUMNS: Final[dict[str, tuple[str, ...]]] = {
    ReportType.SALES: (
        *("orders", "pieces", "gross", "discounts", "refunds", "net", "tax", "shipping", "kept"),
    ),
    ReportType.MONEY: ("payments", "refunds", "voids", "net"),
    ReportType.TAX: ("charged", "refunded", "net"),
}
COSTS: Final = ("netWithCost", "cost", "profit")
"""Columns of sales that only those see who may see costs. A sum without them: no cost is known."""
_FACETS: Final = {
    ReportBy.SOURCE: "source",
    ReportBy.SALES_REP: "salesRepId",
    ReportBy.PAYMENT_METHOD: "paymentMethod",
}
_KINDS: Final = {"PAYMENT": "payments", "REFUND": "refunds", "VOID": "voids"}
_NOTHING: Final = Decimal(0)


def columns_of(request: Fields) -> tuple[str, ...]:
    """Return the names of the sums of a report. `request`: NewReport, as sent."""
    return COLUMNS[request["type"]] + (COSTS if request.get("costs") else ())


@dataclass
class Sums:
    """Rows by key, each with its label; "" is what has no value."""

    columns: Sequence[str]
    totals: dict[str, Decimal] = field(default_factory=dict)
    rows: dict[str, dict[str, Decimal]] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    left_out: bool = False

    def add(self, parts: Mapping[str, Values], whole: Values, labels: Mapping[str, str]) -> None:
        _add_values(self.totals, whole)
        for key, values in parts.items():
            if key not in self.rows and len(self.rows) >= MOST_KEPT:
                self.left_out = True
                continue
            _add_values(self.rows.setdefault(key, {}), values)
            self.labels.setdefault(key, labels.get(key, key))

    def order_keys(self, by: str) -> list[str]:
        """Return the keys of the rows: days in their order, others with the most net first."""
        if by == ReportBy.DAY:
            return sorted(self.rows)
        return sorted(self.rows, key=lambda key: (-self.rows[key]["net"], key))


def _add_values(to: dict[str, Decimal], values: Values) -> None:
    for name, value in values.items():
        to[name] = to.get(name, _NOTHING) + value


def add_order(sums: Sums, request: Fields, order: Order) -> None:
    """Add what an order has on the day of its date; of sales perhaps only a product's part.

    `request`: NewReport, as sent.
    """
    grouping, product_id = request["by"], request.get("productId")
    if request["type"] == ReportType.TAX:
        charged = _charged_tax(order)
        whole = {"charged": charged, "refunded": _NOTHING, "net": charged}
        sums.add({_shop_day(order.fields["orderDate"]): whole}, whole, {})
        return
    whole = order_sales(order)
    if product_id:
        whole = _split_by_product(order, whole).get(product_id, dict.fromkeys(whole, _NOTHING))
    elif request.get("costs"):
        whole = whole | _sum_costs(_split_by_product(order, whole).values())
    if not whole["orders"] and not whole["net"]:
        return
    labels: dict[str, str] = {}
    if grouping == ReportBy.PRODUCT:
        lines = order.fields["lineItems"]
        labels = {line["productId"]: line["title"] for line in lines if line["productId"]}
        parts: Mapping[str, Values] = _split_by_product(order, whole)
    elif grouping == ReportBy.DAY:
        parts = {_shop_day(order.fields["orderDate"]): whole}
    else:
        fields: Fields = order.fields
        parts = {fields[_FACETS[ReportBy(grouping)]] or "": whole}
    sums.add(parts, whole, labels)


def add_transaction(sums: Sums, request: Fields, transaction: Transaction) -> None:
    """Add what a transaction has on its day, if that is in the period.

    `request`: NewReport, as sent.
    """
    fields = transaction.fields
    is_by_received = request.get("clock") == MoneyClock.RECEIVED
    day = _shop_day(transaction.received_at if is_by_received else fields["at"])
    if not request["from"] <= day <= request["to"]:
        return
    if request["type"] == ReportType.TAX:
        refunded = -Decimal(fields["tax"])
        whole = {"charged": _NOTHING, "refunded": refunded, "net": -refunded}
    else:
        amount = Decimal(fields["amount"])
        whole = dict.fromkeys(_KINDS.values(), _NOTHING)
        whole |= {_KINDS[fields["kind"]]: abs(amount), "net": amount}
    key = day if request["by"] == ReportBy.DAY else fields["method"]
    sums.add({key: whole}, whole, {})


def _shop_day(at: str) -> str:
    return timezone.day_at(clock.parse(at)).isoformat()


def _charged_tax(order: Order) -> Decimal:
    """Return the tax of an order. One that ended without a refund never had any."""
    ended = order.is_settled and not order.fields["refunds"]
    if order.status is OrderStatus.CANCELLED or ended:
        return _NOTHING
    return Decimal(order.fields["tax"])


def order_sales(order: Order) -> dict[str, Decimal]:
    """Return what an order adds to sales.

    Of a cancelled one: what is kept of a deposit. A closed one is refunded as a whole, and may keep
    money.
    """
    fields = order.fields
    if order.status is OrderStatus.CANCELLED:
        kept = Decimal(fields["retained"] or 0)
        nothing = dict.fromkeys(COLUMNS[ReportType.SALES], _NOTHING)
        return nothing | {"net": kept, "kept": kept}
    kept = Decimal(fields["kept"] or 0)
    lines = fields["lineItems"]
    tax, shipping = Decimal(fields["tax"]), Decimal(fields["shipping"])
    goods = Decimal(fields["total"]) - tax - shipping
    refunds = _refunded_goods(order, goods)
    return {
        "orders": Decimal(1),
        "pieces": _sum_amounts(Decimal(line["quantity"]) for line in lines),
        "gross": _sum_amounts(map(_gross_amount, lines)),
        "discounts": _sum_amounts(map(_discount_amount, (fields, *lines))),
        "refunds": refunds,
        "net": goods - refunds + kept,
        "tax": tax,
        "shipping": shipping,
        "kept": kept,
    }


def _gross_amount(line: Fields) -> Decimal:
    return Decimal(line["price"]) * int(line["quantity"])


def _discount_amount(part: Fields) -> Decimal:
    """Return the discount of an order or of a line."""
    return Decimal(part["discount"]["amount"]) if part["discount"] else _NOTHING


def _refunded_goods(order: Order, goods: Decimal) -> Decimal:
    """Return what refunds took off the price of the goods, without tax and shipping."""
    if order.is_settled:
        return goods
    left = Decimal(order.fields["amountCredited"])
    refunds = order.fields["refunds"]
    left -= min(left, _sum_amounts(map(refunded_tax, refunds)))
    return left - min(left, _sum_amounts(Decimal(refund["shipping"]) for refund in refunds))


def _split_by_product(order: Order, whole: Values) -> dict[str, dict[str, Decimal]]:
    """Return the parts of an order by product; custom lines are "".

    What the order has as a whole is shared out by what the lines cost.
    """
    lines = order.fields["lineItems"]
    costs = [Decimal(line["total"]) for line in lines]
    sells = whole["orders"]  # 0: it is cancelled, and only keeps some money
    discounts = share_out(sells * _discount_amount(order.fields), costs)
    goods = [sells * cost - less for cost, less in zip(costs, discounts, strict=True)]
    # Nothing, unless the order came with sums of its own.
    other = whole["net"] + whole["refunds"] - whole["kept"] - _sum_amounts(goods)
    shares = share_out(other, costs)
    goods = [amount + share for amount, share in zip(goods, shares, strict=True)]
    refunds = _refunds_by_line(order, whole, goods)
    tax, shipping, kept = (share_out(whole[name], costs) for name in ("tax", "shipping", "kept"))
    rows: dict[str, dict[str, Decimal]] = {}
    for place, line in enumerate(lines):
        part = {
            "pieces": sells * int(line["quantity"]),
            "gross": sells * _gross_amount(line),
            "discounts": sells * _discount_amount(line) + discounts[place],
            "refunds": refunds[place],
            "net": goods[place] - refunds[place] + kept[place],
            "tax": tax[place],
            "shipping": shipping[place],
            "kept": kept[place],
        }
        if line["cost"] is not None:
            part["cost"] = _cost_of_line(order, line)
            part["netWithCost"] = part["net"]
            part["profit"] = part["net"] - part["cost"]
        _add_values(rows.setdefault(line["productId"] or "", {"orders": sells}), part)
    return rows


def _cost_of_line(order: Order, line: OrderLine) -> Decimal:
    """Return what the pieces of a line cost that are neither cancelled nor refunded."""
    if order.status is OrderStatus.CANCELLED or order.is_settled:
        return _NOTHING
    return Decimal(line["cost"] or 0) * (int(line["quantity"]) - int(line["refundedQuantity"]))


def _sum_costs(parts: Iterable[Values]) -> dict[str, Decimal]:
    """Return the sums of the costs that are known; nothing if none is."""
    sums: dict[str, Decimal] = {}
    for part in parts:
        _add_values(sums, {name: part[name] for name in COSTS if name in part})
    return sums


def _refunds_by_line(order: Order, whole: Values, goods: list[Decimal]) -> list[Decimal]:
    """Return what was refunded of each line.

    What refunds name of a line is its own; the rest is shared out by what is left of the lines.
    """
    if whole["net"] == whole["kept"]:
        return goods
    own = [
        whole["orders"] * _refunded_line(order, line["id"]) for line in order.fields["lineItems"]
    ]
    if (
        _sum_amounts(own) > whole["refunds"]
    ):  # an `amount` was less than their share, or too much was paid
        return share_out(whole["refunds"], own)
    left = [amount - less for amount, less in zip(goods, own, strict=True)]
    shares = share_out(whole["refunds"] - _sum_amounts(own), left)
    return [amount + share for amount, share in zip(own, shares, strict=True)]


def _refunded_line(order: Order, line_id: str) -> Decimal:
    """Return what refunds name of a line, without its tax."""
    parts = (line for refund in order.fields["refunds"] for line in refund["lines"])
    return _sum_amounts(
        Decimal(part["amount"]) - Decimal(part["tax"])
        for part in parts
        if part["lineItemId"] == line_id
    )


def share_out(amount: Decimal, weights: Sequence[Decimal]) -> list[Decimal]:
    """Return the amount in parts by weight, which together are exactly the amount.

    Each part is rounded from the beginning on, less the parts before it; the last takes the rest.
    """
    whole, until, done = Fraction(_sum_amounts(weights)), Fraction(0), _NOTHING
    parts: list[Decimal] = []
    for weight in weights[:-1]:
        until += Fraction(weight)
        share = Fraction(amount) * until / whole if whole else Fraction(0)
        parts.append(money.round_half_up(share) - done)
        done += parts[-1]
    return [*parts, amount - done]


def _sum_amounts(amounts: Iterable[Decimal]) -> Decimal:
    return sum(amounts, _NOTHING)
