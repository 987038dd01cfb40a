"""Rows of one product stay together, wherever they are, and workers read them as they were."""

import sqlite3
import tempfile
from contextlib import closing
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.imports import joining
from chalicelib.imports.chunks import cut, pack, unpack
from chalicelib.imports.csv.groups import Group, group_rows
from chalicelib.imports.csv.opening import open_csv
from chalicelib.imports.csv.rows import CsvRow
from chalicelib.imports.formats import Format, read_as
from chalicelib.imports.joining import Joining, hash_keys

HEADER = "Handle,Title,Variant SKU,Variant Price\n"
OWN = "slug,name,price,sku\n"


class Planned:
    """A file, and the chunks of its products, as a worker reads them."""

    def __init__(self, text: str, **options: Any) -> None:
        table = open_csv([text.encode()])
        self.format: Format = read_as(table.format.header)
        self.groups: list[Group] = list(group_rows(table.rows(), self.format))
        with (
            tempfile.TemporaryDirectory() as folder,
            closing(Joining(folder, lambda: False)) as file,
        ):
            for group in self.groups:
                file.add(group)
            self.keys = file.join()
            self.chunks = [
                [unpack(pack(product)) for product in chunk]
                for chunk in cut(file.products(), **options)
            ]

    @property
    def products(self) -> list[list[int]]:
        """The lines of each product."""
        return [
            [row.line for group in product.groups for row in group]
            for chunk in self.chunks
            for product in chunk
        ]


lines = st.lists(
    st.sampled_from(
        ["a,A,s,1", "a,,t,2", ",,u,3", "b,B,v,1", 'c,"C\nC",w,1', 'd,"D,x,1', "", ",,,", "e"]
    ),
    min_size=1,
    max_size=40,
)


@given(lines, st.integers(1, 7))
def test_workers_read_the_products_of_the_file_in_its_order(parts: list[str], rows: int) -> None:
    text = HEADER + "\n".join(["z,Z,z,1", *parts])
    file = Planned(text, rows=rows)
    expected: dict[str, list[CsvRow]] = {}
    for group in file.groups:
        expected.setdefault(group.rows[0].cells[0], []).extend(group.rows)
    read = [product for chunk in file.chunks for product in chunk]
    assert [[row for group in each.groups for row in group] for each in read] == [
        *expected.values()
    ]
    for chunk in file.chunks:
        many = sum(len(group) for product in chunk for group in product.groups)
        assert len(chunk) == 1 or many <= rows


def test_a_chunk_ends_between_products_and_has_about_the_requested_rows() -> None:
    file = Planned(HEADER + "".join(f"p{i // 3},P,s{i},1\n" for i in range(90)), rows=20)
    assert [sum(len(each.groups[0]) for each in chunk) for chunk in file.chunks] == [18] * 5


def test_distant_rows_of_a_product_are_read_together_in_their_order() -> None:
    many = 1_000
    rows = "".join(f"p{n * 7 % many},P,s{n},1\n" for n in range(3 * many))
    file = Planned(HEADER + rows)
    assert file.products == [[2 + n, 2 + n + many, 2 + n + 2 * many] for n in range(many)]
    assert len(file.chunks) == 16, "at most 200 rows each"


def test_a_product_with_a_giant_row_has_an_error_and_no_rows() -> None:
    giant = 'a,"' + "x" * 3_000_000 + '",s,1\n'
    file = Planned(HEADER + "a,A,s,1\n" + giant + "b,B,t,1\n")
    failed, _ = file.groups
    assert failed.error and (failed.line, failed.count, failed.error.row) == (2, 2, 3)
    assert file.products == [[], [4]]
    (unread, _) = file.chunks[0] + file.chunks[1]
    assert (unread.line, unread.error) == (2, failed.error) and unread.error
    assert unread.error.code == "record_too_large"


def test_variations_are_read_with_their_parent_by_id_and_by_sku() -> None:
    header = "ID,Type,SKU,Name,Regular price,Parent\n"
    rows = '45,variation,V1,"Tee - Red",9,id:44\n44,variable,TEE,Tee,,\n46,variation,V2,T,9,TEE\n'
    assert Planned(header + rows).products == [[2, 3, 4]]
    others = "".join(f"{n},simple,S{n},N,1,\n" for n in range(3))
    apart = others.join(line + "\n" for line in rows.splitlines())
    assert [2, 6, 10] in Planned(header + apart).products


def test_a_sku_joins_rows_that_have_nothing_else_if_one_product_has_it() -> None:
    file = Planned(OWN + ",,2,X\nb,B,1,Y\na,A,1,X\nc,C,1,\n,,3,X\n")
    assert file.products == [[2, 4, 6], [3], [5]]
    file = Planned(OWN + "a,A,1,X\nc,C,1,\nb,B,1,X\nd,D,1,\n,,3,X\n")
    assert file.products == [[2], [3], [4], [5], [6]]
    errors = [product.error for chunk in file.chunks for product in chunk]
    assert [(error.row, error.code) for error in errors if error] == [(6, "shared_key")]


def test_one_sku_in_a_thousand_products_joins_none_of_them() -> None:
    rows = "".join(f"p{n},P,1,X\n" for n in range(1_000))
    assert len(Planned(OWN + rows + "q,Q,1,\n,,2,X\n").products) == 1_002


def test_the_keys_of_a_file_are_sorted_and_each_there_once() -> None:
    file = Planned(OWN + "a,A,1,X\nb,B,1,Y\nA,A,1,X\n")
    assert file.keys.tolist() == sorted(hash_keys(["a", "sku X", "b", "sku Y"]))


def test_no_time_left_ends_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joining, "_STEPS", 1)
    late = iter([False])
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(Joining(folder, lambda: next(late, True))) as file,
    ):
        file.add(Group(2, [CsvRow(2, ["a"])], 1, 1, {"a"}))
        with pytest.raises(sqlite3.OperationalError):
            file.join()
