"""The secrets of an endpoint, derived from the stored master key when they are needed."""

import base64
from functools import cache
from typing import Any, Final

from chalicelib import aws, settings
from chalicelib.values import clock
from chalicelib.webhooks import signature
from chalicelib.webhooks.model import Endpoint

_KEPT_SECONDS: Final = 600


def current_secret(endpoint_id: str, version: int) -> str:
    """Return an endpoint's secret of this version, derived from the master key.

    The key is read at most every ten minutes.
    """
    return signature.secret(_master_key(), endpoint_id, version)


def valid_secrets(endpoint: Endpoint) -> list[str]:
    """Return the secrets that sign a delivery to the endpoint now, the current one first.

    The others are of earlier versions whose overlap has not ended.
    """
    overlaps = endpoint.overlaps(clock.unix())
    versions = [endpoint.secret_version, *(version for version, _ in overlaps)]
    return [signature.secret(_master_key(), endpoint.id, version) for version in versions]


def _master_key() -> bytes:
    """Read the master key from SSM, at most every ten minutes, and return it decoded.

    So a rotated key needs no deployment.
    """
    name = settings.master_key_parameter()
    return base64.b64decode(_make_ssm_provider().get(name, decrypt=True, max_age=_KEPT_SECONDS))


@cache
def _make_ssm_provider() -> Any:
    """Return the Powertools provider of SSM parameters, one a process, imported when needed."""
    from aws_lambda_powertools.utilities.parameters import SSMProvider

    return SSMProvider(boto3_client=aws.client("ssm"))
