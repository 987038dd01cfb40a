"""The sample catalogue, imported the way a shop imports its own: a CSV through the API."""

import json
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

CATALOGUE = Path(__file__).parent / "sample-catalogue.csv"

_JOB_SECONDS = 300
_POLL_SECONDS = 1.5  # a key has 120 reads a minute
_BOUNDARY = "backroom-sample-catalogue"


def is_empty(base_url: str, key: str) -> bool:
    """Whether the shop has no product yet."""
    return bool(_call_api(f"{base_url}/api/admin/products?limit=1", key)["total"] == 0)


def seed(base_url: str, key: str) -> dict[str, Any]:
    """Import the sample catalogue and return the finished job.

    Raises RuntimeError unless the job completes and every row of it became a product.
    """
    started = _call_api(f"{base_url}/api/admin/products/import", key, upload=CATALOGUE)
    job_url = f"{base_url}/api/admin/jobs/{started['jobId']}"
    deadline = time.monotonic() + _JOB_SECONDS
    while time.monotonic() < deadline:
        job = _call_api(job_url, key)
        if job["status"] in {"COMPLETED", "FAILED"}:
            if job["status"] == "FAILED" or job["failed"]:
                raise RuntimeError(f"the sample catalogue was not imported: {json.dumps(job)}")
            return job
        time.sleep(_POLL_SECONDS)
    raise RuntimeError(f"the sample catalogue is not imported after {_JOB_SECONDS} s: {job}")


def _call_api(url: str, key: str, *, upload: Path | None = None) -> dict[str, Any]:
    headers = {"Authorization": f"Bearer {key}"}
    body = None
    if upload is not None:
        headers["Content-Type"] = f"multipart/form-data; boundary={_BOUNDARY}"
        head = f'Content-Disposition: form-data; name="file"; filename="{upload.name}"'
        part = f"--{_BOUNDARY}\r\n{head}\r\nContent-Type: text/csv\r\n\r\n".encode()
        body = part + upload.read_bytes() + f"\r\n--{_BOUNDARY}--\r\n".encode()
    try:
        request = urllib.request.Request(url, body, headers)
        with urllib.request.urlopen(request, timeout=60) as answer:
            found: dict[str, Any] = json.load(answer)
            return found
    except urllib.error.HTTPError as error:
        raise RuntimeError(f"{url} answered {error.code}: {error.read().decode()}") from error
