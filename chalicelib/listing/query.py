"""What is asked of a list."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol, TypeVar

from chalicelib.ids import key_part
from chalicelib.listing.counts import Where
from chalicelib.listing.index import SEVERAL, Index, several_part
from chalicelib.listing.kinds import Kind
from chalicelib.listing.lists import EVERYTHING, Range
from chalicelib.problems import Invalid

MOST_VALUES: Final = 100  # AWS: operands of IN


class Indexed(Protocol):
    @property
    def id(self) -> str: ...
    @property
    def index(self) -> Index: ...


R = TypeVar("R", bound=Indexed)
Load = Callable[[list[str]], list[R]]


@dataclass(frozen=True)
class Query:
    """What is asked for.

    `where`: facet → accepted values, all facets must hold. `between`: of which sorts. `order`: one
    of the kind's, or that of its sort; `forward`: with the lowest first. `page`: counted from the
    beginning, or `cursor`: what an earlier page gave as `next`, or `*` to begin. `deepest`: how
    many results may be paged through. `counted`: whether the total is asked for.
    """

    where: Mapping[str, frozenset[str]] = field(default_factory=dict)
    search: str = ""
    page: int = 1
    limit: int = 20
    cursor: str = ""
    between: Range = EVERYTHING
    order: str = ""
    forward: bool = False
    deepest: int | None = None
    counted: bool = True

    @property
    def offset(self) -> int:
        return (self.page - 1) * self.limit

    def reads(self, shown: Iterable[str]) -> tuple[str, ...]:
        """The fields to load of each record so that these can be shown; none: all. With its index,
        where records are compared with what is asked for."""
        fields = tuple(shown)
        compares = self.where or self.search or self.between or self.order
        return (*fields, "index") if fields and compares else fields

    def parts(self, kind: Kind) -> Where:
        """`where` as the index holds facets."""
        return key_parts(kind, self.where)


def key_parts(kind: Kind, where: Mapping[str, frozenset[str]]) -> Where:
    """Filters as the index holds facets. Raises Invalid for too many values of one."""
    parts = {}
    for facet, accepted in where.items():
        if len(accepted) > MOST_VALUES:
            raise Invalid.field(facet, "too_many", f"takes at most {MOST_VALUES} values")
        if kind.several and facet == kind.several:
            parts[SEVERAL] = frozenset(map(several_part, accepted))
        else:
            parts[facet] = frozenset(map(key_part, accepted))
    return parts
