"""What clients ask of a list: the base of each list's query model."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Annotated, ClassVar, Final

from pydantic import AfterValidator, Field, ValidationInfo
from pydantic.alias_generators import to_camel

from chalicelib.listing.lists import EVERYTHING, Range
from chalicelib.listing.query import Query
from chalicelib.schemas import Walk, refuse_blank_offset
from chalicelib.validation import filters
from chalicelib.values import timezone

_ORDERS: Final = {"name": "name", "updatedAt": "updated"}  # besides that of the list of all


class Filters(Walk):
    """A page of a list of the records that match all filters.

    `facets`: the fields that are facets of the records. Such a field has a value or several, any
    of which is accepted; empty or None accepts all. `most_counted`: as of `Query`. Further fields
    that mean the same in each list: `search`, `external_id`, and `sort`, such as `-createdAt`.
    """

    facets: ClassVar[tuple[str, ...]] = ()
    exact: ClassVar[tuple[str, ...]] = ()  # fields with a text that a record has (`Kind.exact`)
    most_counted: ClassVar[int | None] = None

    def accepted_values(self) -> dict[str, frozenset[str]]:
        """Return the accepted values of each facet by which the client filters."""
        texts_by_facet = {to_camel(name): _to_texts(getattr(self, name)) for name in self.facets}
        return {facet: texts for facet, texts in texts_by_facet.items() if texts}

    def sort_range(self) -> Range:
        """Return the range of sorts to which the list is limited."""
        return EVERYTHING

    def to_query(self) -> Query:
        """Return the query of the page that the client asks for."""
        sort = str(getattr(self, "sort", "-"))
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
            most_counted=self.most_counted,
        )

    @classmethod
    def query_from_body(cls, sent: dict[str, object], limit: int) -> Query:
        """Return the query of the list that filters in a body choose, `limit` records at a time.

        Raises Invalid, with fields named `filters.…`.
        """
        return replace(filters(cls, sent, "filters").to_query(), limit=limit)


def _to_texts(value: object) -> frozenset[str]:
    """Return the value, or each of several, as text; empty values are left out."""
    values = value if isinstance(value, Iterable) and not isinstance(value, str) else [value]
    return frozenset(str(text) for text in values if text)


def _check_period(value: str) -> str:
    """Return the value if it is a day or a time. Raises ValueError."""
    refuse_blank_offset(value)
    try:
        timezone.parse_period(value, value)
    except (ValueError, OverflowError):
        raise ValueError("must be a day, such as 2026-11-20, or a time in ISO 8601") from None
    return value


def _check_order(value: str, info: ValidationInfo) -> str:
    """Return the end of a period if it is not before its begin, `from`. Raises ValueError."""
    first, end = timezone.parse_period(info.data.get("from_", ""), value)
    if end and first >= end:
        raise ValueError("must not be before from")
    return value


_Bound = Annotated[str, Field(max_length=40), AfterValidator(_check_period)]


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
        """Return the range of sort keys from the start of `from_` to the end of `to`."""
        return Range(*timezone.parse_period(self.from_, self.to))
