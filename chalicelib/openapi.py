"""The description of the API, OpenAPI 3.1, made from the routes and the models themselves."""

from chalicelib.problems import (
    Busy,
    Forbidden,
    Invalid,
    MalformedJson,
    NotFound,
    PayloadTooLarge,
    Problem,
    RateLimited,
    Unauthorized,
    UnsupportedMediaType,
)
from chalicelib.request.middleware import InternalError
from chalicelib.request.routes import Operation


def problems(operation: Operation) -> frozenset[type[Problem]]:
    """The families that an operation may answer: what it declares, and what follows from that."""
    follow: set[type[Problem]] = {RateLimited, InternalError, Busy, *operation.problems}
    if operation.role is not None:
        follow |= {Unauthorized, Forbidden}
    if operation.body is not None:
        follow |= {MalformedJson, PayloadTooLarge, UnsupportedMediaType, Invalid}
    if operation.query is not None:
        follow |= {Invalid}
    if "{" in operation.path:
        follow |= {NotFound}
    return frozenset(follow)


def statuses(operation: Operation) -> frozenset[int]:
    """Every status that an operation may answer."""
    refusals = {problem.status for problem in problems(operation)}
    return frozenset({*operation.answers, *refusals})
