"""Parts of imports that matter only at sizes too large for a test over HTTP."""

import csv
import gc
import io

import pytest

import app
from chalicelib.imports import files, store
from tests.support.import_desk import Desk

pytestmark = pytest.mark.thorough


def test_a_long_report_is_uploaded_in_pieces(desk: Desk) -> None:
    calls: list[str] = []
    files.client().meta.events.register(
        "before-call.s3.*", lambda model, **_: calls.append(model.name)
    )
    rows = "".join(f"p{number},{'P' * 15_000},free\n" for number in range(700))
    job = desk.finished(desk.put(f"slug,name,price\n{rows}".encode()))
    assert (job["status"], job["failed"]) == ("COMPLETED", 700)
    assert calls.count("UploadPart") == 2
    lines = list(csv.reader(io.StringIO(desk.report(job["id"]))))
    assert [line[0] for line in lines] == ["slug", *(f"p{number}" for number in range(700))]


def test_the_garbage_collector_is_off_during_a_chunk_only(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    monkeypatch.setattr(
        store, "finish_chunk", lambda *_, **__: seen.append(gc.isenabled()) or 1 / 0
    )
    desk.uploaded(desk.send("slug,name,price\na,A,1\n"))
    (message,) = desk.messages()
    app.import_chunk({"Records": [message]}, None)
    assert (seen, gc.isenabled()) == ([False], True)
