"""A DynamoDB in a separate process that answers in less than a millisecond: the double of the tests
over HTTP.

A process that waits longer uses more CPU afterwards, because its caches are cold: 0.53 ms per call
becomes 0.70 after 5 ms and 1.2 after 20 ms, the time of an emulator with ten thousand products.
"""

import asyncio
import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.support.dynamodb_double import Double


class _Connection(asyncio.Protocol):
    """One thread serves all connections; more would disturb the measurement."""

    double = Double()
    after = 0.0  # seconds until an answer is sent

    def connection_made(self, transport: Any) -> None:
        self._transport, self._received = transport, b""

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, end, body = self._received.partition(b"\r\n\r\n")
        headers = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
        if not end or len(body) < int(headers[b"content-length"]):
            return
        self._received = b""
        operation = re.search(rb"(?i)x-amz-target: \w+\.(\w+)", head)
        assert operation
        due = time.monotonic() + _Connection.after
        if operation[1] == b"AnswerAfter":
            _Connection.after = json.loads(body)["milliseconds"] / 1_000
            status, answer = 200, {}
        else:
            status, answer = self.double.answer(operation[1].decode(), json.loads(body))
        sent = json.dumps(answer).encode()
        head = b"HTTP/1.1 %d .\r\nContent-Length: %d\r\n\r\n" % (status, len(sent))
        wait = max(0.0, due - time.monotonic())
        asyncio.get_running_loop().call_later(wait, self._transport.write, head + sent)


async def _serve() -> None:
    server = await asyncio.get_running_loop().create_server(_Connection, "127.0.0.1", 0)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


@contextmanager
def running() -> Iterator[str]:
    """Its URL."""
    command = [sys.executable, "-m", "bench.dynamodb"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


if __name__ == "__main__":
    asyncio.run(_serve())
