"""What a report has added up, in S3.

It is `exports/<job>.<number>.json` after a step, and when the report has ended its rows are
`exports/<job>.json` and `exports/<job>.csv`. They expire as exports do. A step writes under a
number of its own: a worker with the same step replaces nothing that counts.
"""

import json
from decimal import Decimal
from typing import Final

from chalicelib import aws
from chalicelib.exports.store import place, table
from chalicelib.jobs.model import Job
from chalicelib.reports.model import MOST_ROWS, CsvStyle
from chalicelib.reports.sums import COSTS, COUNTS, Sums, columns_of
from chalicelib.values import money

_CSV: Final = "text/csv; charset=utf-8"


def load_sums(job: Job, number: int | None) -> Sums:
    """Return what the steps until one with this number added up; nothing before the first."""
    columns = columns_of(job.request)
    if number is None:
        return Sums(columns)
    kept = json.loads(_get_object(job, f"{number}.json"))
    rows = {key: _parse_decimals(values) for key, values in kept.pop("rows").items()}
    return Sums(columns, _parse_decimals(kept.pop("totals")), rows, **kept)


def save_sums(job: Job, number: int, sums: Sums) -> None:
    kept = {"totals": sums.totals, "rows": sums.rows, "labels": sums.labels}
    _put_object(job, f"{number}.json", json.dumps({**kept, "left_out": sums.left_out}, default=str))


def _parse_decimals(values: dict[str, str]) -> dict[str, Decimal]:
    return {name: Decimal(value) for name, value in values.items()}


def write_report(job: Job, sums: Sums) -> int:
    """Write the rows of a complete report; return the size of its CSV in bytes.

    Repeating it changes nothing.
    """
    keys = sums.order_keys(job.request["by"])
    rows = [_show_row(sums, key, sums.rows[key]) for key in keys[:MOST_ROWS]]
    truncated = sums.left_out or len(rows) < len(keys)
    totals = _render_values(sums, sums.totals)
    report = {"columns": sums.columns, "rows": rows, "totals": totals, "truncated": truncated}
    _put_object(job, "json", json.dumps(report, ensure_ascii=False))
    header = [job.request["by"], "label", *sums.columns]  # `label` stays: 1.0.0 has it
    lines = (
        [key, sums.labels[key], *map(_parse_cell, _render_values(sums, sums.rows[key]).values())]
        for key in keys
    )
    separator = ";" if job.request.get("csv") == CsvStyle.SEMICOLON else ","
    return _put_object(job, "csv", table(header, lines, separator), _CSV)


def _parse_cell(value: int | str | None) -> Decimal | None:
    return None if value is None else Decimal(value)


def _show_row(sums: Sums, key: str, values: dict[str, Decimal]) -> dict[str, object]:
    return {"key": key or None, "label": sums.labels[key] or None, **_render_values(sums, values)}


def _render_values(sums: Sums, values: dict[str, Decimal]) -> dict[str, int | str | None]:
    return {name: _render_value(name, values.get(name)) for name in sums.columns}


def _render_value(name: str, value: Decimal | None) -> int | str | None:
    if name in COUNTS:
        return int(value or 0)
    return None if value is None and name in COSTS else money.render(value or _ZERO)


_ZERO: Final = Decimal(0)


def load_report(job: Job) -> object:
    """Return the shape of Report."""
    return json.loads(_get_object(job, "json"))


def _get_object(job: Job, name: str) -> bytes:
    data: bytes = aws.client("s3").get_object(**place(job, name))["Body"].read()
    return data


def _put_object(job: Job, name: str, data: str | bytes, kind: str = "application/json") -> int:
    data = data.encode() if isinstance(data, str) else data
    aws.client("s3").put_object(**place(job, name), Body=data, ContentType=kind)
    return len(data)
