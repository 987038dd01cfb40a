"""Client of Backroom, a commerce back-office.

from backroom import Backroom

with Backroom.from_environment() as shop:
    order = shop.create_order({"lineItems": [{"variantId": "var_…", "quantity": 1}]})
    print(order["number"])
"""

from backroom.asynchronous.client import AsyncBackroom
from backroom.client import Backroom
from backroom.errors import (
    ApiError,
    BackroomError,
    BadRequest,
    Conflict,
    Forbidden,
    Gone,
    Invalid,
    InvalidSignature,
    JobFailed,
    NotFound,
    PreconditionFailed,
    RateLimited,
    ServerError,
    Unauthorized,
    Unreachable,
)
from backroom.settings import NotSignedIn
from backroom.shared import Policy, RateLimit, Waiting, etag_of
from backroom.version import __version__
from backroom.webhooks import verify

__all__ = [
    "ApiError",
    "AsyncBackroom",
    "Backroom",
    "BackroomError",
    "BadRequest",
    "Conflict",
    "Forbidden",
    "Gone",
    "Invalid",
    "InvalidSignature",
    "JobFailed",
    "NotFound",
    "NotSignedIn",
    "Policy",
    "PreconditionFailed",
    "RateLimit",
    "RateLimited",
    "ServerError",
    "Unauthorized",
    "Unreachable",
    "Waiting",
    "__version__",
    "etag_of",
    "verify",
]
