"""A report as the API shows it."""

import re
from typing import Annotated, NotRequired

from typing_extensions import TypedDict

from chalicelib.exports.store import download_url
from chalicelib.jobs.model import Job, ShownJob, show_whole
from chalicelib.reports import store
from chalicelib.reports.model import MOST_ROWS
from chalicelib.schemas import about


class ReportSums(TypedDict):
    """Sums of a report: those of its type. Amounts are decimals as text."""

    orders: NotRequired[Annotated[int, about("Sales: orders that were not cancelled.")]]
    pieces: NotRequired[Annotated[int, about("Sales: pieces of their lines.")]]
    gross: NotRequired[Annotated[str, about("Sales: quantity times price of the lines.")]]
    discounts: NotRequired[Annotated[str, about("Sales: of lines and of orders.")]]
    refunds: NotRequired[
        Annotated[
            str,
            about("Sales: what refunds took off the price of the goods. Money: what was refunded."),
        ]
    ]
    net: NotRequired[
        Annotated[
            str,
            about(
                "Sales: gross less discounts and refunds, and what was kept."
                " Money: payments less refunds and voids. Tax: charged less refunded."
            ),
        ]
    ]
    tax: NotRequired[Annotated[str, about("Sales: tax of the orders, as charged.")]]
    shipping: NotRequired[Annotated[str, about("Sales: shipping of the orders, as charged.")]]
    kept: NotRequired[
        Annotated[str, about("Sales: money of closed or cancelled orders that did not go back.")]
    ]
    netWithCost: NotRequired[
        Annotated[
            str | None,
            about(
                "Sales with `costs`: the part of `net` whose lines have a known cost; null: none."
            ),
        ]
    ]
    cost: NotRequired[
        Annotated[str | None, about("Sales with `costs`: what the pieces cost, as far as known.")]
    ]
    profit: NotRequired[
        Annotated[
            str | None,
            about("Sales with `costs`: `netWithCost` less `cost`; null: no cost is known."),
        ]
    ]
    payments: NotRequired[Annotated[str, about("Money: payments that were recorded.")]]
    voids: NotRequired[Annotated[str, about("Money: payments that were voided.")]]
    charged: NotRequired[Annotated[str, about("Tax: of orders that were not cancelled.")]]
    refunded: NotRequired[Annotated[str, about("Tax: the part of refunds.")]]


class ReportRow(ReportSums):
    """The sums of one day, product, source, sales rep or payment method."""

    key: Annotated[str | None, about("The day, id or name; null: those without one.")]
    label: Annotated[str | None, about("What people call it.")]


class Report(TypedDict):
    """What a report added up."""

    columns: Annotated[list[str], about("The names of its sums.")]
    rows: Annotated[
        list[ReportRow],
        about(f"Days in their order, others with the most net first; at most {MOST_ROWS}."),
    ]
    totals: Annotated[ReportSums, about("Of all rows, also of those that are not shown.")]
    truncated: Annotated[bool, about("Whether rows are not shown.")]


class ShownReportJob(ShownJob):
    """A job that adds up a report."""

    report: Annotated[Report | None, about("What it added up, for 30 days; null: it is not there.")]


def show_report(job: Job) -> dict[str, object]:
    """Return the shape of ShownReportJob."""
    url = download_url(job, _file_name(job)) if job.has_file else None
    shown = show_whole(job, [], url)
    return {**shown, "report": store.load_report(job) if job.has_file else None}


def _file_name(job: Job) -> str:
    """Return a name such as `sales-by-product-2026-11-01-to-2026-11-30`."""
    asked = job.request
    by = re.sub("([A-Z])", r"-\1", asked["by"]).lower()
    return f"{asked['type']}-by-{by}-{asked['from']}-to-{asked['to']}"
