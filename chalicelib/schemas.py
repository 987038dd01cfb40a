"""Common parts of the shapes of requests and answers, for the slices' `schemas.py`.

Requests are pydantic models derived from `Input` and `Query`. Answers are TypedDicts with the
API's own names (from typing_extensions: pydantic documents no others before Python 3.12): they cost
nothing at run time, and `openapi.py` reads both.
"""

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Generic,
    NotRequired,
    Self,
    TypeAlias,
    TypeVar,
    get_args,
    get_origin,
)

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    ValidationInfo,
    field_validator,
    model_validator,
    with_config,
)
from pydantic.alias_generators import to_camel
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema, PydanticCustomError, PydanticKnownError
from typing_extensions import TypedDict, get_type_hints

PAGE_SIZE = 20
LARGEST_PAGE = 100

_SEEN = r"[^\x00-\x20\x7f-\xa0]"  # of the description: a text that is not blank
_UNSEEN = frozenset({"Cc", "Cf", "Zl", "Zp", "Zs"})  # categories of Unicode

T = TypeVar("T")
Model = TypeVar("Model", bound=BaseModel)
Record_co = TypeVar("Record_co", covariant=True)


class Choice(StrEnum):
    """An enumeration that clients may write in any case.

    `active` is ACTIVE, and returned as ACTIVE.
    """

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        if not isinstance(value, str):
            return None
        written = value.strip().lower()
        return next((member for member in cls if member.value.lower() == written), None)


class _Sent(BaseModel):
    """What a client sends: camelCase names."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        validate_by_name=True,
        # A cold start pays for the models that its first request needs, not for all.
        defer_build=True,
        # An unexpected failure is logged with its traceback, which must not repeat the input.
        hide_input_in_errors=True,
    )

    shape: ClassVar[type] = dict
    """The TypedDict of the record that this is about. A field without a text of its own has the
    text of the member with its name; `dict` has no members."""

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        schema = handler(core)
        _add_texts(cls.shape, handler.resolve_ref_schema(schema))
        return schema


class Input(_Sent):
    """A request body or a part of one: camelCase names, and no undeclared fields.

    A resource that was read may be sent back as it is: the names in `read_only` (as the API spells
    them) are ignored.
    """

    model_config = ConfigDict(extra="forbid")

    read_only: ClassVar[frozenset[str]] = frozenset()

    @model_validator(mode="before")
    @classmethod
    def _without_read_only(cls, sent: object) -> object:
        if not cls.read_only or not isinstance(sent, dict) or cls.read_only.isdisjoint(sent):
            return sent
        return {name: value for name, value in sent.items() if name not in cls.read_only}

    def sent_fields(self) -> dict[str, Any]:
        """Return only the fields that the client sent: absent and null differ."""
        return self.model_dump(by_alias=True, exclude_unset=True)


class Stripped(Input):
    """Text in it has no blanks around it."""

    model_config = ConfigDict(str_strip_whitespace=True)

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        schema = super().__get_pydantic_json_schema__(core, handler)
        for field in handler.resolve_ref_schema(schema)["properties"].values():
            for one in field.get("anyOf", [field]):
                text = one.get("items", one)
                if text.get("type") == "string" and text.get("minLength"):
                    text.setdefault("pattern", _SEEN)  # blanks alone have no length
        return schema


class NullIsAbsent(Input):
    """An input in which null for an optional field means the same as leaving it out.

    Those in `null_clears` (as the API spells them) are cleared instead.
    """

    null_clears: ClassVar[frozenset[str]] = frozenset()

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        schema = super().__get_pydantic_json_schema__(core, handler)
        described = handler.resolve_ref_schema(schema)
        for name, field in described["properties"].items():
            if name not in described.get("required", ()):
                described["properties"][name] = _describe_null(field)
        return schema

    @model_validator(mode="before")
    @classmethod
    def _without_null(cls, sent: object) -> object:
        if not isinstance(sent, dict):
            return sent
        optional = {
            field.alias for field in cls.model_fields.values() if not field.is_required()
        } - cls.null_clears
        return {
            name: value for name, value in sent.items() if value is not None or name not in optional
        }


class Chosen(NullIsAbsent):
    """Which records of a list. All of them are meant only if that is said.

    `ids_in`: the field with their ids, where they can be sent.
    """

    ids_in: ClassVar[str] = "ids"

    filters: Annotated[
        dict[str, object],
        Field(description="Query parameters of the list, except page, limit, cursor and sort"),
    ] = Field(default_factory=dict)
    all: bool = Field(
        default_factory=bool, description="All records, with no `ids` and no `filters`."
    )

    @model_validator(mode="after")
    def _says_which(self) -> Self:
        ways = {name: getattr(self, name, None) for name in (self.ids_in, "filters", "all")}
        if sum(value not in (None, {}, False) for value in ways.values()) != 1:
            there = [to_camel(name) for name in ways if name in type(self).model_fields]
            names = f"{', '.join(there[:-1])} or {there[-1]}: true"
            raise PydanticCustomError("one_of", "needs exactly one of {names}", {"names": names})
        return self


class Absent:
    """A field that was not sent, where null would be an error."""


if TYPE_CHECKING:
    Maybe: TypeAlias = T | Absent
else:

    class Maybe:
        """`Maybe[T]`: a client sends a T or nothing."""

        def __class_getitem__(cls, kind: object) -> object:
            return kind


def about(text: str) -> object:
    """Return the text of a field in the description of the API."""
    return Field(description=text)


def described_as(pattern: str) -> object:
    """Return the pattern of a text in the description, where a validator refuses other texts."""
    return Field(json_schema_extra={"pattern": pattern})


def texts_of(shape: type) -> dict[str, str]:
    """Return the text of each member of a TypedDict that has one."""
    hints = get_type_hints(shape, include_extras=True)
    return {name: text for name, hint in hints.items() if (text := _text_of(hint))}


def pick_members(record: Mapping[str, object], shape: type) -> dict[str, object]:
    """Return the members of a record that a shape, a TypedDict, has.

    The record may have more, but must have all of them.
    """
    return {name: record[name] for name in shape.__annotations__}


def texts_as_in(shape: type) -> Callable[[type[T]], type[T]]:
    """Return a decorator: members of a TypedDict without a text get that of the same in `shape`."""
    return with_config(ConfigDict(json_schema_extra=partial(_add_texts, shape)))


def _add_texts(shape: type, schema: dict[str, Any]) -> None:
    """Add the texts of the members of `shape` to those properties that have none."""
    fields = schema["properties"]
    for name, text in texts_of(shape).items():
        if name in fields:
            fields[name].setdefault("description", text)


def _text_of(hint: object) -> str | None:
    if get_origin(hint) is NotRequired:
        return _text_of(get_args(hint)[0])
    texts = [part.description for part in get_args(hint)[1:] if isinstance(part, FieldInfo)]
    return next(filter(None, texts), None)


def optional(text: str | None = None) -> Any:
    """Return the default and the text of a field that is null unless it is sent."""
    return Field(None, description=text)


def not_empty(change: Model) -> Model:
    """Require that a change has at least one field: a validator."""
    if not change.model_fields_set:
        raise ValueError("must have at least one field to change")
    return change


def at_most(most: int) -> AfterValidator:
    """Return a validator by which a larger number counts as that."""
    return AfterValidator(lambda number: min(number, most))


def length(longest: int, shortest: int = 0) -> object:
    return Field(min_length=shortest, max_length=longest)


def upper(value: object) -> object:
    """Return a name in capitals, as it is stored: it is accepted in any case."""
    return value.strip().upper() if isinstance(value, str) and value.isascii() else value


def _drop_unseen(sent: object) -> object:
    if not isinstance(sent, str) or sent.isprintable():  # blanks are stripped elsewhere
        return sent
    return "" if all(unicodedata.category(one) in _UNSEEN for one in sent) else sent


# Text of nothing but blanks and characters without width, such as a zero-width space, is empty.
SEEN = BeforeValidator(_drop_unseen)


def _describe_null(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a field that takes null too. What is said of the field stays outside."""
    said = {"default", "description"}
    outside = {name: value for name, value in schema.items() if name in said}
    inner = {name: value for name, value in schema.items() if name not in said}
    types = inner.get("anyOf", [inner])
    null = {"type": "null"}
    return schema if null in types else {"anyOf": [*types, null], **outside}


@dataclass(frozen=True)
class _NullIs(BeforeValidator):
    """A validator of a field that takes null, as its description says."""

    def __get_pydantic_json_schema__(
        self, core: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return _describe_null(handler(core))


def null_is(default: object) -> BeforeValidator:
    """Return a validator by which null means the same as leaving the field out."""
    return _NullIs(lambda sent: default if sent is None else sent)


def _without_underscores(sent: object) -> object:
    """Refuse an underscore in a number: Python reads `5_0` as 50."""
    if isinstance(sent, str) and "_" in sent:
        raise PydanticKnownError("decimal_parsing")
    return sent


@dataclass(frozen=True)
class _Number(BeforeValidator):
    """A validator of a Decimal, which may come as text; the description has the text's form."""

    def __get_pydantic_json_schema__(
        self, core: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        schema = handler(core)
        for option in schema.get("anyOf", ()):
            if option.get("type") == "string":
                option["pattern"] = r"^-?[0-9]{1,30}(\.[0-9]+)?$"
        return schema


NUMBER = _Number(_without_underscores)
# true or false, and nothing that looks like it; null is false.
Flag = Annotated[bool, null_is(False), Field(strict=True)]


class QueryParameters(_Sent):
    """Query parameters: camelCase.

    Admin routes refuse unknown and blank ones by name, the others ignore them (`request/parse.py`).
    """


def _split(sent: object) -> object:
    if not isinstance(sent, list):
        return sent
    return [part.strip() for text in sent for part in str(text).split(",") if part.strip()]


# A query parameter that takes several values, comma-separated or repeated: `Several[Status]`.
Several = Annotated[list[T], BeforeValidator(_split)]


class Sparse(QueryParameters):
    """`fields` of a list or a get: which members an answer has. Other members are not read.

    `shape`: the TypedDict whose members there are.
    """

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        schema = super().__get_pydantic_json_schema__(core, handler)
        fields = handler.resolve_ref_schema(schema)["properties"]["fields"]
        fields["items"] = {"type": "string", "enum": list(cls.shape.__annotations__)}
        return schema

    fields: Annotated[
        Several[str],
        Field(
            description="Only these members of each record, comma-separated; all unless given. The"
            " others are absent, although the schema of the answer requires them"
        ),
    ] = Field(default_factory=list)

    @field_validator("fields")
    @classmethod
    def _check_fields(cls, asked: list[str]) -> list[str]:
        for name in asked:
            if name not in cls.shape.__annotations__:
                there = ", ".join(cls.shape.__annotations__)
                message = "has no {name}; there are {there}"
                raise PydanticCustomError(
                    "not_allowed", message, {"name": repr(name[:100]), "there": there}
                )
        return asked


def _digits(value: object) -> object:
    """Refuse what is no whole number, though Python reads it so: `5_0` as 50, and true as 1."""
    is_odd = isinstance(value, str) and not re.fullmatch(r"\s*-?[0-9]+\s*", value)
    if is_odd or isinstance(value, bool):
        raise PydanticCustomError("int_parsing", "must be a whole number")
    return value


DIGITS = BeforeValidator(_digits)  # for a whole number that may come as text
_Count = Annotated[int, Field(ge=1, le=10**15), DIGITS]


Limit = Annotated[
    _Count,
    Field(description="Items per page; more than 100 counts as 100."),
    at_most(LARGEST_PAGE),
]


class PageQuery(QueryParameters):
    """`page` and `limit` of a list. A limit over 100 is 100 (docs/api.md#lists)."""

    page: Annotated[_Count, Field(description="Page number.")] = 1
    limit: Limit = PAGE_SIZE


class Walk(PageQuery):
    """A page by its number or by a cursor."""

    cursor: Annotated[
        str,
        Field(
            max_length=2_000,
            description="`pagination.next` of an earlier page, or `*` to begin; no `page`",
        ),
    ] = ""

    @field_validator("cursor")
    @classmethod
    def _one_of_both(cls, value: str, info: ValidationInfo) -> str:
        if value and info.data.get("page", 1) != 1:
            raise PydanticCustomError("value_error", "cannot be combined with page")
        return value


class Pagination(TypedDict):
    """The page, and the number of pages."""

    page: Annotated[int, about("Number of the page, from 1.")]
    limit: Annotated[int, about("Items per page.")]
    total: Annotated[int, about("How many there are in all.")]
    totalPages: Annotated[int, about("Number of pages.")]


class CursorPagination(Pagination):
    """The page, the number of pages, and the cursor of the next page."""

    next: Annotated[str | None, Field(description="Send it as `cursor`; null at the end")]


class Listed(TypedDict, Generic[T]):
    """The answer of a list."""

    data: Annotated[list[T], about("The items.")]
    pagination: Annotated[Pagination, about("Which page this is.")]
    total: Annotated[int, about("How many there are in all.")]


class Walked(TypedDict, Generic[T]):
    """The answer of a list that can also be read by cursor."""

    data: Annotated[list[T], about("The items.")]
    pagination: Annotated[CursorPagination, about("Which page this is.")]
    total: Annotated[int, about("How many there are in all.")]
    totalIsAtLeast: NotRequired[
        Annotated[bool, Field(description="There are more than `total`; they were not counted")]
    ]


@dataclass(frozen=True)
class Page(Generic[Record_co]):
    """A page of a list.

    `next`: the cursor of the next page, None at the end. `at_least`: there are more than `total`,
    not counted. `after`: the cursor after the nth record; None for a page by number, which must be
    complete.
    """

    records: Sequence[Record_co]
    total: int
    page: int
    limit: int
    next: str | None = None
    at_least: bool = False
    after: Callable[[int], str] | None = None


def numbered_page(data: list[T], total: int, page: PageQuery) -> Listed[T]:
    """Return one page of a list of `total` items."""
    numbers = _pagination(page.page, page.limit, total)
    return {"data": data, "pagination": numbers, "total": total}


def cursor_page(data: Sequence[T], page: Page[object], following: str | None = None) -> Walked[T]:
    """Return one page of a list, and the cursor after it: `next`, or after the page."""
    numbers: CursorPagination = {
        **_pagination(page.page, page.limit, page.total),
        "next": following or page.next,
    }
    answer: Walked[T] = {"data": list(data), "pagination": numbers, "total": page.total}
    if page.at_least:
        answer["totalIsAtLeast"] = True
    return answer


def _pagination(page: int, limit: int, total: int) -> Pagination:
    return {"page": page, "limit": limit, "total": total, "totalPages": -(-total // limit)}


class Deleted(TypedDict):
    """What was deleted."""

    id: Annotated[str, about("Identifier.")]
    deleted: Annotated[bool, about("Always true.")]
