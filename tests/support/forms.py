"""Forms with a file, as a browser posts them."""

from collections.abc import Mapping
from typing import Any

import httpx


def form(
    fields: Mapping[str, str], file: str | bytes, name: str = "supplier.csv"
) -> tuple[bytes, str]:
    """The body of the form, with the file as its last part, and its media type."""
    data = file.encode() if isinstance(file, str) else file
    files = {"file": (name, data, "text/csv")}
    request = httpx.Request("POST", "http://form.test", data=dict(fields), files=files)
    return request.read(), request.headers["Content-Type"]


def posted(upload: Mapping[str, Any], file: str | bytes) -> None:
    """Posts a file directly to S3, with the form that the API gave for it."""
    body, kind = form(upload["fields"], file)
    answer = httpx.post(upload["url"], content=body, headers={"Content-Type": kind}, timeout=60)
    assert answer.is_success, answer.text
