"""The products of a chunk, from the file of their job."""

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from io import BytesIO
from typing import Any, Final

from chalicelib.imports import columns, files
from chalicelib.imports.csv.faults import RowError
from chalicelib.imports.csv.groups import grouped, name_key
from chalicelib.imports.csv.places import KEY_BYTES, hashed
from chalicelib.imports.csv.rows import read
from chalicelib.imports.model import ImportJob
from chalicelib.imports.upsert import Group, ProductRows
from chalicelib.products.model import Product

_WHOLE: Final = 4 << 20  # bytes of keys that are read at once; of more, the place is estimated
_AROUND: Final = 6  # standard deviations


class Reader:
    def __init__(self, job: ImportJob) -> None:
        self.job = job
        self.format = columns.of_job(job)
        self.shop = columns.shop_of(job)

    def products(self, chunk: Mapping[str, Any]) -> list[ProductRows]:
        """The products of a chunk, as `csv/chunks.py` describes it."""
        errors = {int(line): RowError(*error) for line, error in chunk["errors"].items()}
        found = [*self._of_file(chunk["file"]), *self._apart(chunk["apart"])]
        rows = [
            ProductRows(each, lambda rows: self.format.product(rows, self.shop)) for each in found
        ]
        for each in rows:
            if each.line in errors:
                each.fail(errors[each.line])
        return rows

    def _of_file(self, places: list[tuple[int, int, int]]) -> Iterator[list[Group]]:
        """Products of adjacent rows."""
        if not places:
            return
        (_, begin, _), (_, last, length) = places[0], places[-1]
        data = files.read(self.job.id, self.job.etag, begin, last + length - begin)
        for line, offset, length in places:
            part = data[offset - begin : offset - begin + length]
            for group in grouped(read(part, self.job.format, offset, line), self.format):
                yield [group]

    def _apart(self, products: list[tuple[int, list[tuple[int, int]]]]) -> Iterator[list[Group]]:
        """Products of groups that are apart in the file."""
        if not products:
            return
        (begin, _), (last, groups) = products[0], products[-1]
        end = last + sum(length for _, length in groups)
        data = BytesIO(files.read_kept(self.job.id, "apart", begin, end - begin))
        for at, groups in products:
            data.seek(at - begin)
            parts = [(line, data.read(length)) for line, length in groups]
            yield [[*read(part, self.job.format, at, line)] for line, part in parts]

    def is_in_file(self, product: Product) -> bool:
        """Whether rows of the file have the product's own slug or name."""
        keys = (product.slug, name_key(product.fields["name"]))
        return any(map(_has(self.job.id), hashed(keys)))


@lru_cache(2)
def _has(job_id: str) -> Callable[[int], bool]:
    """Whether a file has a key, by its hash. All workers of a job find the same keys."""
    size = files.size_of(job_id, "keys")
    count = size // KEY_BYTES

    def keys(first: int, last: int) -> "array[int]":
        found: array[int] = array("q")
        if last > first:
            place = (first * KEY_BYTES, (last - first) * KEY_BYTES)
            found.frombytes(files.read_kept(job_id, "keys", *place))
        return found

    if size <= _WHOLE:
        whole = keys(0, count)
        return lambda wanted: _is_among(wanted, whole)

    def has(wanted: int) -> bool:
        """Hashes are spread evenly, so the place of one is nearly known."""
        near = (wanted + (1 << 63)) * count >> 64
        around = _AROUND * int(count**0.5) // 2 + 1
        return _is_among(wanted, keys(max(0, near - around), min(count, near + around)))

    return has


def _is_among(wanted: int, keys: "array[int]") -> bool:
    at = bisect_left(keys, wanted)
    return at < len(keys) and keys[at] == wanted
