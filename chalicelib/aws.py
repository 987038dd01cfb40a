"""The clients of AWS's services, each made when it is first used."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from threading import RLock
from typing import Any, Final

import boto3
import botocore.session
from botocore.config import Config
from botocore.exceptions import ClientError

from chalicelib import settings

# Seconds to connect, seconds to answer, attempts; `table.py` also retries calls to DynamoDB.
_USUAL: Final = (2, 8, 3)
# What S3 answers if an object is gone, or is not the one with the ETag that is asked for.
_GONE: Final = frozenset({"PreconditionFailed", "412", "NoSuchKey", "404"})
_OF: Final = {"dynamodb": (1, 6, 2), "s3": (2, 30, 4), "sqs": (2, 10, 4)}


making: Final = RLock()  # a client takes tens of milliseconds: each is made once


@cache
def session() -> Any:
    """Return botocore's session, shared by all clients, so that credentials are looked up once."""
    return botocore.session.get_session()


@cache
def _boto3() -> Any:
    return boto3.Session(botocore_session=session())


def client(service: str) -> Any:
    with making:
        return _client(service)


@cache
def _client(service: str) -> object:
    connect, read, attempts = _OF.get(service, _USUAL)
    return _boto3().client(
        service,
        config=Config(
            connect_timeout=connect,
            read_timeout=read,
            retries={"mode": "standard", "total_max_attempts": attempts},
            parameter_validation=False,
            max_pool_connections=32,
            **(_s3() if service == "s3" else {}),
            user_agent="backroom",  # building botocore's own takes a tenth of a call
        ),
    )


def end_upload(key: str, upload: str, etags: Iterable[tuple[int, str]]) -> None:
    """Complete an object of S3 that was uploaded in parts.

    `etags`: the number and the ETag of each part. Repeating it is no error.
    """
    parts = [{"ETag": etag, "PartNumber": number} for number, etag in etags]
    try:
        client("s3").complete_multipart_upload(
            Bucket=settings.bucket(), Key=key, UploadId=upload, MultipartUpload={"Parts": parts}
        )
    except ClientError as error:
        if error.response["Error"]["Code"] != "NoSuchUpload":
            raise


@contextmanager
def raising_if_gone(gone: type[Exception]) -> Iterator[None]:
    """Raise `gone` where S3 says that an object is gone, or another one than was asked for."""
    try:
        yield
    except ClientError as error:
        if error.response["Error"]["Code"] in _GONE:
            raise gone from None
        raise


def forget() -> None:
    """Forget the clients: for tests and benchmarks that switch to another AWS."""
    _client.cache_clear()
    _boto3.cache_clear()
    session.cache_clear()


def _s3() -> dict[str, Any]:
    """Return the options of a client of S3 that addresses the bucket in its own region.

    The global addresses, botocore's default, redirect or fail. An emulator has no host name for
    each bucket.
    """
    style = "auto" if settings.emulator() else "virtual"
    where = {"addressing_style": style, "us_east_1_regional_endpoint": "regional"}
    return {"signature_version": "s3v4", "s3": where}
