"""Log lines and metrics: one JSON object a line on stdout, from where Lambda collects them.

Powertools' Logger and Metrics make them. Metrics are lines too (CloudWatch's embedded metric
format), so recording one costs no call, and a line is log and metric at once. Callers choose
the fields and pass no secrets.
"""

import json
import sys
from collections.abc import Mapping
from typing import Any, Final, TextIO, cast

from aws_lambda_powertools.logging import Logger
from aws_lambda_powertools.metrics import EphemeralMetrics

from chalicelib import __version__, settings

NAMESPACE: Final = "Backroom"
_encode: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=str).encode


class _Stdout:
    """The standard output at the time of writing: tests and servers replace it."""

    def write(self, text: str) -> int:
        return sys.stdout.write(text)

    def flush(self) -> None:
        sys.stdout.flush()


_logger: Final = Logger(
    service="backroom",
    level="INFO",
    stream=cast(TextIO, _Stdout()),
    location=None,
    serialize_stacktrace=False,
    json_serializer=_encode,
    utc=True,
    use_rfc3339=True,
)


_invocation: Final = {"release": __version__}  # what each line of this invocation has
_logger.append_keys(**_invocation)


def begin(context: object) -> None:
    """Put Lambda's request id on each log line of this invocation."""
    id = getattr(context, "aws_request_id", None)
    if id:
        _invocation["lambdaRequestId"] = id
        _logger.append_keys(**_invocation)


def info(message: str, **fields: Any) -> None:
    """Log an outcome: a constant message, with everything variable in fields."""
    _logger.info(message, **fields)


def warning(message: str, **fields: Any) -> None:
    _logger.warning(message, **fields)


def error(message: str, cause: BaseException | None = None, **fields: Any) -> None:
    """Log a failure that needs attention.

    It has the traceback of `cause` or of the current exception, and the request id of the service
    that refused.
    """
    failure = cause or sys.exc_info()[1]
    _logger.error(message, exc_info=failure, **_request_id_fields(failure), **fields)


def given_up(operation: str, failure: BaseException | None) -> None:
    """Log a call that was repeated until its time limit."""
    _logger.warning(
        "call given up", operation=operation, reason=str(failure), **_request_id_fields(failure)
    )


def _request_id_fields(failure: BaseException | None) -> dict[str, Any]:
    response: dict[str, Any] = getattr(failure, "response", None) or {}
    id = response.get("ResponseMetadata", {}).get("RequestId")
    return {"awsRequestId": id} if id else {}


def log_metrics(message: str, metrics: Mapping[str, float], **fields: object) -> None:
    """Log a line whose `metrics` CloudWatch also counts, per stage.

    A metric whose name ends in `Ms` is in milliseconds, every other one is a count.
    """
    line = EphemeralMetrics(namespace=NAMESPACE)
    line.add_dimension("Stage", settings.stage())
    for metric, value in metrics.items():
        line.add_metric(metric, "Milliseconds" if metric.endswith("Ms") else "Count", value)
    for name, field in {"level": "INFO", "message": message, **_invocation, **fields}.items():
        line.add_metadata(name, field)
    # `metrics` again: a plain number instead of Powertools' list of one, for queries of the
    # log. One write for text and line end, so that threads do not interleave lines.
    sys.stdout.write(_encode({**line.serialize_metric_set(), **metrics}) + "\n")
    sys.stdout.flush()
