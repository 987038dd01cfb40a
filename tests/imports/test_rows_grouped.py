"""Rows of one product stay together, and workers read the products that the planner counted."""

import io
import tempfile
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.imports.csv import places as planning
from chalicelib.imports.csv.chunks import Chunk, as_dict, cut
from chalicelib.imports.csv.groups import Group, grouped, groups
from chalicelib.imports.csv.opening import Table, open_csv
from chalicelib.imports.csv.places import Places, hashed
from chalicelib.imports.csv.rows import read
from chalicelib.imports.formats import Format, read_as

HEADER = "Handle,Title,Variant SKU,Variant Price\n"
OWN = "slug,name,price,sku\n"


class Planned:
    """A file, its chunks, and what is copied."""

    def __init__(self, text: str, **options: Any) -> None:
        self.data = text.encode()
        self.table: Table = open_csv([self.data])
        self.format: Format = read_as(self.table.format.header)
        self.groups: list[Group] = list(groups(self.table.rows(), self.format))
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as keys:
            with closing(Places(folder, lambda: False)) as places:
                for group in self.groups:
                    places.add(group)
                places.join(keys)
                copy = io.BytesIO()
                pieces = (self.data[at : at + 3] for at in range(0, len(self.data), 3))
                places.copy_apart(pieces, copy)
                self.copy = copy.getvalue()
                self.chunks: list[Chunk] = list(cut(places.products(), **options))
            keys.seek(0)
            self.keys = keys.read()

    def products(self, chunk: Chunk) -> Iterator[list[int]]:
        """The lines of each product of a chunk."""
        places: Any = as_dict(chunk)
        for line, offset, length in places["file"]:
            part = self.data[offset : offset + length]
            for group in grouped(read(part, self.table.format, offset, line), self.format):
                yield [row.line for row in group]
        for begin, parts in places["apart"]:
            lines, at = [], begin
            for line, length in parts:
                found = read(self.copy[at : at + length], self.table.format, at, line)
                lines += [row.line for row in found]
                at += length
            yield lines

    @property
    def all_products(self) -> list[list[int]]:
        return sorted(lines for chunk in self.chunks for lines in self.products(chunk))


lines = st.lists(
    st.sampled_from(
        ["a,A,s,1", "a,,t,2", ",,u,3", "b,B,v,1", 'c,"C\nC",w,1', 'd,"D,x,1', "", ",,,", "e"]
    ),
    min_size=1,
    max_size=40,
)


@given(lines, st.integers(1, 7))
def test_workers_read_the_products_that_the_planner_counted(parts: list[str], rows: int) -> None:
    text = HEADER + "\n".join(["z,Z,z,1", *parts])
    file = Planned(text, rows=rows)
    expected: dict[str, list[int]] = {}
    for group in grouped(open_csv([file.data]).rows(), file.format):
        expected.setdefault(group[0].cells[0], []).extend(row.line for row in group)
    assert file.all_products == sorted(expected.values())
    for chunk in file.chunks:
        assert len(list(file.products(chunk))) == len(chunk)
        assert len(chunk) == 1 or sum(product.rows for product in chunk) <= rows


def test_a_chunk_ends_between_products_and_has_about_the_requested_rows() -> None:
    file = Planned(HEADER + "".join(f"p{i // 3},P,s{i},1\n" for i in range(90)), rows=20)
    assert [sum(product.rows for product in chunk) for chunk in file.chunks] == [18] * 5
    assert [as_dict(chunk)["line"] for chunk in file.chunks] == [2, 20, 38, 56, 74]
    ranges = [file.groups[at : at + 6] for at in range(0, 30, 6)]
    assert [as_dict(chunk)["file"] for chunk in file.chunks] == [
        [[some[0].line, some[0].offset, sum(group.length for group in some)]] for some in ranges
    ]


def test_distant_rows_of_a_product_are_read_together_in_their_order() -> None:
    many = 1_000
    rows = "".join(f"p{n * 7 % many},P,s{n},1\n" for n in range(3 * many))
    file = Planned(HEADER + rows)
    assert file.all_products == [[2 + n, 2 + n + many, 2 + n + 2 * many] for n in range(many)]
    assert len(file.chunks) == 16, "at most 200 rows each"
    assert not any(as_dict(chunk)["file"] for chunk in file.chunks)


def test_a_product_with_a_giant_row_is_of_no_chunk() -> None:
    giant = 'a,"' + "x" * 3_000_000 + '",s,1\n'
    file = Planned(HEADER + "a,A,s,1\n" + giant + "b,B,t,1\n")
    failed, _ = file.groups
    assert failed.error and (failed.line, failed.rows, failed.error.row) == (2, 2, 3)
    assert failed.error.code == "record_too_large"
    assert file.all_products == [[4]]


def test_variations_are_read_with_their_parent_by_id_and_by_sku() -> None:
    header = "ID,Type,SKU,Name,Regular price,Parent\n"
    rows = '45,variation,V1,"Tee - Red",9,id:44\n44,variable,TEE,Tee,,\n46,variation,V2,T,9,TEE\n'
    assert Planned(header + rows).all_products == [[2, 3, 4]]
    others = "".join(f"{n},simple,S{n},N,1,\n" for n in range(3))
    apart = others.join(line + "\n" for line in rows.splitlines())
    assert [2, 6, 10] in Planned(header + apart).all_products


def test_a_sku_joins_rows_that_have_nothing_else_if_one_product_has_it() -> None:
    file = Planned(OWN + ",,2,X\nb,B,1,Y\na,A,1,X\nc,C,1,\n,,3,X\n")
    assert file.all_products == [[2, 4, 6], [3], [5]]
    file = Planned(OWN + "a,A,1,X\nc,C,1,\nb,B,1,X\nd,D,1,\n,,3,X\n")
    assert file.all_products == [[2], [3], [4], [5], [6]]
    (errors,) = (as_dict(chunk)["errors"] for chunk in file.chunks)
    assert {line: error.code for line, error in errors.items()} == {6: "shared_key"}


def test_one_sku_in_a_thousand_products_joins_none_of_them() -> None:
    rows = "".join(f"p{n},P,1,X\n" for n in range(1_000))
    assert len(Planned(OWN + rows + "q,Q,1,\n,,2,X\n").all_products) == 1_002


def test_the_keys_of_a_file_are_sorted_and_each_there_once() -> None:
    file = Planned(OWN + "a,A,1,X\nb,B,1,Y\nA,A,1,X\n")
    keys = memoryview(file.keys).cast("q").tolist()
    assert keys == sorted(hashed(["a", "sku X", "b", "sku Y"]))


def test_no_time_left_ends_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planning, "_STEPS", 1)
    late = iter([False])
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(Places(folder, lambda: next(late, True))) as places,
    ):
        places.add(Group(0, 1, 2, 1, {"a"}, set()))
        with pytest.raises(planning.sqlite3.OperationalError):
            places.join(io.BytesIO())


@pytest.mark.parametrize(
    "text",
    [
        "sku,name,price,attribute_set_code\nMug,mug,1,Default\nHat,Hat,1,Default\n",
        "Handle,Title,Variant SKU,Variant Price\nmug,Mug,,1\nhat,Hat,,1\n",
    ],
)
def test_nothing_of_unique_products_is_copied(text: str) -> None:
    file = Planned(text)
    assert (len(file.all_products), file.copy) == (2, b"")
