"""What clients ask of a list: the base of each list's query model."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Annotated, ClassVar, Final

from pydantic import AfterValidator, Field, ValidationInfo
from pydantic.alias_generators import to_camel

from chalicelib.listing.index import to_sort_key
from chalicelib.listing.lists import EVERYTHING, Range
from chalicelib.listing.query import Query
from chalicelib.schemas import Walk, described_as
from chalicelib.validation import filters
from chalicelib.values import timezone
from chalicelib.values.times import refuse_blank_offset

_ORDERS: Final = {"name": "name", "updatedAt": "updated"}  # besides that of the list of all


class Filters(Walk):
    """A page of a list of the records that match all filters.

    `facets`: the fields that are facets of the records. Such a field has a value or several, any
    of which is accepted; empty or None accepts all. `most_counted`: as of `Query`. Further fields
    that mean the same in each list: `search`, `external_id`, `sort`, such as `-createdAt`, and
    `updated_from`, an UpdatedFrom.
    """

    facets: ClassVar[tuple[str, ...]] = ()
    exact: ClassVar[tuple[str, ...]] = ()  # fields with a text that a record has (`Kind.exact`)
    most_counted: ClassVar[int | None] = None

    def accepted_values(self) -> dict[str, frozenset[str]]:
        """Return {facet in camelCase: accepted texts} of the facets by which the client filters.

        Facets without a value, None or empty, are left out.
        """
        texts_by_facet = {to_camel(name): _to_texts(getattr(self, name)) for name in self.facets}
        return {facet: texts for facet, texts in texts_by_facet.items() if texts}

    def sort_range(self) -> Range:
        """Return the range of sorts to which the list is limited: here all; Dated has its own."""
        return EVERYTHING

    def to_query(self) -> Query:
        """Return the query of the page that the client asks for; nothing is read.

        Of `sort`, a `-` is for descending; `name` and `updatedAt` choose another order than the
        kind's.
        """
        sort = str(getattr(self, "sort", "-"))
        changed_from, _ = timezone.parse_period(getattr(self, "updated_from", ""), "")
        return Query(
            self.accepted_values(),
            getattr(self, "search", ""),
            order=_ORDERS.get(sort.removeprefix("-"), ""),
            forward=not sort.startswith("-"),
            external_id=getattr(self, "external_id", ""),
            exact={name: text for name in self.exact if (text := getattr(self, name))},
            page=self.page,
            limit=self.limit,
            cursor=self.cursor,
            between=self.sort_range(),
            within=Range(to_sort_key(changed_from)) if changed_from else EVERYTHING,
            most_counted=self.most_counted,
        )

    @classmethod
    def query_from_body(cls, sent: dict[str, object], limit: int) -> Query:
        """Return a query of the records that filters in a request body choose, `limit` at a time.

        `sent`: fields of `cls` by their public names. Raises Invalid for others, and for invalid
        values, with fields named `filters.…`.
        """
        return replace(filters(cls, sent, "filters").to_query(), limit=limit)


def _to_texts(value: object) -> frozenset[str]:
    """Return a value, or each member of a list or set, as a set of texts, without falsy ones."""
    values = value if isinstance(value, Iterable) and not isinstance(value, str) else [value]
    return frozenset(str(text) for text in values if text)


def _check_period(value: str) -> str:
    """Return the value if it is "", a day, or a time with or without offset. Raises ValueError."""
    refuse_blank_offset(value)
    try:
        timezone.parse_period(value, value)
    except (ValueError, OverflowError):
        raise ValueError("must be a day, such as 2026-11-20, or a time in ISO 8601") from None
    return value


def _check_order(value: str, info: ValidationInfo) -> str:
    """Return the end of a period, `value`, unless it is before `from_`. Raises ValueError."""
    first, end = timezone.parse_period(info.data.get("from_", ""), value)
    if end and first >= end:
        raise ValueError("must not be before from")
    return value


# Of the description: a day or a time. Other forms of ISO 8601 are read too.
_BOUND: Final = (
    r"^[1-9][0-9]{3}-((0[1-9]|1[0-2])-(0[1-9]|[12][0-9])|(0[13-9]|1[0-2])-30|(0[13578]|1[02])-31)"
    r"(T([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{1,6})?)?"
    r"(Z|[+-](0[0-9]|1[0-4]):[0-5][0-9])?)?$"
)
_Bound = Annotated[str, Field(max_length=40), AfterValidator(_check_period), described_as(_BOUND)]


def _check_order_of_changes(value: str, info: ValidationInfo) -> str:
    """Return the value if the field `sort` is updatedAt or -updatedAt, or is not sent.

    Raises ValueError.
    """
    if not str(info.data.get("sort", "updatedAt")).endswith("updatedAt"):
        raise ValueError("needs sort=updatedAt or sort=-updatedAt")
    return value


# The field `updated_from` of a list, after its `sort`.
UpdatedFrom = Annotated[
    _Bound,
    AfterValidator(_check_order_of_changes),
    Field(description="Only what was changed at this time or later; with `sort=updatedAt`"),
]


class Dated(Filters):
    """Of a list that is in the order of a time: from one, to another."""

    from_: Annotated[
        _Bound,
        Field(
            alias="from",
            description="The first day, or a time, in the shop's time zone unless it has an offset",
        ),
    ] = ""
    to: Annotated[
        _Bound,
        AfterValidator(_check_order),
        Field(description="The last day (inclusive), or a time; as `from`"),
    ] = ""

    def sort_range(self) -> Range:
        """Return the range of sorts from the start of `from_` to the end of `to`; "": no bound."""
        return Range(*timezone.parse_period(self.from_, self.to))
