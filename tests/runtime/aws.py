"""AWS on loopback, for functions that run in separate processes: the double as DynamoDB, moto for
the rest."""

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from botocore.awsrequest import AWSRequest
from moto.core.models import botocore_stubber

from tests.support.dynamodb_double import Double

_SERVICE = re.compile(r"Credential=[^/]+/\d+/[^/]+/([^/]+)/aws4_request")
_HOSTS = {"ses": "email"}


@contextmanager
def on_loopback(dynamodb: Double) -> Iterator[str]:
    """Its address, for AWS_ENDPOINT_URL. Inside `mock_aws`."""
    server = _Server(dynamodb)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, dynamodb: Double) -> None:
        super().__init__(("127.0.0.1", 0), _Calls)
        self.dynamodb = dynamodb
        self.lock = threading.Lock()


class _Calls(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        found = _SERVICE.search(self.headers["Authorization"])
        assert found, self.headers
        service = found[1]
        headers: Any = {}
        if service == "dynamodb":
            operation = self.headers["X-Amz-Target"].rpartition(".")[2]
            status, reply = self.server.dynamodb.answer(operation, json.loads(body))
            content = json.dumps(reply).encode()
        else:
            status, headers, content = self._by_moto(service, body)
        self.send_response(status)
        for name, value in headers.items():
            if name.lower() not in {"content-length", "transfer-encoding", "connection"}:
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def _by_moto(self, service: str, body: bytes) -> tuple[int, Any, bytes]:
        host = f"{_HOSTS.get(service, service)}.us-east-1.amazonaws.com"
        sent = {name: value for name, value in self.headers.items() if name.lower() != "host"}
        url = f"https://{host}{self.path}"
        prepared = AWSRequest(self.command, url, sent, body).prepare()
        with self.server.lock:
            reply = botocore_stubber(f"before-send.{service}.Any", prepared)
        assert reply is not None, url
        return reply.status_code, reply.headers, reply.content

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = _answer

    def log_message(self, *_: object) -> None:
        pass
