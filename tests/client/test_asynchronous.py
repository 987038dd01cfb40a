"""AsyncBackroom does what Backroom does; both come from one source."""

import asyncio
import inspect
import json
import os
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
from backroom import AsyncBackroom, Backroom, BackroomError, Policy, RateLimit, Unreachable

from tests.client.answering import Answering

JOB = {"id": "job_1", "status": "COMPLETED", "downloadUrl": "https://files.test/x"}
LIMITS = {
    "X-RateLimit-Limit": "600",
    "X-RateLimit-Remaining": "41",
    "X-RateLimit-Reset": "1800000000",
}


class Shop(Answering):
    """Asked by programs that wait for each answer."""

    async def _answer_later(self, request: httpx.Request) -> httpx.Response:
        await request.aread()
        return self(request)

    async def _wait(self, seconds: float) -> None:
        self.waits.append(seconds)

    def run(self, program: Callable[[AsyncBackroom], Awaitable[Any]]) -> Any:
        async def main() -> Any:
            transport = httpx.MockTransport(self._answer_later)
            policy = Policy(async_sleep=self._wait, chance=lambda: 0.5)
            http = httpx.AsyncClient(transport=transport)
            shop = AsyncBackroom("https://s.test", "k", http=http, policy=policy)
            async with http, shop:
                return await program(shop)

        # In a thread of its own: the browser's tests leave an event loop in the main one.
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(asyncio.run, main()).result()


def test_both_have_the_same_methods_with_the_same_parameters() -> None:
    def public(kind: type) -> dict[str, list[str]]:
        members = inspect.getmembers(kind, inspect.isfunction)
        return {n: list(inspect.signature(f).parameters) for n, f in members if n[0] != "_"}

    ours, plain = public(AsyncBackroom), public(Backroom)
    ours["close"] = ours.pop("aclose")
    assert ours == plain and len(plain) > 70


def test_a_creation_is_repeated_with_the_same_key() -> None:
    lost = httpx.ReadTimeout("no answer")
    limited = httpx.Response(429, json={}, headers={"Retry-After": "7"})
    shop = Shop(orders=[lost, limited, {"id": "ord_1"}])
    made = shop.run(lambda it: it.create_order({"lineItems": []}))
    assert made["id"] == "ord_1" and shop.waits == [1.0, 9.0]
    assert len({each.headers["Idempotency-Key"] for each in shop.requests}) == 1
    shop = Shop(customers__c=[lost])
    with pytest.raises(Unreachable):
        shop.run(lambda it: it.update_customer("c", {"firstName": "x"}))


def test_lists_and_the_feed_are_walked() -> None:
    pages = [
        {"data": [{"id": 1}, {"id": 2}], "pagination": {"next": "c"}},
        {"data": [{"id": 3}], "pagination": {"next": None}},
    ]
    feed = [{"data": [{"event": "order.paid"}], "next": "a"}, {"data": [], "next": "b"}]
    shop = Shop(orders=pages, events=feed)

    async def program(it: AsyncBackroom) -> Any:
        found = [each["id"] async for each in it.iter_orders()]
        return found, [page["next"] async for page in it.feed()]

    assert shop.run(program) == ([1, 2, 3], ["a", "b"])


def test_files_go_up_and_come_down(tmp_path: Path) -> None:
    upload = {"jobId": "job_1", "url": "https://files.test/up", "fields": {"key": "k"}}
    shop = Shop(
        products__import__uploads=upload,
        up=httpx.Response(204),
        exports={"jobId": "job_1"},
        jobs__job_1=[{**JOB, "status": "RUNNING"}, JOB],
        x=httpx.Response(200, content=b"a,b\n"),
    )
    (tmp_path / "in.csv").write_bytes(b"slug,name\nmug,Mug\n")
    (tmp_path / "latest.csv").symlink_to("out.csv")

    async def program(it: AsyncBackroom) -> None:
        sent: list[int] = []
        assert await it.import_products(tmp_path / "in.csv", on_sent=sent.append) == "job_1"
        assert sent[-1] == 18
        await it.export(tmp_path / "latest.csv", {"type": "orders", "all": True})

    shop.run(program)
    assert b"mug,Mug" in shop.requests[1].content
    assert (tmp_path / "out.csv").read_bytes() == b"a,b\n"
    assert (tmp_path / "latest.csv").is_symlink()
    assert [each.name for each in tmp_path.glob(".*")] == []


def test_a_picture_is_uploaded_and_awaited(tmp_path: Path) -> None:
    picture = {"id": "pic_1", "status": "WAITING", "error": None}
    form = {"url": "https://files.test/up", "fields": {"key": "k"}}
    (tmp_path / "cup.jpg").write_bytes(b"\xff\xd8\xff and more")
    for ended, says in (({"status": "READY"}, "READY"), ({"status": "FAILED"}, "cannot be shown")):
        shop = Shop(
            pictures={**picture, "upload": form},
            up=httpx.Response(204),
            pictures__pic_1=[picture, {**picture, **ended, "error": "damaged"}],
        )

        async def program(it: AsyncBackroom) -> str:
            try:
                return (await it.upload_picture(tmp_path / "cup.jpg"))["status"]
            except BackroomError as failed:
                return str(failed)

        assert says in shop.run(program)
        sent = json.loads(shop.requests[0].content)
        assert sent == {"name": "cup.jpg", "contentType": "image/jpeg", "bytes": 12}
        assert b"and more" in shop.requests[1].content


def test_no_file_takes_the_place_of_what_is_none(tmp_path: Path) -> None:
    """As root, it would replace `/dev/stdout`."""
    shop, pipe = Shop(), tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(BackroomError, match="is not a file"):
        Backroom("https://s.test", "k", http=shop.client()).download("https://files.test/x", pipe)
    assert shop.requests == []


def test_a_call_has_its_own_time_out_and_tells_the_rate_limit() -> None:
    answers = [httpx.Response(200, json={}, headers=LIMITS) for _ in range(3)]
    shop = Shop(orders__a=answers)
    told = RateLimit(600, 41, datetime(2027, 1, 15, 8, tzinfo=UTC))

    async def program(it: AsyncBackroom) -> None:
        assert it.rate_limit is None
        await it.get_order("a", timeout=2.5)
        assert it.rate_limit == told

    shop.run(program)
    plain = Backroom("https://s.test", "k", http=shop.client())
    plain.get_order("a", timeout=1.5)
    plain.get_order("a")
    assert plain.rate_limit == told
    waits = [each.extensions["timeout"]["read"] for each in shop.requests]
    assert waits == [2.5, 1.5, 5.0], "the last: of the httpx client that was given"
