"""Import jobs over HTTP: upload, products, and the counts of the job."""

import json

import pytest

from chalicelib.imports import files, store
from chalicelib.imports.csv.faults import RowError
from chalicelib.storage import table
from tests.support.import_desk import IMPORT, Desk, counts

TWO = """slug,name,price,sku,variantTitle,variantSku,variantPrice,stock
shirt,Shirt,20,,S,SH-S,18,3
shirt,,,,M,SH-M,,4
mug,Mug,7.5,MUG,,,,9
"""


def test_a_job_is_queued_until_its_file_is_uploaded_and_creates_products(desk: Desk) -> None:
    job_id = desk.send(TWO, name=r"C:\lists\spring.csv")
    job = desk.job(job_id)
    assert (job["status"], job["fileName"], job["total"]) == ("QUEUED", "spring.csv", None)
    desk.uploaded(job_id)
    assert (desk.job(job_id)["status"], desk.job(job_id)["total"]) == ("RUNNING", 2)
    (only,) = desk.messages()
    desk.handle(only)
    job = desk.job(job_id)
    assert job["status"] == "COMPLETED", job
    assert (job["total"], job["created"], job["failed"]) == (2, 2, 0)
    assert (job["progress"], job["dialect"], job["errors"]) == (100, "backroom", [])
    products = desk.products()
    assert [v["price"] for v in products["shirt"]["variants"]] == ["18.00", "20.00"]
    assert products["mug"]["variants"][0]["stock"] == 9
    assert sorted(desk.events()) == [("product.created", "mug"), ("product.created", "shirt")]
    # What an import notes of a product is never shown.
    assert sum("import" in item for item in desk.shop.stored()) == 2
    assert all("import" not in product for product in products.values())
    texts = [json.dumps(data) for _, data in desk.event_data()]
    assert not any("job_" in text for text in texts)


def test_the_template_can_be_downloaded_and_imported(desk: Desk) -> None:
    answer = desk.shop.get(f"{IMPORT}/template")
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
    job = desk.imported(answer.text)
    assert (job["status"], job["created"], job["failed"]) == ("COMPLETED", 2, 0)


def test_a_large_file_is_uploaded_with_a_form_for_that_file_only(desk: Desk) -> None:
    asked = {"fileName": "all.csv", "dryRun": True, "mode": "create"}
    upload = desk.shop.made(f"{IMPORT}/uploads", asked)
    assert upload["fields"]["key"] == f"imports/{upload['jobId']}.csv"
    assert desk.job(upload["jobId"])["mode"] == "create"
    files.put_upload(upload["jobId"], TWO.encode())
    job = desk.finished(upload["jobId"])
    assert (job["status"], job["dryRun"], job["created"]) == ("COMPLETED", True, 2)


@pytest.mark.parametrize(
    ("body", "kind", "field"),
    [
        (b"--x\r\nno form", "multipart/form-data; boundary=x", "body"),
        (b"slug,name", "multipart/form-data", "body"),
        (b"--x--\r\n", "multipart/form-data; boundary=x", "file"),
        (
            b'--x\r\nContent-Disposition: form-data; name="file"\r\n\r\na,b\r\n--x--\r\n',
            "multipart/form-data; boundary=x",
            "file",
        ),
    ],
)
def test_a_body_without_a_file_is_refused(desk: Desk, body: bytes, kind: str, field: str) -> None:
    answer = desk.shop.post(IMPORT, body, headers={"Content-Type": kind})
    assert (answer.status, answer.json["errors"][0]["field"]) == (422, field)


def test_wrong_options_are_refused_by_name(desk: Desk) -> None:
    assert desk.post(TWO, mode="replace").json["errors"][0]["field"] == "mode"
    assert desk.post(TWO, dryRun="perhaps").json["errors"][0]["field"] == "dryRun"
    assert desk.post(TWO, modus="create").json["errors"][0]["code"] == "unknown_field"
    assert desk.shop.get("/api/admin/jobs").json["total"] == 0


def test_a_body_too_large_or_of_another_content_type_is_refused(desk: Desk) -> None:
    large = desk.post(b"x" * 4_400_001)
    assert large.status == 413
    assert "/uploads" in large.json["message"]
    assert desk.shop.post(IMPORT, {"file": "a,b"}).status == 415


def test_an_unknown_job_is_not_found(desk: Desk) -> None:
    for path in ("job_01JD3W", "prod_1", "x"):
        assert desk.shop.get(f"/api/admin/jobs/{path}").status == 404
        assert desk.shop.post(f"/api/admin/jobs/{path}/cancel").status == 404
        assert desk.shop.post(f"/api/admin/jobs/{path}/retry").status == 404


def test_an_upload_without_a_job_is_ignored(desk: Desk) -> None:
    files.put_upload("job_of_nobody", TWO.encode())
    desk.uploaded("job_of_nobody")
    assert desk.messages() == []


def test_many_products_at_two_places_each_count_once(desk: Desk) -> None:
    rows = "".join(f"p{n},P,{n}.00\n" for n in range(450))
    again = "".join(f"p{n},P,{n}.50\n" for n in range(450))
    job_id = desk.started("slug,name,price\n" + rows + again)
    assert desk.job(job_id)["total"] == 450
    shown = []
    while messages := desk.messages():
        for message in messages:
            desk.handle(message)
            shown.append(desk.job(job_id)["progress"])
    assert counts(desk.job(job_id)) == [450, 0, 0, 0, 450]
    assert shown == sorted(shown)
    assert any(20 < percent < 80 for percent in shown)


def test_a_part_of_a_file_without_errors_and_previews_reads_none(desk: Desk) -> None:
    with desk.dynamodb.metered() as calls:
        store.put_errors("job_1", [])
        store.put_previews("job_1", [])
    assert calls == []


def test_a_file_of_failing_rows_stores_about_a_hundred_errors(desk: Desk) -> None:
    rows = "".join(f"p{n},P{n},free\n" for n in range(1_000))
    job = desk.imported("slug,name,price\n" + rows)
    assert (job["failed"], len(job["errors"])) == (1_000, 100)
    assert [error["row"] for error in job["errors"]] == list(range(2, 102))
    kept = sum(item["sk"].startswith("error#") for item in desk.shop.stored())
    assert 100 <= kept <= 200
    assert desk.report(job["id"]).count("not_an_amount") == 1_000


def test_the_errors_of_a_row_are_completed_by_a_repetition(desk: Desk) -> None:
    errors = [RowError(row, "price", "invalid", "x") for row in range(1, 101)]
    later = errors[-1]._replace(code="later")
    store.put_errors("job_1", [(error, {}) for error in errors[:-1]])
    lost = {"pk": "job_1", "sk": "error#000000100#001", **later._asdict()}
    table.put(lost)  # a worker crashed after this one of two
    store.put_errors("job_1", [(errors[-1], {}), (later, {})])
    assert [error["code"] for error in store.list_errors("job_1")] == ["invalid"] * 100


def test_what_a_job_shows_of_a_file_is_shortened(desk: Desk) -> None:
    columns = [f"old price {n:03d}".ljust(201, "x") for n in range(201)]
    header = ",".join(["Handle", "Title", "Variant Price", "Body (HTML)", *columns])
    job = desk.imported(f"{header}\na,{'n' * 201},free,text{',' * 201}\n")
    assert job["ignoredColumns"] == [name[:200] for name in columns[:200]]
    assert [one["column"] for one in job["warnings"]] == [name[:200] for name in columns[:50]]
    assert [(error["code"], error["name"]) for error in job["errors"]] == [
        ("not_an_amount", "n" * 200)
    ]
    column = "p" * 201
    mapping = json.dumps({"Name": "name", column: "price"})
    job = desk.imported(f"Name,{column}\na,free\n", mapping=mapping)
    assert [error["field"] for error in job["errors"]] == [column[:200]]
    marks = "_" * 90_000  # the column is known without them
    job = desk.imported(f"name,price,vendor{marks}\nA,1,{'v' * 300}\n")
    (error,) = job["errors"]
    assert (error["code"], len(error["message"])) == ("too_long", 235)


def test_an_error_of_several_columns_names_the_field(desk: Desk) -> None:
    header = "Handle,Title,Option1 Value,Option2 Value,Option3 Value,Variant Price\n"
    (error,) = desk.imported(f"{header}a,A,{'o' * 90},{'p' * 90},{'q' * 90},5\n")["errors"]
    assert (error["field"], error["code"]) == ("", "too_long")
    assert error["message"] == "title must have 255 characters or fewer."


@pytest.mark.parametrize(
    ("status", "chunks", "is_restarted"),
    [("RUNNING", 3, True), ("RUNNING", None, False), ("COMPLETED", 3, False)],
)
def test_only_a_running_job_that_the_first_release_planned_is_planned_again(
    desk: Desk, status: str, chunks: int | None, is_restarted: bool
) -> None:
    job_id = desk.send(TWO)
    had = {"chunks": chunks} if chunks else {}
    table.update((job_id, "job"), assign={"status": status, **had})
    job = store.find_job(job_id)
    assert job and store.restart_job(job, 60) == is_restarted
    after = store.find_job(job_id)
    assert after and after.status == ("QUEUED" if is_restarted else status)
