"""A receiver of webhooks that trusts nobody: `SECRET=whsec_… python receiver.py`."""

import os
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import ClassVar

from backroom import InvalidSignature, verify

SECRET = os.environ.get("SECRET", "")


class Receiver(BaseHTTPRequestHandler):
    seen: ClassVar[set[str]] = set()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        try:
            delivery = verify(body, dict(self.headers.items()), SECRET)
        except InvalidSignature as refused:
            self.send_error(401, str(refused))
            return
        if delivery["id"] not in self.seen:  # a delivery can come more than once
            self.seen.add(delivery["id"])
            about = dict(delivery["data"])
            ids = [about[name] for name in ("id", "orderId", "variantId") if name in about]
            print(delivery["event"], ids[0], flush=True)
        self.send_response(204)
        self.end_headers()


if __name__ == "__main__":
    HTTPServer(("127.0.0.1", int(os.environ.get("PORT", "9000"))), Receiver).serve_forever()
