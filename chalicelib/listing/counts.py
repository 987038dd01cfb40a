"""How many records there are, by facet: read from the count cells."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from chalicelib.listing.kinds import Kind, split_attribute
from chalicelib.storage import table
from chalicelib.storage.attributes import Item
from chalicelib.storage.dynamodb import DynamoCall

Where = Mapping[str, frozenset[str]]
Cells = list[tuple[dict[str, str], int]]


@dataclass(frozen=True)
class Counts:
    """The cells that a list with filters needs.

    `cells`: of the whole kind; `under`: those of each requested value, `<facet>=<value>`.
    """

    kind: Kind
    cells: Cells
    under: Mapping[str, Cells]

    def size(self, where: Where) -> int | None:
        """Return how many records match these filters; None if no cells count that (`is_counted`).

        `where`: all filters with which the cells were read, or some of them. A range (`between`) is
        not considered. It is at least 0, though half of a change may have been read.
        """
        if not is_counted(self.kind, where):
            return None
        numbers = [n for facets, n in self.cells if _matches(facets, where)]
        for facet in self.kind.under:
            others = {other: accepted for other, accepted in where.items() if other != facet}
            for value in where.get(facet, ()):
                cells = self.under.get(f"{facet}={value}", ())
                numbers += [n for facets, n in cells if _matches(facets, others)]
        return max(0, sum(numbers))


def is_counted(kind: Kind, where: Where) -> bool:
    """Return whether cells count the records that match these filters together.

    They do if all facets are `counted`, but for at most one, which is of `under` and does not
    accept "".
    """
    under = [facet for facet in where if facet in kind.under]
    return where.keys() <= {*kind.counted, *under[:1]} and not any(
        "" in where[facet] for facet in under
    )


def _matches(facets: Mapping[str, str], where: Where) -> bool:
    """Return whether the facets of a cell have an accepted value for each in `where`."""
    return all(facets.get(facet) in accepted for facet, accepted in where.items())


def count_calls(
    kind: Kind, where: Where, *, for_total: bool = False
) -> list[DynamoCall[list[Item]]]:
    """Return the unsent calls, one a partition, that read the count cells that these filters need.

    `sum_counts` takes their results. They are the cells of the whole kind, and those of each
    requested value of a facet of `under`. `for_total`: only the cells that count what matches all
    of `where`.
    """
    pks = [
        f"{kind.count_pk()}#{value}" if value else kind.count_pk()
        for value in _cell_partitions(kind, where, for_total)
    ]
    fields = ("sk", "n", *map(split_attribute, _split_values(kind, where)))
    return [table.query_all.call(pk, fields=fields) for pk in pks]


def sum_counts(
    kind: Kind, where: Where, read: list[list[Item]], *, for_total: bool = False
) -> Counts:
    """Return the counts of all cells, from the results of `count_calls` with the same arguments.

    Nothing is read. `read`: these results, in order: the items of one partition each; another
    number of them is a ValueError. Each cell's shards are added up, but no two cells.
    """
    names = _cell_partitions(kind, where, for_total)
    cells = {name: _sum_cells(kind, where, items) for name, items in zip(names, read, strict=True)}
    return Counts(kind, cells.get("", []), cells)


def _cell_partitions(kind: Kind, where: Where, for_total: bool) -> list[str]:
    """Return which cells to read: "" stands for those of the whole kind, then `<facet>=<value>`.

    There is one `<facet>=<value>` for each requested value of a facet of `under`. `for_total`:
    without "", if there are such values.
    """
    values = [f"{f}={value}" for f in kind.under for value in sorted(where.get(f, ())) if value]
    return values if values and for_total else ["", *values]


def _split_values(kind: Kind, where: Where) -> list[str]:
    """Return the requested values of the split facet, sorted, without "" (no value)."""
    return sorted(filter(None, where.get(kind.split, ())))


def _sum_cells(kind: Kind, where: Where, items: list[Item]) -> Cells:
    """Return (facets, number) of each cell: the number is summed over the cell's shards, perhaps 0.

    For each requested value of the split facet, the part of the cell that has the value is a cell
    of its own; the others are another one, without that facet. `items`: the shards of cells.
    """
    names = {split_attribute(value): value for value in _split_values(kind, where)}
    sums: defaultdict[tuple[str, str], int | Decimal] = defaultdict(int)
    for item in items:
        cell, others = item["sk"].rpartition("#")[0], item.get("n", 0)
        for name, value in names.items():
            if name in item:
                sums[cell, value] += item[name]
                others -= item[name]
        sums[cell, ""] += others
    return [
        (kind.cell_facets(cell) | ({kind.split: value} if value else {}), int(n))
        for (cell, value), n in sums.items()
    ]
