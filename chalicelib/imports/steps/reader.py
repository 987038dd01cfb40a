"""The file of a job, as groups of rows."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, lru_cache, partial
from typing import Any

from chalicelib import settings, threads
from chalicelib.imports import columns, files
from chalicelib.imports.csv.groups import Group, groups, name_key
from chalicelib.imports.csv.records import read
from chalicelib.imports.csv.seen import Seen
from chalicelib.imports.formats import Format, Shop
from chalicelib.imports.model import ImportJob
from chalicelib.imports.steps.waiting import Waiting
from chalicelib.imports.upsert import ProductRows
from chalicelib.products.model import Product
from chalicelib.values import clock


class Reader:
    def __init__(self, job: ImportJob) -> None:
        self.job = job
        self.format: Format = columns.of_job(job)
        today, location = clock.now().date(), job.options.location
        self.shop = Shop(settings.currency(), today, location)

    def rows(self, part: Mapping[str, object]) -> list[ProductRows]:
        """The groups of a byte range that begins and ends between products."""
        return [self._rows(group) for group in self._groups(part)]

    def waiting(self, waiting: Sequence[Waiting]) -> list[ProductRows]:
        found = threads.together([partial(self._groups, vars(row)) for row in waiting])
        return [self._rows(group) for (group,) in found]

    def whole(self, rows: Sequence[ProductRows]) -> ProductRows:
        """One product of rows from several places of the file."""
        return self._rows(Group([record for row in rows for record in row.records], ()))

    @cached_property
    def seen(self) -> Seen:
        """All keys of the file."""
        return Seen(bytearray(files.read_keys(self.job.id)))

    def _rows(self, group: Group) -> ProductRows:
        rows = ProductRows.of(group.records, self.format, self.shop)
        again = _again(self.job.id)
        if again is not None and any(name in again for name in group.names):
            rows.names = list(group.names)
        return rows

    def _groups(self, part: Mapping[str, Any]) -> list[Group]:
        offset, length, line = int(part["offset"]), int(part["length"]), int(part["line"])
        data = files.read(self.job.id, self.job.etag, offset, length)
        return list(groups(read(data, self.job.format, offset, line), self.format))


@lru_cache(2)
def _again(job_id: str) -> Seen | None:
    """The keys that the file has at several places, if there are any. The planner stores them
    before any chunk starts."""
    try:
        return Seen.unpacked(files.read_keys(job_id, "again"))
    except files.FileChanged:
        return None


def is_in_file(reader: Reader) -> Callable[[Product], bool]:
    """Whether rows of the file have a product's own slug or name; true by mistake for a few
    (`Seen`)."""

    def names(product: Product) -> bool:
        keys = (product.slug, name_key(product.fields["name"]))
        return any(key in reader.seen for key in keys)

    return names
