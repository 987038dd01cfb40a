"""Lambda's runtime API on loopback, and a function that Lambda's runtime client runs.

https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html
"""

import json
import queue
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import Any

# What Lambda's images have besides Python itself: /var/runtime.
_RUNTIME = ("awslambdaric", "runtime_client", "simplejson", "snapshot_restore_py")
_SDK = ("boto3", "botocore", "s3transfer", "jmespath", "dateutil", "six", "urllib3")
# -I and -S: nothing but the standard library can be imported, and no environment changes that.
_BOOTSTRAP = """
import sys
task, runtime, handler = sys.argv[1:]
sys.path[:0] = [task]
sys.path.append(runtime)
from awslambdaric.__main__ import main
main(["bootstrap", handler])
"""
_PATH = "/2018-06-01/runtime/"
_SECONDS = 60


@dataclass(frozen=True)
class Result:
    """The result that the function posted: `kind` is `response`, `error` or `init/error`."""

    kind: str
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def runtime_folder(folder: Path) -> Path:
    """The folder with the other modules that can be imported in Lambda."""
    folder.mkdir()
    for name in (*_RUNTIME, *_SDK):
        spec = find_spec(name)
        assert spec and spec.origin, name
        origin = Path(spec.origin)
        origin = origin.parent if origin.name == "__init__.py" else origin
        (folder / origin.name).symlink_to(origin)
    return folder


class Function:
    """One function, from its cold start to `stop`."""

    def __init__(
        self, task: Path, runtime: Path, handler: str, settings: Mapping[str, str]
    ) -> None:
        self._events: queue.Queue[tuple[str, bytes] | None] = queue.Queue()
        self._results: queue.Queue[Result] = queue.Queue()
        self._server = _Server(self._events, self._results)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        name = handler.partition(".")[2]
        environment = {
            "AWS_EXECUTION_ENV": f"AWS_Lambda_python3.{sys.version_info[1]}",
            "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "1024",
            "AWS_LAMBDA_FUNCTION_NAME": "backroom-test" + ("" if name == "app" else f"-{name}"),
            "AWS_LAMBDA_FUNCTION_VERSION": "$LATEST",
            "AWS_LAMBDA_RUNTIME_API": f"127.0.0.1:{self._server.server_port}",
            "LAMBDA_TASK_ROOT": str(task),
            "LANG": "en_US.UTF-8",
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "TZ": ":UTC",
            "_HANDLER": handler,
            **settings,
        }
        command = [sys.executable, "-I", "-S", "-B", "-c", _BOOTSTRAP]
        self._process = subprocess.Popen(
            [*command, str(task), str(runtime), handler],
            cwd=task,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.log: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def invoke(self, event: Any) -> Result:
        """The function's result for an event, as the client sent it."""
        body = json.dumps(event, ensure_ascii=False).encode()
        self._events.put((str(uuid.uuid4()), body))
        until = time.monotonic() + _SECONDS
        while time.monotonic() < until:
            try:
                return self._results.get(timeout=0.5)
            except queue.Empty:
                ended = self._process.poll()
                assert ended is None, f"the function ended: {ended}\n{''.join(self.log)}"
        raise AssertionError(f"no answer in {_SECONDS} s\n{''.join(self.log)}")

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()
        self._reader.join(5)
        self._events.put(None)
        self._server.shutdown()
        self._server.server_close()

    def _read(self) -> None:
        assert self._process.stdout is not None
        self.log.extend(self._process.stdout)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, events: Any, results: Any) -> None:
        super().__init__(("127.0.0.1", 0), _Calls)
        self.events, self.results = events, results


class _Calls(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        """…/invocation/next: waits until there is an event."""
        assert self.path == f"{_PATH}invocation/next", self.path
        event = self.server.events.get()
        if event is None:
            self.close_connection = True
            return
        id, body = event
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Lambda-Runtime-Aws-Request-Id", id)
        self.send_header("Lambda-Runtime-Deadline-Ms", str(int(time.time() * 1000) + 60_000))
        arn = "arn:aws:lambda:us-east-1:123456789012:function:backroom-test"
        self.send_header("Lambda-Runtime-Invoked-Function-Arn", arn)
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        """…/invocation/<id>/response, …/invocation/<id>/error, …/init/error."""
        kind = self.path.removeprefix(_PATH)
        if kind.startswith("invocation/"):
            kind = kind.split("/")[2]
        self.server.results.put(Result(kind, self._body()))
        self.send_response(202)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers["Content-Length"]))
        body = b""
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def log_message(self, *_: object) -> None:
        pass
