"""The secrets of an endpoint, derived when they are needed from the one key that is kept."""

import base64
from functools import cache

from chalicelib import clock, settings
from chalicelib.webhooks import aws, signature
from chalicelib.webhooks.model import Endpoint


def current_secret(endpoint_id: str, version: int) -> str:
    return signature.secret(_master_key(), endpoint_id, version)


def valid_secrets(endpoint: Endpoint) -> list[str]:
    """What a delivery to the endpoint is signed with now, the newest secret first."""
    now = clock.unix()
    versions = [endpoint.secret_version, *(v for v, until in endpoint.previous if until > now)]
    return [signature.secret(_master_key(), endpoint.id, version) for version in versions]


@cache
def _master_key() -> bytes:
    """One call per container: the key never changes, every secret follows from it."""
    reply = aws.client("ssm").get_parameter(
        Name=settings.master_key_parameter(), WithDecryption=True
    )
    return base64.b64decode(reply["Parameter"]["Value"])
