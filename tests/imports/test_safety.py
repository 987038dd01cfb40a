"""A file cannot set prices to zero, put formulas into a report, or use unlimited memory."""

import csv
import io
from collections.abc import Iterator
from itertools import chain, islice
from typing import Any

import pytest

from chalicelib.exports.cells import cell
from chalicelib.imports import files
from chalicelib.imports.formats.sheet import escape_formula
from chalicelib.imports.steps import report
from tests.support.dynamodb_double import Crash
from tests.support.import_desk import Desk

pytestmark = pytest.mark.thorough

TEE = "slug,name,price,variantTitle,variantSku,variantPrice\n"


@pytest.mark.parametrize(
    ("rows", "row", "column"),
    [
        ("mug,,0,,,\n", 2, "price"),
        ("tee,,,S,T-S,0\n", 2, "variantPrice"),
        ("tee,Tee,9,S,T-S,7\ntee,,,M,T-M,0\n", 3, "variantPrice"),
        ("mug,Mug,0.00,,,\n", 2, "price"),
    ],
)
def test_a_price_above_zero_does_not_become_zero(
    desk: Desk, rows: str, row: int, column: str
) -> None:
    desk.imported(TEE + "mug,Mug,5,,,\ntee,Tee,9,S,T-S,9\ntee,,,M,T-M,8\n")
    before = desk.products()
    assert desk.faults(TEE + rows + "new,New,0,,,\n") == [(row, column, "price_to_zero")]
    after = desk.products()
    assert {slug: after[slug] for slug in before} == before
    assert after["new"]["price"] == "0.00"
    job = desk.imported(TEE + rows, allowZeroPrices="true")
    assert (job["updated"], job["failed"], job["allowZeroPrices"]) == (1, 0, True)
    assert desk.imported(TEE + rows)["unchanged"] == 1


def test_a_variant_that_cost_nothing_may_still(desk: Desk) -> None:
    desk.imported(TEE + "tee,Tee,9,S,T-S,0\ntee,,,M,T-M,8\n")
    job = desk.imported(TEE + "tee,Tea,9,S,T-S,0\ntee,,,M,T-M,7\n")
    assert (job["updated"], job["failed"]) == (1, 0)


@pytest.mark.parametrize(
    "text",
    [
        '=HYPERLINK("http://x")',
        "@SUM(A1)",
        "+1 more",
        "-5 degrees",
        "'=it's",
        "=it's",
        "''@x",
        "plain",
    ],
)
def test_a_report_contains_no_formulas_and_the_cells_of_the_file(desk: Desk, text: str) -> None:
    def file(price: str) -> str:
        out = io.StringIO()
        csv.writer(out).writerows([["slug", "name", "price"], ["a", text, price]])
        return out.getvalue()

    plain = desk.imported(file("5"))
    assert plain["created"] == 1
    name = desk.products()["a"]["name"]
    job = desk.imported(file("free"))
    for _ in range(2):
        (_, row) = csv.reader(io.StringIO(desk.report(job["id"])))
        assert not row[1].startswith(tuple("=+-@\t\r"))
        fixed = desk.imported(desk.report(job["id"]).replace("free", "5"))
        assert (fixed["unchanged"], fixed["failed"]) == (1, 0), row
        assert desk.products()["a"]["name"] == name
        retried = desk.shop.post(f"/api/admin/jobs/{job['id']}/retry").json["jobId"]
        desk.work()
        job = desk.finished(retried)


def test_a_worker_that_crashes_after_the_report_leaves_a_completed_job(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_id = desk.started("slug,name,price\n" + "".join(f"p{n},P,free\n" for n in range(450)))
    put = files.put_report

    def dies(*args: Any) -> None:
        put(*args)
        monkeypatch.setattr(files, "put_report", put)
        raise Crash("after the report")

    monkeypatch.setattr(files, "put_report", dies)
    desk.work()
    assert files.put_report is put, "it has crashed"
    job = desk.job(job_id)
    assert (job["status"], job["failed"]) == ("COMPLETED", 450), job
    assert len(desk.report(job_id).splitlines()) == 451


def test_a_report_keeps_few_parts_in_memory(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    parts: list[bytes] = []
    read, put = files.read_kept, files.put_report

    def reads(job_id: str, name: str) -> bytes:
        data = read(job_id, name)
        parts.extend([data] if name.startswith("chunk-") else [])
        return data

    monkeypatch.setattr(files, "read_kept", reads)

    def puts(job_id: str, pieces: Iterator[bytes]) -> None:
        first = list(islice(pieces, 2))  # the header and a part
        assert len(parts) <= report._READERS
        put(job_id, chain(first, pieces))

    monkeypatch.setattr(files, "put_report", puts)
    rows = "".join(f"p{n},{'P' * 200},free\n" for n in range(8_000))
    job = desk.imported("slug,name,price\n" + rows)
    assert (job["failed"], len(parts)) == (8_000, 40)
    assert len(desk.report(job["id"]).splitlines()) == 8_001


def test_exports_and_reports_escape_the_same_characters() -> None:
    beginnings = list(map(chr, range(128)))
    in_exports = {one for one in beginnings if cell(f"{one}1") != f"{one}1"}
    in_reports = {one for one in beginnings if escape_formula(f"{one}1") != f"{one}1"}
    assert in_exports == in_reports | {"'"}  # the import takes one off
