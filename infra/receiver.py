"""A receiver for trying webhooks: prints each delivery, and answers 204.

    python infra/receiver.py [--port 9000] [--secret whsec_…]

With the webhook's secret, it checks each signature (docs/webhooks.md) and answers 401 if one is
wrong. It needs only Python, and listens on this machine only.
"""

import argparse
import contextlib
import hashlib
import hmac
import json
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

_TOLERANCE = 300  # seconds between the signature's timestamp and now


def is_signed(secret: str, signature: str, body: bytes, now: float) -> bool:
    """Whether one of the `v1` signatures of the header is right, and recent."""
    parts = [part.partition("=") for part in signature.split(",")]
    stamp = next((value for name, _, value in parts if name == "t"), "")
    expected = hmac.new(secret.encode(), stamp.encode() + b"." + body, hashlib.sha256).hexdigest()
    given = [value for name, _, value in parts if name == "v1" and value.isascii()]
    recent = stamp.isdecimal() and abs(now - int(stamp)) <= _TOLERANCE
    return recent and any(hmac.compare_digest(expected, value) for value in given)


def make_server(port: int, secret: str) -> ThreadingHTTPServer:
    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            signature = self.headers.get("X-Service-Signature", "")
            if secret and not is_signed(secret, signature, body, time.time()):
                print("401  the signature is wrong", flush=True)
                self.send_response(401)
            else:
                event = json.loads(body)
                data = event["data"]
                named = data.get("number") or data.get("name") or data.get("id", "")
                print(f"204  {event['event']:16} {named}", flush=True)
                self.send_response(204)
            self.end_headers()

        def log_message(self, file_format: str, *args: object) -> None:
            """Print nothing: what was received is printed in place of an access log."""

    return ThreadingHTTPServer(("127.0.0.1", port), Receiver)


def main() -> None:
    assert __doc__
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--port", type=int, default=9000)
    parser.add_argument("--secret", default="", help="whsec_…: check each signature")
    asked = parser.parse_args()
    receiver = make_server(asked.port, asked.secret)
    print(f"listening on http://127.0.0.1:{asked.port}/; Ctrl-C stops it", flush=True)
    with contextlib.suppress(KeyboardInterrupt):
        receiver.serve_forever()


if __name__ == "__main__":
    main()
