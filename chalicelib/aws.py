"""The clients of SQS, Step Functions, SSM and SES, each made when it is first used."""

from functools import cache
from typing import Any

import botocore.session
from botocore.config import Config


@cache
def client(service: str) -> Any:
    return botocore.session.get_session().create_client(
        service,
        config=Config(
            connect_timeout=2,
            read_timeout=8,
            retries={"mode": "standard", "total_max_attempts": 3},
            parameter_validation=False,
            max_pool_connections=16,
        ),
    )
