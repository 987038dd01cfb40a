"""Log lines and metrics: one JSON object a line on stdout, which is where Lambda collects them.

Metrics are lines too (CloudWatch's embedded metric format), so recording one costs no call, and a
line can be log and metric at once. Nothing here is handed a secret: callers name their fields.
"""

import json
import sys
import time
import traceback
from collections.abc import Mapping
from typing import Any, Final

from chalicelib import settings

NAMESPACE: Final = "Backroom"
_encode: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=str).encode


def info(message: str, **fields: Any) -> None:
    """An outcome: a constant message, what varies in fields."""
    _write({"level": "INFO", "message": message, **fields})


def warning(message: str, **fields: Any) -> None:
    _write({"level": "WARNING", "message": message, **fields})


def error(message: str, cause: BaseException | None = None, **fields: Any) -> None:
    """What a person has to look at, with the traceback of `cause` or of the `except` around it."""
    cause = cause or sys.exc_info()[1]
    if cause is not None:
        fields["traceback"] = "".join(traceback.format_exception(cause))
    _write({"level": "ERROR", "message": message, **fields})


def measured(
    message: str,
    metrics: Mapping[str, float],
    dimensions: Mapping[str, str] | None = None,
    **fields: Any,
) -> None:
    """A log line whose `metrics` CloudWatch also counts, per stage and per value of `dimensions`.

    A metric whose name ends in `Ms` is in milliseconds, every other one is a count. Each
    combination of dimension values is a metric that is paid for, so only few values make sense.
    """
    by = {"Stage": settings.stage(), **(dimensions or {})}
    units = [
        {"Name": name, "Unit": "Milliseconds" if name.endswith("Ms") else "Count"}
        for name in metrics
    ]
    directive = {"Namespace": NAMESPACE, "Dimensions": [list(by)], "Metrics": units}
    embedded = {"Timestamp": int(time.time() * 1000), "CloudWatchMetrics": [directive]}
    line = {"level": "INFO", "message": message, **fields, **by, **metrics, "_aws": embedded}
    _write(line)


def _write(line: Mapping[str, Any]) -> None:
    # One write for text and line end: threads must not tear each other's lines.
    sys.stdout.write(_encode(line) + "\n")
    sys.stdout.flush()
