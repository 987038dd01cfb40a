"""Each code that an answer can have is explained in the documentation."""

import ast
from collections.abc import Iterator
from pathlib import Path

import app
from chalicelib.imports import schemas
from chalicelib.problems import Problem

PROJECT = Path(__file__).resolve().parents[2]


def of_classes(family: type[Problem] = Problem) -> Iterator[str]:
    yield family.code
    for each in family.__subclasses__():
        if each.__module__.startswith("chalicelib."):
            yield from of_classes(each)


def of_calls() -> Iterator[str]:
    """Each text that a call is given as `code=`."""
    for module in (PROJECT / "chalicelib").rglob("*.py"):
        for node in ast.walk(ast.parse(module.read_text())):
            match node:
                case ast.keyword(arg="code", value=ast.Constant(value=str(code))):
                    yield code


def test_every_code_of_an_error_is_documented() -> None:
    assert app.app.routes  # all slices are imported
    codes = {*of_classes(), *of_calls()}
    assert {"email_taken", "malformed_json", "price_to_zero", "webhook_paused"} <= codes
    pages = "\n".join(page.read_text() for page in (PROJECT / "docs").glob("*.md"))
    assert {code for code in codes if f"`{code}`" not in pages} == set()


def of_files() -> Iterator[str]:
    """The codes that reading a file gives to errors and warnings."""
    for module in (PROJECT / "chalicelib/imports").rglob("*.py"):
        for node in ast.walk(ast.parse(module.read_text())):
            match node:
                case ast.Call(
                    func=ast.Name("BadCell" | "FileRejected" | "_make_notice"),
                    args=[ast.Constant(value=str(code)), *_],
                ):
                    yield code
                case ast.Call(
                    func=ast.Attribute(attr="fail") | ast.Name("RowError"),
                    args=[_, _, ast.Constant(value=str(code)), *_],
                ):
                    yield code
                case ast.Call(
                    func=ast.Attribute(attr="error"), args=[_, ast.Constant(value=str(code)), *_]
                ):
                    yield code
    yield from (code for code, _ in schemas._SKIPPED.values())


def test_the_page_of_imports_has_every_code_of_a_file() -> None:
    page = (PROJECT / "docs/import.md").read_text()
    codes = set(of_files())
    assert {"bad_header", "nul_byte", "not_an_amount", "column_not_read"} <= codes
    assert {code for code in codes if f"`{code}`" not in page} == set()
