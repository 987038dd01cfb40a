"""A CSV file is cut into rows, with the lines of an editor."""

import csv
import io
import itertools
import tracemalloc
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.imports.csv.faults import FileRejected
from chalicelib.imports.csv.opening import open_csv
from chalicelib.imports.csv.rows import LARGEST_ROW, CsvRow
from chalicelib.imports.formats.sheet import Sheet, find_row_error

HEADER = "slug,name,description\n"


def opened(data: bytes | str, piece: int = 1 << 16, encoding: str = "") -> list[CsvRow]:
    raw = data.encode() if isinstance(data, str) else data
    pieces = [raw[i : i + piece] for i in range(0, len(raw), piece)]
    return list(open_csv(pieces, encoding).rows())


def cells(rows: list[CsvRow]) -> list[list[str]]:
    return [row.cells for row in rows]


def problems(rows: list[CsvRow]) -> list[str | None]:
    return [row.problem.code if row.problem else None for row in rows]


def refused(data: bytes) -> FileRejected:
    with pytest.raises(FileRejected) as caught:
        opened(data)
    return caught.value


text = st.text(alphabet='ab",;\t\n\r éč😀', max_size=8).map(str.strip)
tables = st.lists(st.tuples(st.just("x"), text, text), min_size=1, max_size=12)
layouts = st.tuples(
    st.sampled_from(",;\t"),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
)


def written(rows: list[tuple[str, ...]], delimiter: str, end: str, encoding: str) -> bytes:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator=end, quoting=csv.QUOTE_ALL)
    writer.writerows([("slug", "name", "description"), *rows])
    return out.getvalue().encode(encoding)


@given(tables, layouts, st.integers(1, 40))
def test_output_of_the_csv_module_is_read_unchanged_in_pieces_of_any_size(rows, layout, piece):
    assert cells(opened(written(rows, *layout), piece)) == [list(row) for row in rows]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be"])
def test_lines_ending_with_a_bare_return_may_contain_line_feeds(encoding):
    rows = [("x", "Kočka č", 'a "b"\nc\n\nd'), ("y", "Èze", "")]
    assert cells(opened(written(rows, ";", "\r", encoding))) == [list(row) for row in rows]


@pytest.mark.parametrize(
    ("header", "delimiter"),
    [
        ('sku;"price, net, without tax"', ";"),
        ('"sku\n(ours)";name;price', ";"),
        ('"a;b;c;d;e",sku,price', ","),
        ("\tsku\tprice", "\t"),
        ('"sep=|"\na,b;c|d', "|"),
        ("SEP=;\na,b,c;d", ";"),
        ("sep=^\na,b^c", "^"),
    ],
)
def test_only_delimiters_outside_quotes_count(header, delimiter):
    assert open_csv([f"{header}\nx\n".encode()]).format.delimiter == delimiter


def test_a_broken_line_has_the_readable_cells():
    broken = '"a","B, ""b""",3,"so ""so" no'
    (row,) = opened(f"slug,name,price,description\n{broken}\n")
    assert row.problem
    assert row.cells == ["a", 'B, "b"', "3", '"so ""so" no']
    (row,) = opened('slug;name;price\n"a";"A;1;\n')
    assert row.cells == ["a", '"A', "1", ""]


@given(st.binary(max_size=300), st.integers(1, 60))
def test_any_bytes_are_read_once_without_a_crash(junk, piece):
    data = HEADER.encode() + b"x,y,z\n" + junk + b"\nlast,one,here\n"
    rows = opened(data, piece, "utf-8")
    for before, after in itertools.pairwise(rows):
        assert before.line < after.line


def test_lines_are_counted_as_an_editor_counts_them():
    rows = opened('slug,name\r\na,"one\r\ntwo"\r\n\r\n,\r\nb,three\r\n')
    assert [(row.line, row.cells[0]) for row in rows] == [(2, "a"), (6, "b")]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_line_that_is_not_utf8_is_an_error_of_its_row_only(end: str):
    lines = ["slug,name", *(f"a{n},Café" for n in range(20))]
    bad = f"b,Café €,x{end}".encode("cp1252")
    rows = opened(end.join([*lines, ""]).encode() + bad + f"c,Été{end}".encode())
    *good, broken, last = rows
    assert {tuple(row.cells[1:]) for row in good} == {("Café",)}
    error = find_row_error(Sheet(["slug", "name", "price"], {}), broken)
    assert error and error[:3] == (22, "name", "not_in_encoding")
    assert last.cells == ["c", "Été"]


def test_utf16_without_a_byte_order_mark_is_recognised():
    assert cells(opened("slug;name\na;Café\n".encode("utf-16-le"))) == [["a", "Café"]]


def test_an_inch_sign_in_a_cell_without_quotes_is_text():
    assert cells(opened('slug,name\na,5" screen\nb,c\n')) == [["a", '5" screen'], ["b", "c"]]


def test_an_unclosed_quote_is_an_error_of_its_row_with_its_line():
    rows = opened('slug,name\na,"one\nb,two\nc,"three"\nd,four\n')
    assert [row.line for row in rows] == [2, 3, 4, 5]
    assert problems(rows) == ["unclosed_quote", None, None, None]
    assert "line 2" in rows[0].problem.message


@pytest.mark.thorough
def test_an_unclosed_quote_does_not_swallow_the_following_rows():
    more = "b,two\n" * (LARGEST_ROW // 3)
    rows = opened('slug,name\na,"one\nstray,a\rb\n' + more)
    assert problems(rows[:3]) == ["unclosed_quote", "stray_line_break", None]
    assert len(rows) == 2 + LARGEST_ROW // 3


@pytest.mark.parametrize(
    "cell",
    [b'"' + b"x" * 30_000_000 + b'"', b"x" * 30_000_000, b'"' + b"some base64\n" * 300_000 + b'"'],
    ids=["quoted", "bare", "over many lines"],
)
def test_a_cell_of_many_megabytes_is_one_bad_row(cell):
    rows = opened(b"slug,name\na," + cell + b"\nb,two\n")
    assert problems(rows) == ["record_too_large", None]
    assert rows[0].cells[0] == "a"
    assert rows[1].cells == ["b", "two"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "cp932"])
@pytest.mark.parametrize("text", ["あ" * 1_200_000, f'"{"あ" * 1_200_000}\n{"a" * 9_000}"'])
def test_a_row_after_a_large_cell_is_read(encoding, text):
    data = f"slug,name\na,{text}\nb,二\n".encode(encoding)
    bad, good = opened(data, encoding=encoding)
    assert (bad.cells[0], bad.problem.code) == ("a", "record_too_large")
    assert (good.cells, good.line) == (["b", "二"], 3 + text.count("\n"))


def test_memory_use_does_not_grow_with_the_file():
    class File:
        def __iter__(self) -> Iterator[bytes]:
            yield b"slug,name\n"
            for _ in range(2000):
                yield b'a,"some text\nover lines"\n' * 1000

    table = open_csv(File())
    tracemalloc.start()
    for row in itertools.islice(table.rows(), 30_000):
        assert row.cells[0] == "a"
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 16 * LARGEST_ROW


@pytest.mark.parametrize(
    ("data", "code", "reason"),
    [
        (b"", "empty_file", "empty"),
        (b"\xef\xbb\xbf \r\n", "empty_file", "empty"),
        (b"slug,name\n", "no_rows", "no rows"),
        (b"slug,name\n\n,,\n", "no_rows", "no rows"),
        (b"\xc2\xa0\n\xe3\x80\x80", "empty_file", "empty"),
        (b"PK\x03\x04\x14\x00", "not_csv", "xlsx"),
        (b"%PDF-1.7\n", "not_csv", "PDF"),
        (b"\xd0\xcf\x11\xe0\xa1", "not_csv", "xls"),
        (b"<!DOCTYPE html><html>", "not_csv", "HTML"),
        (b'[{"slug": "a"}]', "not_csv", "JSON"),
        ("slug,name\n".encode("utf-32"), "not_csv", "UTF-32"),
        (b'slug,"name\na,b\n', "bad_header", "line 1"),
    ],
)
def test_a_file_without_rows_or_of_another_kind_is_refused_with_a_reason(data, code, reason):
    rejection = refused(data)
    assert rejection.code == code
    assert reason in rejection.message


@pytest.mark.parametrize(
    ("row", "read"),
    [
        ('"text"  ,b,c', ["text", "b", "c"]),
        ('a,  "b" ,"c"\t', ["a", "b", "c"]),
        ('a,"two\nlines" ,c', ["a", "two\nlines", "c"]),
        ('a,"say ""hi""" , "c" ', ["a", 'say "hi"', "c"]),
        ('"text" ,b,c\rd', ["text", "b", "c\rd"]),
    ],
)
def test_spaces_around_quotes_are_ignored(row, read):
    rows = opened(f"{HEADER}{row}\nlast,one,here\n")
    assert problems(rows) == [None, None]
    assert cells(rows) == [read, ["last", "one", "here"]]
    assert rows[1].line == 3 + row.count("\n")


@pytest.mark.parametrize(
    ("above", "line"),
    [
        ("Products of November\n", 2),
        ("Products of November;;\n", 2),
        ('"Northwind, Ltd."\n\nExported on 20 November\n', 4),
        ("sep=;\n", 2),
        ("Cennik;;;\n", 2),
        ("Cennik;;;\n;;;\n\n", 4),
        ("Firma;;;\nTel. 0123;;;\n;;;\n", 4),
        (";;;\n", 2),
        ("Cennik;;;\n\ufeff", 2),
    ],
)
def test_titles_above_the_header_are_skipped_and_counted_as_lines(above, line):
    table = open_csv([f"{above}Indeks;Nazwa;Cena;Stan\nA;Kubek;1,50;3\nB;Talerz;2,50;4\n".encode()])
    assert table.format.header == ("Indeks", "Nazwa", "Cena", "Stan")
    assert table.format.header_row == line
    assert [(r.line, r.cells[0]) for r in table.rows()] == [(line + 1, "A"), (line + 2, "B")]


@pytest.mark.parametrize("end", ["", "\nhat;Hat;6,00", "\nhat;Hat;6,00\ncap;Cap, red;7,00\n"])
def test_a_header_above_rows_with_many_commas_is_no_title(end):
    rows = f"mug;a mug, a saucer, a spoon, a plate, a cup, a glass, a pot;5,00{end}"
    table = open_csv([f"slug;description;price\n{rows}".encode()])
    assert (table.format.delimiter, table.format.header_row) == (";", 1)
    assert table.format.header == ("slug", "description", "price")
    titled = open_csv([f"Prices, 2026\nslug;description;price\n{rows}".encode()])
    assert (titled.format.delimiter, titled.format.header_row) == (";", 2)


@pytest.mark.parametrize(("header", "columns"), [("," * 900_000, 22), ("x" * 900_000 + ",y", 3)])
def test_a_header_of_many_bytes_is_read(header, columns):
    table = open_csv([f"slug,name{header}\na,b\n".encode()])
    assert len(table.format.header) == columns


def test_a_header_has_up_to_2000_columns():
    def file(columns):
        return (",".join(f"c{n}" for n in range(columns)) + "\na,b\n").encode()

    assert len(open_csv([file(2_000)]).format.header) == 2_000
    assert refused(file(2_001)).code == refused(file(500_000)).code == "bad_header"
