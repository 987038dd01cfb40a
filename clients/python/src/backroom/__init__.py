"""Client of Backroom, a commerce back-office.

from backroom import Backroom

with Backroom.from_environment() as shop:
    order = shop.create_order({"lineItems": [{"variantId": "var_…", "quantity": 1}]})
    print(order["number"])
"""

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
from backroom.transport import Policy, Waiting, etag_of
from backroom.version import __version__
from backroom.webhooks import Delivery, verify

__all__ = [
    "ApiError",
    "Backroom",
    "BackroomError",
    "BadRequest",
    "Conflict",
    "Delivery",
    "Forbidden",
    "Gone",
    "Invalid",
    "InvalidSignature",
    "JobFailed",
    "NotFound",
    "NotSignedIn",
    "Policy",
    "PreconditionFailed",
    "RateLimited",
    "ServerError",
    "Unauthorized",
    "Unreachable",
    "Waiting",
    "__version__",
    "etag_of",
    "verify",
]
