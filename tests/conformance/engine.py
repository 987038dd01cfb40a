"""AWS's own DynamoDB engine, DynamoDB Local, in memory and on loopback (`make conformance`)."""

import http.client
import json
import subprocess
import time
from hashlib import sha256
from pathlib import Path
from typing import Any

from tests.support.dynamodb_expressions import Wire
from tests.support.dynamodb_partition import DEFINITION
from tests.support.running import free_port

LIBRARY = Path(__file__).resolve().parents[2] / ".conformance/lib"
_START_SECONDS = 120
# Not looked at, but to have the form of one.
AUTHORIZATION = (
    "AWS4-HMAC-SHA256 Credential=testing/20260101/us-east-1/dynamodb/aws4_request,"
    " SignedHeaders=host, Signature=0"
)


class Engine:
    """One process. A space keeps the tables of one test from those of another."""

    def __init__(self) -> None:
        self._port = free_port()
        self._made: set[str] = set()
        command = ["java", "-Xmx512m", f"-Djava.library.path={LIBRARY}", "-cp", f"{LIBRARY}/*"]
        command += ["software.amazon.dynamodb.services.local.main.ServerRunner"]
        command += ["-inMemory", "-port", str(self._port), "-disableTelemetry"]
        self._process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        self._wait()

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait(30)

    def answer(self, space: str, operation: str, request: Wire) -> tuple[int, Wire]:
        """The engine's status and JSON for a request about the tables of a space."""
        named = json.loads(json.dumps(request))
        for part in _parts(named):
            part["TableName"] = self._in(space, part["TableName"])
        if isinstance(asked := named.get("RequestItems"), dict):
            named["RequestItems"] = {self._in(space, name): each for name, each in asked.items()}
        if token := named.get("ClientRequestToken"):
            # Tests whose ids are counted use one token twice; the engine keeps it for ten minutes.
            named["ClientRequestToken"] = sha256(f"{space}{token}".encode()).hexdigest()[:36]
        status, reply = self._send(operation, named)
        for field in ("Responses", "UnprocessedKeys", "UnprocessedItems"):
            if field in reply:
                reply[field] = {name.removeprefix(space): v for name, v in reply[field].items()}
        return status, reply

    def _in(self, space: str, name: str) -> str:
        whole = space + name
        if whole not in self._made:
            self._made.add(whole)
            status, reply = self._send("CreateTable", {"TableName": whole, **DEFINITION})
            assert status == 200, reply
        return whole

    def _send(self, operation: str, request: Wire) -> tuple[int, Wire]:
        """One after the other, each on a new connection, as a kept one may be closed."""
        headers = {
            "Authorization": AUTHORIZATION,
            "Content-Type": "application/x-amz-json-1.0",
            "X-Amz-Target": f"DynamoDB_20120810.{operation}",
        }
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)
        try:
            connection.request("POST", "/", json.dumps(request).encode(), headers)
            response = connection.getresponse()
            reply: Any = json.loads(response.read() or b"{}")
        finally:
            connection.close()
        return response.status, reply

    def _wait(self) -> None:
        deadline = time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline and self._process.poll() is None:
            try:
                self._send("ListTables", {})
                return
            except OSError:
                time.sleep(0.3)
        self._process.kill()
        assert self._process.stdout is not None
        raise RuntimeError(f"DynamoDB Local did not start:\n{self._process.stdout.read()!r}")


def _parts(request: Wire) -> list[Wire]:
    """All places where a request names its table."""
    parts = [request] if "TableName" in request else []
    for action in request.get("TransactItems", ()):
        parts += list(action.values())
    return parts
