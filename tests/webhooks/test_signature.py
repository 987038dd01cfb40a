"""Signatures of deliveries, verified by the documented snippets and by a library."""

import json
import re
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from chalicelib.safe_post.post import post
from chalicelib.storage.outbox import Event
from chalicelib.webhooks import signature
from tests.webhooks.receiver import Receiver

MASTER_KEY = bytes(range(32))
SECRET = signature.secret(MASTER_KEY, "wh_01JD3WSHOP", 1)
OLD_SECRET = signature.secret(MASTER_KEY, "wh_01JD3WSHOP", 0)
# Not ASCII, and with blanks that a parser would not keep.
BODY = '{"event":"order.paid",  "data":{"number":"1001","note":"Größe 42 ✓"}}'.encode()
EVENT = Event("evt_1", "order.paid", BODY.decode(), "2024-11-20T06:32:14.123Z")


def test_the_signature_is_the_hmac_of_timestamp_and_body():
    # printf '1732084334.{"event":"order.paid"}' | openssl dgst -sha256 -hmac whsec_example
    assert signature.sign(1732084334, b'{"event":"order.paid"}', ["whsec_example"]) == (
        "t=1732084334,v1=602ba9cd2f760704217cb0de0c36a3f4e63c57c238c82474d31f1c992cb2149a"
    )


def test_during_a_rotation_both_secrets_sign_the_newer_first():
    new, old = (signature.sign(1, BODY, [key]).split(",")[1] for key in (SECRET, OLD_SECRET))
    assert signature.sign(1, BODY, [SECRET, OLD_SECRET]) == f"t=1,{new},{old}"
    assert new != old


def test_every_endpoint_version_and_master_key_has_its_own_secret():
    secrets = {
        signature.secret(key, endpoint, version)
        for key in (MASTER_KEY, bytes(32))
        for endpoint in ("wh_1", "wh_11")
        for version in (1, 11)
    }
    assert len(secrets) == 8
    assert all(re.fullmatch("whsec_[0-9a-f]{64}", one) for one in secrets)
    assert signature.secret(MASTER_KEY, "wh_1", 1) in secrets


def test_a_short_master_key_is_refused():
    with pytest.raises(ValueError, match="32 bytes"):
        signature.secret(b"m" * 31, "wh_1", 1)
    assert signature.secret(b"m" * 32, "wh_1", 1)


def test_the_headers_are_those_of_the_contract():
    headers = signature.headers(EVENT, "dlv_1", 1732084334, BODY, [SECRET])
    assert headers == {
        "Content-Type": "application/json",
        "X-Service-Event": "order.paid",
        "X-Service-Event-Id": "evt_1",
        "X-Service-Occurred-At": "2024-11-20T06:32:14.123Z",
        "X-Service-Delivery": "dlv_1",
        "X-Service-Timestamp": "1732084334",
        "X-Service-Signature": signature.sign(1732084334, BODY, [SECRET]),
        "webhook-id": "dlv_1",
        "webhook-timestamp": "1732084334",
        "webhook-signature": signature.sign_standard("dlv_1", 1732084334, BODY, [SECRET]),
    }
    of_a_test = signature.headers(EVENT, "dlv_1", 1732084334, BODY, [SECRET], test=True)
    assert of_a_test == headers | {"X-Service-Test": "true"}


def test_the_standard_webhooks_library_verifies_a_delivery():
    """With the secret as it is shown; during a rotation with either."""
    now = int(time.time())
    for secrets, knows in (([SECRET], {SECRET}), ([SECRET, OLD_SECRET], {SECRET, OLD_SECRET})):
        with Receiver() as receiver:
            headers = signature.headers(EVENT, "dlv_1", now, BODY, secrets)
            post(receiver.url(), headers, BODY, allowed_networks=["127.0.0.0/8"])
            received = receiver.requests[0]
        for secret in (SECRET, OLD_SECRET):
            verifier = Webhook(secret)
            if secret in knows:
                verified = verifier.verify(received.body, received.headers)
                assert verified == json.loads(BODY)
            else:
                with pytest.raises(WebhookVerificationError):
                    verifier.verify(received.body, received.headers)
        with pytest.raises(WebhookVerificationError):
            Webhook(SECRET).verify(received.body + b" ", received.headers)
        stale = {**received.headers, "webhook-timestamp": str(now - 400)}
        with pytest.raises(WebhookVerificationError):
            Webhook(SECRET).verify(received.body, stale)


def snippet(language: str) -> str:
    """The snippet in the documentation."""
    page = Path(__file__).parents[2] / "docs" / "webhooks.md"
    found = re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(), re.DOTALL | re.MULTILINE)
    assert len(found) == 1
    return found[0]


def python_says(secret: str, mark: str, body: bytes) -> bool:
    names: dict[str, Callable[..., bool]] = {}
    exec(snippet("python"), names)
    return names["verify"](secret, mark, body)


def node_says(secret: str, mark: str, body: bytes) -> bool:
    call = f"verify({json.dumps(secret)}, {json.dumps(mark)}, Buffer.from('{body.hex()}', 'hex'))"
    script = f"{snippet('javascript')}\nconsole.log({call});"
    shown = subprocess.run(["node", "-"], input=script, capture_output=True, text=True, check=True)
    return {"true\n": True, "false\n": False}[shown.stdout]


def shell_says(secret: str, mark: str, body: bytes) -> bool:
    environment = {"SECRET": secret, "SIGNATURE": mark, "PATH": "/usr/local/bin:/usr/bin:/bin"}
    ended = subprocess.run(
        ["sh", "-c", snippet("sh")], input=body, env=environment, capture_output=True, check=False
    )
    assert ended.stderr == b""
    return {0: True, 1: False}[ended.returncode]


def test_the_documented_snippets_accept_only_genuine_deliveries():
    """With the header and bytes that a receiver got."""
    now = int(time.time())

    def delivered(timestamp: int, secrets: list[str]) -> tuple[str, bytes]:
        with Receiver() as receiver:
            headers = signature.headers(EVENT, "dlv_1", timestamp, BODY, secrets)
            post(receiver.url(), headers, BODY, allowed_networks=["127.0.0.0/8"])
            request = receiver.requests[0]
        return request.headers["X-Service-Signature"], request.body

    genuine, body = delivered(now, [SECRET])
    rotated, _ = delivered(now, [SECRET, OLD_SECRET])
    stale, _ = delivered(now - 310, [SECRET])
    early, _ = delivered(now + 3_600, [SECRET])
    cases = {
        "genuine": (SECRET, genuine, body, True),
        "a few minutes old": (SECRET, delivered(now - 200, [SECRET])[0], body, True),
        "rotated, new secret": (SECRET, rotated, body, True),
        "rotated, old secret": (OLD_SECRET, rotated, body, True),
        "another secret": (OLD_SECRET, genuine, body, False),
        "another body": (SECRET, genuine, body + b" ", False),
        "another timestamp": (SECRET, genuine.replace(f"t={now}", f"t={now - 1}"), body, False),
        "too old": (SECRET, stale, body, False),
        "from the future": (SECRET, early, body, False),
        "no timestamp": (SECRET, genuine.partition(",")[2], body, False),
        "no signature": (SECRET, f"t={now}", body, False),
        "an empty signature": (SECRET, f"t={now},v1=", body, False),
        "nonsense": (SECRET, "nonsense", body, False),
    }
    for says in (python_says, node_says, shell_says):
        answers = {name: says(*case[:3]) for name, case in cases.items()}
        assert answers == {name: case[3] for name, case in cases.items()}, says.__name__
