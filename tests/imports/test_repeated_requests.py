"""Repeated import requests, and unusual forms."""

import pytest

from tests.imports.test_workbooks import xlsx
from tests.support.dynamodb_double import Crash
from tests.support.forms import form as encoded
from tests.support.import_desk import IMPORT, Desk
from tests.support.shop import Answer

pytestmark = pytest.mark.thorough

CSV = "slug,name,price\nmug,Mug,7.5\n"
KEY = {"Idempotency-Key": "spring"}


def form(boundary: str, *parts: tuple[str, str]) -> bytes:
    """Parts of (headers behind `form-data; `, text)."""
    lines = [
        f"--{boundary}\r\nContent-Disposition: form-data; {head}\r\n\r\n{text}\r\n"
        for head, text in parts
    ]
    return ("".join(lines) + f"--{boundary}--\r\n").encode()


def post(desk: Desk, body: bytes, boundary: str = "x", **headers: str) -> Answer:
    kind = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
    return desk.shop.post(IMPORT, body, headers={**kind, **headers})


FILE = ('name="file"; filename="a.csv"', CSV)


def test_a_repeated_import_is_one_job_with_any_form_boundary(desk: Desk) -> None:
    first = post(desk, form("x", FILE), **KEY)
    again = post(desk, form("another", FILE), "another", **KEY)
    assert (first.status, again.status) == (202, 202)
    assert again.text == first.text and again.headers["Idempotent-Replayed"] == "true"
    assert desk.shop.get("/api/admin/jobs").json["total"] == 1
    for other in ((FILE[0], CSV + "x"), ('name="file"; filename="b.csv"', CSV)):
        refused = post(desk, form("x", other), **KEY)
        assert (refused.status, refused.json["code"]) == (422, "idempotency_key_reused")
    dry = post(desk, form("x", FILE, ('name="dryRun"', "true")), **KEY)
    assert dry.json["code"] == "idempotency_key_reused"


def test_a_refused_import_leaves_its_key_to_the_corrected_one(desk: Desk) -> None:
    wrong = ('name="savedMapping"', "none")
    refused = post(desk, form("x", FILE, wrong), **KEY)
    assert (refused.status, refused.json["errors"][0]["code"]) == (422, "unknown_mapping")
    assert post(desk, form("x", FILE), **KEY).status == 202
    uploads, asked = f"{IMPORT}/uploads", {"fileName": "a.csv"}
    for sent, status in (({**asked, "savedMapping": "none"}, 422), (asked, 201)):
        other = {"Idempotency-Key": "upload"}
        assert desk.shop.post(uploads, sent, headers=other).status == status


@pytest.mark.parametrize("nth", [1, 2])
def test_a_repeat_after_a_lost_answer_completes_the_import(desk: Desk, nth: int) -> None:
    assert desk.shop.owner
    desk.crash("TransactWriteItems" if nth == 1 else "UpdateItem", nth)
    with pytest.raises(Crash):
        post(desk, form("x", FILE), **KEY)
    desk.dynamodb.faults = lambda operation, request: None
    job = desk.finished(post(desk, form("x", FILE), **KEY).json["jobId"])
    assert desk.shop.get("/api/admin/jobs").json["total"] == 1
    assert (job["status"], job["created"]) == ("COMPLETED", 1)


def test_a_repeated_retry_is_one_job_though_the_file_is_gone(desk: Desk) -> None:
    path = f"/api/admin/jobs/{desk.imported(CSV.replace('7.5', 'free'))['id']}/retry"
    first = desk.shop.post(path, headers=KEY)
    desk.lose_files(path.split("/")[-2])
    again = desk.shop.post(path, headers=KEY)
    assert (first.status, again.status, again.text) == (202, 202, first.text)


def test_a_repeat_during_the_import_of_a_workbook_does_not_end_it(desk: Desk) -> None:
    body, kind = encoded({}, xlsx(["slug", "name", "price"], ["mug", "Mug", 7.5]), "products.xlsx")
    headers = {"Content-Type": kind, **KEY}
    assert desk.shop.owner
    desk.crash("BatchWriteItem")  # after the file was stored, before the answer is kept
    with pytest.raises(Crash):
        desk.shop.post(IMPORT, body, headers=headers)
    desk.dynamodb.faults = lambda operation, request: None
    (listed,) = desk.shop.get("/api/admin/jobs").json["data"]
    desk.uploaded(listed["id"])  # replaces the workbook by its sheet, which starts it again
    desk.uploaded(listed["id"])
    assert desk.job(listed["id"])["status"] == "RUNNING"
    assert desk.shop.post(IMPORT, body, headers=headers).json == {"jobId": listed["id"]}
    desk.work()
    job = desk.job(listed["id"])
    assert (job["status"], job["created"], job["error"]) == ("COMPLETED", 1, None)


@pytest.mark.parametrize("crash", [None, ("TransactWriteItems", 1), ("BatchWriteItem", 1)])
@pytest.mark.parametrize("again", ["retry", "run"])
def test_a_repeated_retry_or_run_is_one_job(
    desk: Desk, again: str, crash: tuple[str, int] | None
) -> None:
    bad = CSV if again == "run" else CSV.replace("7.5", "cheap")
    job = desk.imported(bad, dryRun=str(again == "run").lower())
    path = f"/api/admin/jobs/{job['id']}/{again}"
    if crash:
        desk.crash(*crash)
        with pytest.raises(Crash):
            desk.shop.post(path, headers=KEY)
        desk.dynamodb.faults = lambda operation, request: None
    first = desk.shop.post(path, headers=KEY)
    repeated = desk.shop.post(path, headers=KEY)
    assert (first.status, repeated.text) == (202, first.text)
    assert repeated.headers["Idempotent-Replayed"] == "true"
    assert desk.shop.get("/api/admin/jobs").json["total"] == 2
    desk.work()
    done = desk.finished(first.json["jobId"])
    assert (done["status"], done["created"] + done["failed"]) == ("COMPLETED", 1)


def test_a_repeated_upload_request_returns_the_same_job(desk: Desk) -> None:
    asked = {"fileName": "all.csv"}
    first = desk.shop.post(f"{IMPORT}/uploads", asked, headers=KEY).json
    again = desk.shop.post(f"{IMPORT}/uploads", asked, headers=KEY)
    assert (again.status, again.json["jobId"]) == (201, first["jobId"])
    assert desk.shop.get("/api/admin/jobs").json["total"] == 1
    other = desk.shop.post(f"{IMPORT}/uploads", {"fileName": "b.csv"}, headers=KEY)
    assert other.json["code"] == "idempotency_key_reused"


@pytest.mark.parametrize(
    ("part", "status"),
    [
        (('name="mode"\r\nContent-Type: text/plain; charset=klingon', "upsert"), 202),
        (('name="mode"\r\nContent-Type: text/plain; charset=zlib', "upsert"), 202),
        (('name="mode"\r\nContent-Type: text/plain; charset="a\x00b"', "upsert"), 202),
        (('name="mode"', "upsert\x00"), 422),
        (('name="mode"', "\x00"), 422),
        (('name="\x00"', "x"), 422),
        (('name="mode"', "ünbekannt 😀"), 422),
    ],
)
def test_a_form_part_with_an_unknown_charset_is_read_and_one_with_a_wrong_value_refused(
    desk: Desk, part: tuple[str, str], status: int
) -> None:
    answer = post(desk, form("x", part, FILE))
    assert answer.status == status, answer.text


@pytest.mark.parametrize("part", [FILE, ('name="mode"', "create")])
def test_of_two_files_or_options_in_a_form_none_is_ignored(
    desk: Desk, part: tuple[str, str]
) -> None:
    answer = post(desk, form("x", part, ('name="mode"', "update"), FILE))
    (error,) = answer.json["errors"]
    assert f'name="{error["field"]}"' in part[0]
    assert desk.shop.get("/api/admin/jobs").json["total"] == 0


@pytest.mark.parametrize("name", ["a\x00b.csv", "\ud83d\ude00.csv", "\r\tx.csv", "\x00"])
def test_a_file_with_any_name_can_be_imported(desk: Desk, name: str) -> None:
    head = f'name="file"; filename="{name}"'.encode("utf-8", "surrogatepass").decode(
        "utf-8", "replace"
    )
    answer = post(desk, form("x", (head, CSV)))
    assert answer.status == 202, answer.text
    assert desk.job(answer.json["jobId"])["fileName"].isprintable()
