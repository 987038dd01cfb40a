"""The query of a list: filters, order and page."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeVar

from chalicelib.listing.counts import Where
from chalicelib.listing.index import SEVERAL, Index, several_part
from chalicelib.listing.kinds import Kind
from chalicelib.listing.lists import EVERYTHING, Range
from chalicelib.validation import refuse_many
from chalicelib.values.ids import key_part


class Indexed(Protocol):
    @property
    def id(self) -> str: ...
    @property
    def index(self) -> Index: ...


R = TypeVar("R", bound=Indexed)
Load = Callable[[list[str]], list[R]]


@dataclass(frozen=True)
class Query:
    """A request for a page.

    `where`: facet → accepted values; all facets must match. `between`: the range of sorts. `order`:
    one of the kind's, or by sort if empty; `within`: the range of its keys; `forward`: lowest
    first. `page`: counted from the beginning, or `cursor`: `next` of an earlier page, or `*` to
    start. `deepest`: how many results can be paged through. `most_counted`: how many keys are read
    for a total that no cell has. `external_id`: only of those. `measures`: measure → the range of
    its texts. `exact`: one of the kind's names → the text that a record has.
    """

    where: Mapping[str, frozenset[str]] = field(default_factory=dict)
    search: str = ""
    page: int = 1
    limit: int = 20
    cursor: str = ""
    between: Range = EVERYTHING
    order: str = ""
    within: Range = EVERYTHING
    forward: bool = False
    deepest: int | None = None
    most_counted: int | None = None
    external_id: str = ""
    measures: Mapping[str, Range] = field(default_factory=dict)
    exact: Mapping[str, str] = field(default_factory=dict)

    def continue_after(self, cursor: str | None) -> "Query":
        """Return a copy of the query with this cursor in place of its own; None or "": without one.

        Its `page` stays, and is used only if there is no cursor.
        """
        return replace(self, cursor=cursor or "")

    def position_of(self, record: Indexed) -> str:
        """Return the position of a record in the requested order, `<sort in that order>#<id>`.

        A record without a text for that order has `!`.
        """
        sort = record.index.orders.get(self.order, "!") if self.order else record.index.sort
        return f"{sort}#{record.id}"

    def holds(self, index: Index) -> bool:
        """Return whether a record is in the ranges of the sorts and of the keys of the order."""
        in_order = index.orders.get(self.order, "")
        return self.between.holds(index.sort) and self.within.holds(in_order)

    def sort_positions(self, positions: Iterable[str], after: str | None) -> list[str]:
        """Return these positions in the requested order, each once: all that follow `after`.

        `after` None or "": all. Nothing is cut to a page.
        """
        in_order = sorted(set(positions), reverse=not self.forward)
        if not after:
            return in_order
        return [place for place in in_order if (place > after if self.forward else place < after)]

    def fields_to_load(self, shown: Iterable[str]) -> tuple[str, ...]:
        """Return the fields to load, so that the fields `shown` can be shown; () means all fields.

        All are loaded if `shown` is empty, or the query has exact texts. `index` is added if
        records are compared: if the query has filters, a search, a range, an order, an external id
        or measures.
        """
        fields = tuple(shown)
        if self.exact:
            return ()
        asked = self.where, self.search, self.between, self.order, self.external_id, self.measures
        compares = any(asked)
        return (*fields, "index") if fields and compares else fields


def key_parts(kind: Kind, where: Mapping[str, frozenset[str]]) -> Where:
    """Return filters as the index has them: values are key parts, `several` is named SEVERAL.

    Raises Invalid for too many values of a facet.
    """
    parts = {}
    for facet, accepted in where.items():
        refuse_many(facet, accepted)
        if kind.several and facet == kind.several:
            parts[SEVERAL] = frozenset(map(several_part, accepted))
        else:
            parts[facet] = frozenset(map(key_part, accepted))
    return parts
