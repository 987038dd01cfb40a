"""`make run` on this machine: the time of a list among many products, and during an import.

One client, over HTTP, on a separate deployment. `python -m bench.laptop 10000 50000` uses these
sizes; the import from one size to the next is timed.
"""

import http.client
import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any, Final
from urllib.parse import urlsplit

from tests.support.running import Stack, free_port, running

SIZES: Final = (10_000, 50_000)
PART: Final = 10_000  # products a file
MOST_MS: Final = {10_000: 60, 50_000: 100}
RATE, BESIDE_MS = 300, 150  # rows a second into the largest shop; a list meanwhile
RUNS: Final = 50


def main(*sizes: int) -> None:
    with tempfile.TemporaryDirectory() as home, running(Path(home), free_port()) as stack:
        shop = _Client(stack)
        filled = 0
        for size in sizes or SIZES:
            while filled < size:
                filled += PART
                _imported(shop, filled, lambda: None)
            took = median(shop.timed("/api/admin/products") for _ in range(RUNS))
            print(
                f"a list among {size:,}: {took:.0f} ms (at most {MOST_MS.get(size, '')})",
                flush=True,
            )
        beside: list[float] = []
        filled += PART
        rate = _imported(shop, filled, lambda: beside.append(shop.timed("/api/admin/products")))
        print(f"an import into {filled - PART:,}: {rate:.0f} rows a second (at least {RATE})")
        beside.sort()
        print(
            f"lists meanwhile: median {median(beside):.0f} ms (at most {BESIDE_MS}),"
            f" 90 % within {beside[len(beside) * 9 // 10]:.0f} ms"
        )


class _Client:
    """One connection at a time; waits for the Retry-After of a 429."""

    def __init__(self, stack: Stack) -> None:
        self._url, self._key = urlsplit(stack.base_url), stack.api_key

    def call(self, method: str, path: str, body: bytes | None = None, **headers: str) -> Any:
        while True:
            connection = http.client.HTTPConnection(self._url.netloc, timeout=120)
            sent = {"Authorization": f"Bearer {self._key}", **headers}
            connection.request(method, self._url.path + path, body, sent)
            answer = connection.getresponse()
            text = answer.read()
            connection.close()
            if answer.status != 429:
                assert answer.status < 300, text
                return json.loads(text)
            time.sleep(float(answer.headers["Retry-After"]))

    def timed(self, path: str) -> float:
        """Milliseconds of a GET."""
        began = time.perf_counter()
        self.call("GET", path)
        return 1_000 * (time.perf_counter() - began)


def _imported(shop: _Client, until: int, meanwhile: Callable[[], None]) -> float:
    """Imports the last `PART` products before number `until`; returns rows per second."""
    rows = "".join(
        f"part-{n},Product {n} of many,12.50,P-{n:07d},{n % 90}\n"
        for n in range(until - PART, until)
    )
    file = f"slug,name,price,sku,stock\n{rows}"
    head = 'Content-Disposition: form-data; name="file"; filename="p.csv"'
    form = f"--x\r\n{head}\r\n\r\n{file}\r\n--x--\r\n"
    kind = {"Content-Type": "multipart/form-data; boundary=x"}
    began = time.perf_counter()
    job = shop.call("POST", "/api/admin/products/import", form.encode(), **kind)["jobId"]
    while True:
        found = shop.call("GET", f"/api/admin/jobs/{job}")
        if found["status"] == "COMPLETED":
            assert found["created"] == PART, found
            return PART / (time.perf_counter() - began)
        meanwhile()
        time.sleep(0.5)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
