"""Log lines of the functions, for people: `make run` prints them (`LOG=json`: as they are)."""

import json
from datetime import datetime
from typing import Any, Final

_SAID: Final = {
    "lambdaRequestId",
    "release",
    "_aws",
    "Stage",
    "level",
    "service",
    "timestamp",
    "message",
    "xray_trace_id",
}
_OF_REQUESTS: Final = {
    *("method", "route", "status", "Requests", "LatencyMs", "ClientErrors", "ServerErrors"),
    *("group", "keyId", "requestId"),
}
_LONGEST: Final = 300


def render_line(function: str, message: str, milliseconds: int) -> str:
    """Return a log entry as one line, or more with a traceback.

    `function`: without the name of the stage; the API has none. `milliseconds`: when it was logged,
    since 1970.
    """
    time = f"{datetime.fromtimestamp(milliseconds / 1000):%H:%M:%S}"
    try:
        parsed = json.loads(message)
    except ValueError:
        parsed = None
    if not isinstance(parsed, dict):
        return f"{time}  {function or 'api'}: {message}"
    if parsed.get("message") == "request" and "route" in parsed:
        status, took = parsed.get("status"), parsed.get("LatencyMs", 0)
        what = f"{parsed.get('method', ''):6} {parsed['route']}"
        more = _render_fields({name: parsed[name] for name in parsed if name not in _OF_REQUESTS})
        return f"{time}  {what} → {status} in {took:.0f} ms{more}"
    level = parsed.get("level", "INFO")
    loud = f"{level}: " if level not in {"INFO", "DEBUG"} else ""
    trace = parsed.pop("exception", None)
    line = f"{time}  {function or 'api'}: {loud}{parsed.get('message', '')}{_render_fields(parsed)}"
    return f"{line}\n{trace}" if trace else line


def _render_fields(fields: dict[str, Any]) -> str:
    """Without fields that are zero or empty."""
    parts = (
        f"{name}={value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
        for name, value in fields.items()
        if name not in _SAID and value not in (0, "", None, [], {})
    )
    text = "  ".join(parts)
    return f"  {text[:_LONGEST]}" if text else ""
