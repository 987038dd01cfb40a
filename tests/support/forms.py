"""Forms with a file, as a browser posts them."""

import urllib.request
from collections.abc import Mapping
from typing import Any


def form(
    fields: Mapping[str, str], file: str | bytes, name: str = "supplier.csv"
) -> tuple[bytes, str]:
    """The body of the form, with the file as its last part, and its media type."""
    edge = "edge-of-the-form"
    parts = [
        f'--{edge}\r\nContent-Disposition: form-data; name="{field}"\r\n\r\n{value}\r\n'
        for field, value in fields.items()
    ]
    head = f'Content-Disposition: form-data; name="file"; filename="{name}"'
    parts.append(f"--{edge}\r\n{head}\r\nContent-Type: text/csv\r\n\r\n")
    data = file.encode() if isinstance(file, str) else file
    body = "".join(parts).encode() + data + f"\r\n--{edge}--\r\n".encode()
    return body, f"multipart/form-data; boundary={edge}"


def posted(upload: Mapping[str, Any], file: str | bytes) -> None:
    """Posts a file directly to S3, with the form that the API gave for it."""
    body, kind = form(upload["fields"], file)
    request = urllib.request.Request(upload["url"], body, {"Content-Type": kind})
    with urllib.request.urlopen(request, timeout=60) as answer:
        assert answer.status in {200, 201, 204}
