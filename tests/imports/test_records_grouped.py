"""The rows of a product stay together, and workers read the products that the planner counted."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.imports.csv.groups import MOST_ROWS, Chunk, Unreadable, grouped, plan
from chalicelib.imports.csv.opening import Table, open_csv
from chalicelib.imports.csv.records import read
from chalicelib.imports.csv.seen import Seen
from chalicelib.imports.formats import Format, read_as

HEADER = "Handle,Title,Variant SKU,Variant Price\n"


def planned(data: bytes, **options: Any) -> tuple[Table, Format, list[Chunk | Unreadable]]:
    table = open_csv([data])
    file_format = read_as(table.format.header)
    return table, file_format, list(plan(table.records(), file_format, **options))


def handles(data: bytes, chunk: Chunk, table: Table, file_format: Format) -> list[list[str]]:
    part = data[chunk.offset : chunk.offset + chunk.length]
    groups = grouped(read(part, table.format, chunk.offset, chunk.line), file_format)
    return [[record.cells[0] for record in group] for group in groups]


lines = st.lists(
    st.sampled_from(
        ["a,A,s,1", "a,,t,2", ",,u,3", "b,B,v,1", 'c,"C\nC",w,1', 'd,"D,x,1', "", ",,,", "e"]
    ),
    min_size=1,
    max_size=40,
)


@given(lines, st.integers(1, 7))
def test_workers_read_the_products_that_the_planner_counted(parts, rows):
    data = (HEADER + "\n".join(["z,Z,z,1", *parts])).encode()
    table, file_format, chunks = planned(data, rows=rows)
    whole = open_csv([data])
    expected = [[r.cells[0] for r in group] for group in grouped(whole.records(), file_format)]
    found = []
    for chunk in chunks:
        assert isinstance(chunk, Chunk)
        groups = handles(data, chunk, table, file_format)
        assert len(groups) == chunk.products
        assert sum(map(len, groups)) == chunk.rows
        found += groups
    assert found == expected


def test_a_chunk_ends_between_products_and_has_about_the_requested_rows():
    rows = "".join(f"p{i // 3},P,s{i},1\n" for i in range(90))
    _, _, chunks = planned((HEADER + rows).encode(), rows=20)
    assert [chunk.rows for chunk in chunks] == [18] * 5
    assert [chunk.line for chunk in chunks] == [2, 20, 38, 56, 74]


def test_a_row_without_a_handle_belongs_to_the_product_above():
    data = (HEADER + "a,A,s,1\n,,t,2\nb,B,u,3\n").encode()
    table, file_format, chunks = planned(data)
    assert handles(data, chunks[0], table, file_format) == [["a", ""], ["b"]]


def test_distant_rows_of_a_product_are_separate_groups():
    data = (HEADER + "a,A,s,1\nb,B,t,2\na,,u,3\n").encode()
    table, file_format, chunks = planned(data)
    assert handles(data, chunks[0], table, file_format) == [["a"], ["b"], ["a"]]


def test_a_product_with_too_many_rows_fails_alone():
    many = "".join(f"m,M,s{i},1\n" for i in range(MOST_ROWS + 1))
    _, _, parts = planned((HEADER + "a,A,s,1\n" + many + "b,B,t,1\n").encode())
    before, failed, after = parts
    assert (before.rows, after.rows) == (1, 1)
    assert isinstance(failed, Unreadable)
    assert failed.error[:3] == (3, "", "too_many_rows")


def test_a_product_with_a_giant_record_is_not_sent_to_a_worker():
    giant = 'a,"' + "x" * 3_000_000 + '",s,1\n'
    _, _, parts = planned((HEADER + "a,A,s,1\n" + giant + "b,B,t,1\n").encode())
    failed, after = parts
    assert isinstance(failed, Unreadable)
    assert (failed.line, failed.rows, failed.error.row) == (2, 2, 3)
    assert failed.error.code == "record_too_large"
    assert after.line == 4


def test_variations_next_to_their_parent_are_grouped_by_id_and_by_sku():
    header = "ID,Type,SKU,Name,Regular price,Parent\n"
    rows = '45,variation,V1,"Tee - Red",9,id:44\n44,variable,TEE,Tee,,\n46,variation,V2,T,9,TEE\n'
    data = (header + rows).encode()
    _, _, chunks = planned(data)
    assert [chunk.products for chunk in chunks] == [1]


@pytest.mark.parametrize(
    "data",
    [
        b"sku,name,price,attribute_set_code\nMug,mug,1,Default\nHat,Hat,1,Default\n",
        b"Handle,Title,Variant SKU,Variant Price\nmug,Mug,,1\nhat,Hat,,1\n",
    ],
)
def test_unique_products_are_not_marked_as_repeated(data):
    _, _, (chunk,) = planned(data, seen=Seen.for_file(0))
    assert (chunk.products, chunk.repeated) == (2, ())
