"""The receiver that README starts: it accepts signed deliveries only."""

import threading
import urllib.error
import urllib.request

import pytest

from chalicelib.webhooks import signature
from infra.receiver import is_signed, make_server

SECRET = "whsec_a"
BODY = b'{"event":"order.paid","data":{"id":"ord_1","number":"1001"}}'
NOW = 1_800_000_000


def test_only_signed_deliveries_are_accepted() -> None:
    header = signature.sign(NOW, BODY, [SECRET])
    assert is_signed(SECRET, header, BODY, NOW + 299)
    assert not is_signed(SECRET, header, BODY, NOW + 301)
    assert not is_signed(SECRET, header, BODY + b" ", NOW)
    assert not is_signed("whsec_b", header, BODY, NOW)
    assert is_signed("whsec_b", signature.sign(NOW, BODY, [SECRET, "whsec_b"]), BODY, NOW)
    for odd in ("", "t=²,v1=a", f"t={NOW},v1=²"):
        assert not is_signed(SECRET, odd, BODY, NOW)


def test_accepted_deliveries_are_printed(capfd: pytest.CaptureFixture[str]) -> None:
    receiver = make_server(0, "")
    thread = threading.Thread(target=receiver.serve_forever)
    thread.start()
    try:
        url = f"http://127.0.0.1:{receiver.server_port}/hook"
        with urllib.request.urlopen(urllib.request.Request(url, BODY)) as answer:
            assert answer.status == 204
    finally:
        receiver.shutdown()
        thread.join()
        receiver.server_close()
    assert "order.paid" in capfd.readouterr().out
