"""This code against that of a commit, in one run: CPU, and the response time.

    PYTHONPATH=. python bench/releases.py COMMIT [MILLISECONDS ...]

Each has a process and a DynamoDB of its own with the same products, and they are asked in turn, so
that whatever else the machine does falls on both alike. DynamoDB answers at once for the CPU, and
after 1, 5 and 10 ms for the times. The other code comes out of git, by default
that of the last commit.
"""

import contextlib
import importlib
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, Final

PRODUCTS: Final = 10_000
RUNS, ROUND = 200, 20
DELAYS: Final = (1, 5, 10)  # milliseconds
_HERE = Path(__file__).resolve()
_LIGHT = "fields=id,name,status,price,updatedAt"

REQUESTS: Final = {
    "get a product": "get",
    "get an order": "get order",
    "list 20": "list",
    "list 20, one filter": "list status=ACTIVE",
    "list 20, five fields": f"list {_LIGHT}",
    "list 20, two filters": "list status=ACTIVE&type=hat",
    "search": "list search=sku00001",
    "create a product": "create",
    "update a product": "update",
    "place an order": "order",
    "move an order": "move",
    "storefront list": "public",
}


def main(commit: str = "HEAD", *delays: str) -> None:
    print(f"this code ÷ {commit}, {PRODUCTS:,} products, medians of {RUNS}; load {_load()}\n")
    with _side(_HERE.parent.parent) as this, _code_of(commit) as folder, _side(folder) as last:
        print(f"{'CPU':<22} {'then ms':>8} {'now ms':>8} {'ratio':>6}")
        for name, asked in REQUESTS.items():
            then, now = _both((last, this), asked, "cpu", RUNS)
            print(f"{name:<22} {then:>8.2f} {now:>8.2f} {now / then:>6.2f}", flush=True)
        for delay in map(int, delays or DELAYS):
            last.delay(delay)
            this.delay(delay)
            print(f"\n{f'wait, {delay} ms a call':<22} {'then ms':>8} {'now ms':>8} {'ratio':>6}")
            for name, asked in REQUESTS.items():
                then, now = _both((last, this), asked, "wall", RUNS // 4)
                print(f"{name:<22} {then:>8.1f} {now:>8.1f} {now / then:>6.2f}", flush=True)
    print(f"\nload {_load()}")


def _load() -> str:
    return f"{os.getloadavg()[0]:.1f}"


class _Side:
    """One code: a process that answers requests as Lambda does, and its DynamoDB."""

    def __init__(self, process: "subprocess.Popen[str]", endpoint: str) -> None:
        self._process, self._endpoint = process, endpoint

    def ask(self, request: str, runs: int) -> Any:
        return ask(self._process, [request, runs])

    def delay(self, milliseconds: int) -> None:
        headers = {"X-Amz-Target": "Bench.AnswerAfter"}
        body = json.dumps({"milliseconds": milliseconds}).encode()
        asked = urllib.request.Request(self._endpoint, body, headers)
        urllib.request.urlopen(asked).read()


def _both(sides: Sequence[_Side], request: str, what: str, runs: int) -> list[float]:
    """The median of each side, in milliseconds."""
    figures: list[list[float]] = [[] for _ in sides]
    for side in sides:
        side.ask(request, 5)
    for _ in range(0, runs, ROUND):
        for number, side in enumerate(sides):
            figures[number] += side.ask(request, ROUND)[what]
    return [median(each) for each in figures]


@contextlib.contextmanager
def _code_of(commit: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run(["git", "archive", commit], stdout=subprocess.PIPE, check=True)
        subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
        yield Path(folder)


@contextlib.contextmanager
def serving(
    program: Path, folder: Path, environment: Mapping[str, str]
) -> Iterator["subprocess.Popen[str]"]:
    """A benchmark's `--serve`, with the code in a folder, once it is ready for `ask`."""
    process = subprocess.Popen(
        [sys.executable, str(program), "--serve"],
        cwd=folder,
        env={**os.environ, **environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin and process.stdout
    try:
        assert process.stdout.readline() == "ready\n"
        yield process
    finally:
        process.stdin.close()
        process.wait()


def ask(process: "subprocess.Popen[str]", question: object) -> Any:
    assert process.stdin and process.stdout
    print(json.dumps(question), file=process.stdin, flush=True)
    return json.loads(process.stdout.readline())


@contextlib.contextmanager
def _side(folder: Path) -> Iterator[_Side]:
    from bench import dynamodb
    from infra.emulator import CREDENTIALS

    with dynamodb.running() as endpoint:
        settings = {"STAGE": "bench", "TABLE": "bench", "OUTBOX_TABLE": "bench-outbox"}
        own = {"PYTHONPATH": str(folder), "AWS_ENDPOINT_URL": endpoint}
        with serving(_HERE, folder, {**CREDENTIALS, **settings, **own}) as process:
            yield _Side(process, endpoint)


def _serve() -> None:
    """Answers requests with the code in the working directory, which may be of either commit."""
    sys.path.remove(str(_HERE.parent))
    from app import app
    from bench.requests import sample

    # Commits before November 23 have it elsewhere.
    module = "tests.support.shop" if Path("tests/support").is_dir() else "tests.shop"
    Shop: Any = importlib.import_module(module).Shop
    answers, sys.stdout = sys.stdout, open(os.devnull, "w")  # noqa: SIM115 (the log goes nowhere)
    spent: dict[str, list[float]] = {}

    class Served:
        """The application, timed without the client's work."""

        def __call__(self, event: Any, context: Any) -> Any:
            began, cpu = time.perf_counter(), time.process_time()
            answer = app(event, context)
            spent["cpu"].append(1_000 * (time.process_time() - cpu))
            spent["wall"].append(1_000 * (time.perf_counter() - began))
            return answer

        def __getattr__(self, name: str) -> Any:
            return getattr(app, name)

    def forget() -> None:
        spent.update(cpu=[], wall=[])

    shop, visitors = Shop(served=Served()), itertools.count()
    numbers, prices = itertools.count(PRODUCTS), itertools.count(1)
    admin, orders = "/api/admin/products", "/api/admin/orders"
    forget()
    found: list[Any] = []
    for start in range(0, PRODUCTS, 100):
        rows = [sample(number) for number in range(start, start + 100)]
        done = shop.post(f"{admin}/bulk", rows).json
        assert done["summary"]["failed"] == 0, done
        found += [row.get("id") or row["product"]["id"] for row in done["data"]]
    ids = itertools.cycle(found[:500])
    stocked = [shop.get(f"{admin}/{id}").json["variants"][0]["id"] for id in found[:50]]
    for id, variant in zip(found, stocked, strict=False):
        shop.put(f"{admin}/{id}", {"variants": [{"id": variant, "stock": 1_000_000}]})
    sold = itertools.cycle(stocked)

    def place(number: int) -> Any:
        person = {"email": f"ada.{number}@example.com", "firstName": "Ada", "lastName": "Lovelace"}
        lines = [{"variantId": next(sold), "quantity": 1}]
        body = {"source": "IN_PERSON", "customer": person, "lineItems": lines}
        return shop.post(orders, body, headers={"Idempotency-Key": f"key-{number}"})

    placed = [place(next(numbers)).json["id"] for _ in range(2 * RUNS)]
    newest = placed[-1]

    def public() -> Any:
        return Shop(f"203.0.113.{next(visitors) % 200}", Served()).get("/api/products")

    does = {
        "get": lambda: shop.get(f"{admin}/{next(ids)}"),
        "get order": lambda: shop.get(f"{orders}/{newest}"),
        "create": lambda: shop.post(admin, sample(next(numbers))),
        "update": lambda: shop.put(f"{admin}/{next(ids)}", {"price": f"{next(prices)}.50"}),
        "order": lambda: place(next(numbers)),
        "move": lambda: shop.patch(f"{orders}/{placed.pop()}", {"status": "PAID"}),
        "public": public,
    }
    print("ready", file=answers, flush=True)
    for line in sys.stdin:
        request, runs = json.loads(line)
        query = request.removeprefix("list").strip()
        work = does.get(request) or partial(shop.get, f"{admin}?{query}")
        if request == "move" and len(placed) < runs + 1:
            placed.extend(place(next(numbers)).json["id"] for _ in range(runs + 1))
        forget()
        for _ in range(runs):
            answer = work()
            assert answer.status < 300, answer.text
        print(json.dumps(spent), file=answers, flush=True)


if __name__ == "__main__":
    if sys.argv[1:] == ["--serve"]:
        _serve()
    else:
        main(*sys.argv[1:])
