"""What clients ask a report for."""

from datetime import date
from typing import Annotated, Final

from pydantic import BeforeValidator, Field, ValidationInfo, field_validator

from chalicelib.exports.model import ExportType
from chalicelib.orders.schemas import MoneyClock
from chalicelib.schemas import Choice, NullIsAbsent, about, length
from chalicelib.values import timezone

MOST_DAYS: Final = 366
MOST_ROWS: Final = 1_000  # of an answer
MOST_KEPT: Final = 10_000  # rows while a report adds up, and of its file


class ReportType(Choice):
    """sales: by the date of the order. money: by the day a payment or a refund was recorded, or by
    `clock`. tax: charged by the date of the order, refunded by the day of the refund.
    """

    SALES = "sales"
    MONEY = "money"
    TAX = "tax"


class ReportBy(Choice):
    """What each row of a report is of."""

    DAY = "day"
    PRODUCT = "product"
    SOURCE = "source"
    SALES_REP = "salesRep"
    PAYMENT_METHOD = "paymentMethod"


class CsvStyle(Choice):
    """comma: `a,1.50`. semicolon: `a;1,50`, for spreadsheets of countries with decimal commas."""

    COMMA = "comma"
    SEMICOLON = "semicolon"


_BY: Final = {
    ReportType.SALES: frozenset(ReportBy),
    ReportType.MONEY: frozenset({ReportBy.DAY, ReportBy.PAYMENT_METHOD}),
    ReportType.TAX: frozenset({ReportBy.DAY}),
}
# Which lists each adds up, and the filters besides the period.
READS: Final[dict[str, tuple[tuple[str, dict[str, object]], ...]]] = {
    ReportType.SALES: ((ExportType.ORDERS, {}),),
    ReportType.MONEY: ((ExportType.TRANSACTIONS, {}),),
    ReportType.TAX: ((ExportType.ORDERS, {}), (ExportType.TRANSACTIONS, {"kind": "REFUND"})),
}


def _parse_day(value: object) -> date:
    try:
        day = date.fromisoformat(value if isinstance(value, str) else "")
        timezone.parse_period(day.isoformat(), day.isoformat())
    except (ValueError, OverflowError):
        day = None
    if day is None or day.isoformat() != value:
        raise ValueError("must be a day, such as 2026-11-20")
    return day


Day = Annotated[date, BeforeValidator(_parse_day)]


class NewReport(NullIsAbsent):
    """What to add up."""

    type: Annotated[ReportType, about("What is added up.")]
    by: Annotated[ReportBy, about("What each row is of.")] = ReportBy.DAY
    from_: Annotated[Day, Field(alias="from", description="The first day, of the shop.")]
    to: Annotated[Day, Field(description=f"The last day; a period has at most {MOST_DAYS}.")]
    product_id: Annotated[
        str | None,
        length(60, 1),
        about("Of sales by day: only what was sold of one product."),
    ] = None
    costs: Annotated[
        bool,
        about(
            "Of sales: also `netWithCost`, `cost` and `profit`."
            " Not for a Reader, nor is its outcome."
        ),
    ] = False
    csv: Annotated[CsvStyle, about("How the file is written.")] = CsvStyle.COMMA
    clock: Annotated[
        MoneyClock | None, about("Of money: which time makes its day; `recorded` when absent.")
    ] = None

    @field_validator("to")
    @classmethod
    def _in_order(cls, to: date, info: ValidationInfo) -> date:
        first = info.data.get("from_", to)
        if not 0 <= (to - first).days < MOST_DAYS:
            raise ValueError(f"must be the first day, or at most {MOST_DAYS - 1} days after it")
        begins, ends = timezone.parse_period(first.isoformat(), to.isoformat())
        if begins == ends:
            raise ValueError("must not be a day that the shop's time zone left out")
        return to

    @field_validator("product_id")
    @classmethod
    def _of_sales(cls, product_id: str | None, info: ValidationInfo) -> str | None:
        kind = (info.data.get("type"), info.data.get("by"))
        if product_id is not None and kind != (ReportType.SALES, ReportBy.DAY):
            raise ValueError("is only for sales by day")
        return product_id

    @field_validator("costs")
    @classmethod
    def _of_what_was_sold(cls, costs: bool, info: ValidationInfo) -> bool:
        if costs and info.data.get("type") != ReportType.SALES:
            raise ValueError("is only for sales")
        return costs

    @field_validator("clock")
    @classmethod
    def _of_money(cls, clock: MoneyClock | None, info: ValidationInfo) -> MoneyClock | None:
        if clock is not None and info.data.get("type") != ReportType.MONEY:
            raise ValueError("is only for money")
        return clock

    @field_validator("by")
    @classmethod
    def _can_be_by(cls, by: ReportBy, info: ValidationInfo) -> ReportBy:
        possible = _BY[info.data.get("type", ReportType.SALES)]
        if by not in possible:
            raise ValueError(f"must be one of: {', '.join(sorted(possible))}")
        return by
