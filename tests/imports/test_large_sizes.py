"""Parts of imports that matter only at sizes too large for a test over HTTP."""

import csv
import gc
import io
from array import array
from typing import Any

import pytest
from botocore.exceptions import ClientError

import app
from chalicelib.imports import files, store
from chalicelib.imports.csv.places import hashed
from chalicelib.imports.steps import reader, report
from tests.support.import_desk import Desk


# The last part is a piece like the others, or too small for one and added by the last message.
@pytest.mark.parametrize(("piece", "messages"), [(2_000, 5), (12_000, 4)])
def test_a_long_report_is_joined_in_parts_by_several_messages(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, piece: int, messages: int
) -> None:
    pieces: list[bytes] = []
    joined: list[Any] = []
    add, assemble = files.add_to_report, report.assemble
    monkeypatch.setattr(files, "add_to_report", lambda *all: pieces.append(all[3]) or add(*all))
    monkeypatch.setattr(report, "assemble", lambda *all: joined.append(all) or assemble(*all))
    monkeypatch.setattr(report, "_PIECE", piece)
    monkeypatch.setattr(report, "_PATIENCE_SECONDS", 0)
    monkeypatch.setattr("moto.s3.models.S3_UPLOAD_PART_MIN_SIZE", 1)
    monkeypatch.setattr("chalicelib.imports.store._PARTS", 1)
    rows = "".join(f"p{number},P{number},free\n" for number in range(700))
    job = desk.imported("slug,name,price\n" + rows)
    assert (job["status"], job["failed"]) == ("COMPLETED", 700)
    assert len(pieces) == 4 and all(pieces)
    assert len(joined) == messages
    lines = list(csv.reader(io.StringIO(desk.report(job["id"]))))
    assert [line[0] for line in lines] == ["slug", *(f"p{number}" for number in range(700))]


@pytest.mark.usefixtures("desk")
def test_a_key_among_many_is_found_by_one_small_read(monkeypatch: pytest.MonkeyPatch) -> None:
    lengths: list[int] = []
    read = files.read_kept
    monkeypatch.setattr(files, "read_kept", lambda *all: lengths.append(all[3]) or read(*all))
    monkeypatch.setattr(reader, "_WHOLE", 0)
    known = [f"slug-{number}" for number in range(3_000)]
    files.keep("job_large", "keys", io.BytesIO(array("q", sorted(hashed(known))).tobytes()))
    has = reader._has("job_large")
    assert all(map(has, hashed(known[::20])))
    assert not any(map(has, hashed(["another", "slug-3000", "slug"])))
    assert len(lengths) == 153
    assert max(lengths) <= 3_000  # of 24,000 bytes


def test_pieces_of_a_report_are_as_large_as_s3_demands() -> None:
    assert report._PIECE >= 5 << 20


def test_the_garbage_collector_is_off_during_a_chunk_only(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    monkeypatch.setattr(store, "finish", lambda *_, **__: seen.append(gc.isenabled()) or 1 / 0)
    desk.uploaded(desk.send("slug,name,price\na,A,1\n"))
    (message,) = desk.messages()
    app.import_chunk({"Records": [message]}, None)
    assert (seen, gc.isenabled()) == ([False], True)


@pytest.mark.parametrize("piece", [10, 10_000])  # for the first piece, and at the end
def test_a_report_whose_pieces_are_gone_is_complete_or_started_again(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, piece: int
) -> None:
    def gone(**piece: Any) -> None:
        raise ClientError({"Error": {"Code": "NoSuchUpload"}}, "UploadPart")

    monkeypatch.setattr(report, "_PIECE", piece)
    monkeypatch.setattr(files.client(), "upload_part", gone)
    job_id = desk.started("slug,name,price\na,A,free\n")
    (chunk,) = desk.messages()
    desk.handle(chunk)
    job, state = store.get(job_id), {"upload": "gone", "etags": ["x"]}
    assert report.assemble(job, state) == {}
    assert not store.get(job_id).has_report
    files.put_report(job_id, b"of another worker")
    assert report.assemble(job, state) is None
    assert store.get(job_id).has_report
    desk.work()
    assert desk.job(job_id)["status"] == "COMPLETED"
    assert desk.report(job_id) == "of another worker"
