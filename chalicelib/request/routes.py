"""Routes: one declaration registers, documents and guards each."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial, wraps
from typing import Any, Final, Protocol, Required, TypedDict, Unpack
from urllib.parse import unquote

from chalice.app import Blueprint, Chalice, ChaliceUnhandledError, Response

from chalicelib.api_keys.model import Role
from chalicelib.problems import MethodNotAllowed, NotFound, Problem
from chalicelib.schemas import QueryParameters

View = Callable[..., Response]
Problems = Sequence[type[Problem]]

METHODS: Final = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
LARGEST_BODY: Final = 1_048_576
JSON: Final = "application/json"
# Unknown paths. The second alone would suffice if API Gateway documented its choice.
ANY_PATHS: Final = ("/api/{proxy+}", "/{proxy+}")


@dataclass(frozen=True, slots=True)
class Operation:
    """A route as declared. `role` None: no key is asked for."""

    method: str
    path: str
    name: str
    tag: str
    summary: str
    description: str
    reads_first: bool
    answers: Mapping[int, object]
    role: Role | None = None
    body: object = None
    query: type[QueryParameters] | None = None
    problems: Problems = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    consumes: str = JSON
    largest_body: int = LARGEST_BODY
    optional_body: bool = False


# The Allow header, by path as declared.
_allowed: Final[dict[str, str]] = {}
# Where the slices' paths begin, imported or not.
begins: Final[list[str]] = []
_LONGEST_HINTED: Final = 200
_LIKE_ENOUGH: Final = 0.75

# By method and path as declared: what there is to call, for the chain and for OpenAPI.
operations: Final[dict[tuple[str, str], Operation]] = {}


class Crash(Problem):
    """Anything that a route did not expect: it carries the cause past Chalice to the middleware."""


class _Declared(TypedDict, total=False):
    """What `Routes` says of each."""

    answers: Required[Mapping[int, object]]
    role: Role | None
    body: object
    query: type[QueryParameters] | None
    problems: Problems
    headers: Mapping[str, str]
    consumes: str
    largest_body: int
    optional_body: bool
    reads_first: bool


class _Declare(Protocol):
    def __call__(
        self, path: str, summary: str, **declared: Unpack[_Declared]
    ) -> Callable[[View], View]: ...


class Routes(Blueprint):
    """The routes of one slice.

        routes = Routes(__name__, "Orders")

        @routes.post("/api/admin/orders", "Create an order", role=Role.STAFF,
                     body=NewOrder, answers={201: Order}, problems=[InsufficientStock])
        def create() -> Response:
            new, once = body_once(NewOrder)
            return reply(201, store.create(new, caller().name, once))

    Everything below /api/admin needs a `role`, nothing else has one. A view gets its path
    parameters, decoded, as arguments; its docstring is the description. `answers` maps the statuses
    of success to what is answered: a TypedDict, None for nothing, or a media type, such as
    "text/csv", for text. `problems` are the families that this route may raise beyond those which
    follow from the declaration: a key means 401 and 403, a body 400, 413, 415 and 422, a query 422,
    a path parameter 404, and any route may answer 429, 500 or 503. `headers` maps request headers
    to what they do.

    `reads_first`: whether it may begin while its key is being admitted (`authenticate.py`). A GET
    may, unless it shows the limits of its key. Another may if it reads the table before it writes,
    and writes to nothing but the table, through `table` and `Commit`.

    `body` is a model, or the JSON Schema of what `parsed_body` or `raw_body` return;
    `optional_body`: it may be absent.
    """

    def __init__(self, import_name: str, tag: str) -> None:
        super().__init__(import_name)
        self._tag = tag
        self.get: _Declare = partial(self._declare, "GET")  # and HEAD
        self.post: _Declare = partial(self._declare, "POST")
        self.put: _Declare = partial(self._declare, "PUT")
        self.patch: _Declare = partial(self._declare, "PATCH")
        self.delete: _Declare = partial(self._declare, "DELETE")

    def _declare(
        self,
        method: str,
        path: str,
        summary: str,
        **declared: Unpack[_Declared],
    ) -> Callable[[View], View]:
        declared.setdefault("reads_first", method == "GET")

        def register_view(view: View) -> View:
            folder = view.__module__.removesuffix(".routes").rpartition(".")[2]
            name, about = f"{folder}.{view.__name__}", view.__doc__ or ""
            operation = Operation(method, path, name, self._tag, summary, about, **declared)
            operations[method, path] = operation
            methods = ["GET", "HEAD"] if method == "GET" else [method]
            # Only a binary type is named: Chalice would judge the content type of requests
            # without a body too, and `body` judges it better.
            types = [] if operation.consumes == JSON else [operation.consumes]
            self.route(path, name=name, methods=methods, content_types=types)(_guard_view(view))
            return view

        return register_view


def _guard_view(view: View) -> View:
    @wraps(view)
    def call_view(**parameters: str) -> Response:
        try:
            return view(**{name: unquote(value) for name, value in parameters.items()})
        except ChaliceUnhandledError:
            raise
        except Exception as error:
            raise Crash("unexpected") from error

    return call_view


def find_operation(method: str, path: str) -> Operation | None:
    """Return the operation of a method and a declared path, None without one."""
    return operations.get(("GET" if method == "HEAD" else method, path))


def allowed_methods(path: str) -> str:
    """Return the methods of a declared path, as the Allow header lists them.

    Empty when there are none.
    """
    return _allowed.get(path, "")


def close(app: Chalice, paths: Iterable[str]) -> None:
    """Answer what no slice does, at these paths: 404 and 405.

    API Gateway itself answers 403 for a method that a path does not have, without our headers; so
    every path has every method that it passes on.
    """
    for path in sorted(paths):
        taken = [method for method in METHODS if method in app.routes.get(path, {})]
        _allowed[path] = ", ".join([*taken, "OPTIONS"]) if taken else ""
        methods_left = [method for method in METHODS if method not in taken]
        app.route(path, methods=methods_left, content_types=[], name=f"rest of {path}")(
            _make_fallback_view(path)
        )


def _make_fallback_view(path: str) -> View:
    def refuse_request(**parameters: str) -> Response:
        taken = allowed_methods(path)
        if not taken:
            raise NoSuchPath
        raise MethodNotAllowed(f"This path allows {taken}.", headers={"Allow": taken})

    return refuse_request


class NoSuchPath(NotFound):
    """404 for an unknown path; with the `nearest` one, if one is similar."""

    def __init__(self, nearest: str | None = None) -> None:
        hint = f" Did you mean {nearest}?" if nearest else ""
        extra_fields: dict[str, Any] = {"nearest": nearest} if nearest else {}
        super().__init__(f"There is nothing at this path.{hint}", **extra_fields)


def paths() -> list[str]:
    """Return every path that this process knows.

    In Lambda, those of imported slices, and the prefixes of the others.
    """
    return [path for path in {**_allowed, **dict.fromkeys(begins)} if path not in ANY_PATHS]


def nearest_paths(asked: str, paths: Iterable[str]) -> str | None:
    """Return the declared path that is most similar to the requested one."""
    from difflib import SequenceMatcher  # not part of a cold start

    parts = asked[:_LONGEST_HINTED].rstrip("/").split("/")

    def measure_likeness(path: str) -> float:
        # A parameter matches anything in its place.
        own = path.split("/")
        filled = [
            part if name.startswith("{") else name
            for name, part in zip(own, parts + own[len(parts) :], strict=False)
        ]
        return SequenceMatcher(None, "/".join(parts).lower(), "/".join(filled)).ratio()

    best = max(paths, key=measure_likeness, default=None)
    return best if best is not None and measure_likeness(best) >= _LIKE_ENOUGH else None
