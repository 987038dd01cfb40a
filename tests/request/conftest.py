"""`trial`: a shop with test routes, for cases that no real route has."""

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar

import pytest
from chalice.app import Chalice, Response
from pydantic import Field

from chalicelib.problems import PreconditionFailed
from chalicelib.request import Role, Routes, body, if_match, parsed_body, query, raw_body, reply
from chalicelib.request.middleware import handle
from chalicelib.request.routes import close, operations
from chalicelib.schemas import Input, PageQuery, Several
from tests.support.shop import Shop


class Part(Input):
    read_only: ClassVar[frozenset[str]] = frozenset({"id"})
    unit_price: Annotated[int, Field(ge=0)]


class Thing(Input):
    read_only: ClassVar[frozenset[str]] = frozenset({"id", "createdAt"})
    full_name: str
    parts: list[Part] = Field(default_factory=list)


class Search(PageQuery):
    status: Several[str] = Field(default_factory=list)
    search: str | None = None


def made() -> Routes:
    routes = Routes(__name__, "Trial")

    @routes.post("/api/trial/things", "Echo", body=Thing, answers={201: dict[str, Any]})
    def create() -> Response:
        return reply(201, body(Thing).model_dump(by_alias=True))

    @routes.post("/api/trial/raw", "Any JSON", body={}, answers={200: Any}, largest_body=1000)
    def any_json() -> Response:
        return reply(200, [parsed_body()])

    @routes.post(
        "/api/trial/file",
        "Bytes",
        body={"type": "object"},
        consumes="multipart/form-data",
        answers={200: dict[str, int]},
        largest_body=1000,
    )
    def upload() -> Response:
        return reply(200, {"size": len(raw_body())})

    @routes.get("/api/trial/things", "Echo", query=Search, answers={200: dict[str, Any]})
    def search() -> Response:
        return reply(200, query(Search).model_dump())

    @routes.get("/api/trial/things/{id}", "Echo", answers={200: dict[str, Any], 304: None})
    def get(id: str) -> Response:
        return reply(200, {"id": id}, etag="v1")

    @routes.put(
        "/api/trial/things/{id}",
        "Conditional",
        answers={200: dict[str, object]},
        problems=[PreconditionFailed],
    )
    def put(id: str) -> Response:
        wanted = if_match()
        if wanted is not None and "v1" not in wanted:
            raise PreconditionFailed("It has changed.")
        return reply(200, {})

    @routes.get("/api/trial/broken", "Fails", answers={})
    def broken() -> Response:
        raise KeyError("a secret of ours")

    @routes.get(
        "/api/admin/trial/admins", "Admins", role=Role.ADMIN, answers={200: dict[str, object]}
    )
    def admins() -> Response:
        return reply(200, {})

    return routes


@pytest.fixture
def trial(dynamodb: Any) -> Iterator[Shop]:
    before = dict(operations)
    served = Chalice("trial", configure_logs=False)
    served.api.binary_types.append("multipart/form-data")
    served.register_middleware(handle, "http")
    served.register_blueprint(made())
    close(served, list(served.routes))
    yield Shop(served=served)
    operations.clear()
    operations.update(before)
