"""A file whose columns are not recognised waits for a mapping."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest.mock import Mock
from urllib.parse import quote

import pytest

from chalicelib import settings
from chalicelib.imports import mappings
from chalicelib.imports.formats.sheet import REPORT_COLUMNS
from chalicelib.request import size
from chalicelib.values import clock
from chalicelib.values.forgetting import Person
from tests.audit.build import traced
from tests.support.dynamodb_double import Fault
from tests.support.import_desk import IMPORT, Desk, counts
from tests.support.shop import Answer

FOREIGN = "Product Name,Selling Price,Qty,Colour code\nMug,7.50,4,#fff\nHat,9,2,#000\n"
MAPPING = {"Product Name": "name", "Selling Price": "price", "Qty": "stock"}
MAPPINGS = f"{IMPORT}/mappings"


def test_nothing_is_written_until_a_mapping_is_sent(desk: Desk) -> None:
    job = desk.waiting(FOREIGN)
    assert (desk.products(), job["processed"], job["dialect"]) == ({}, 0, None)
    assert (job["encoding"], job["delimiter"]) == ("utf-8", ",")
    assert [(c["column"], c["field"], c["ignored"]) for c in job["columns"]] == [
        ("Product Name", "name", False),
        ("Selling Price", "price", False),
        ("Qty", "stock", False),
        ("Colour code", None, True),
    ]
    assert job["columns"][0]["samples"] == ["Mug", "Hat"]
    done = desk.answered(job, columns=MAPPING)
    assert (done["status"], done["created"], done["dialect"]) == ("COMPLETED", 2, "mapped")
    mug = desk.products()["mug"]
    assert (mug["price"], mug["variants"][0]["stock"]) == ("7.50", 4)
    assert done["ignoredColumns"] == ["Colour code"]


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        ({"columns": {"Product Name": "nam"}}, ("columns.Product Name", "unknown_field")),
        ({"columns": {"Name": "name"}}, ("columns.Name", "unknown_column")),
        ({"columns": {"Selling Price": "price"}}, ("columns", "missing_key")),
        ({}, ("columns", "required")),
        ({"format": "shopify"}, ("format", "format_does_not_fit")),
        ({"format": "excel"}, ("format", "unknown_format")),
    ],
)
def test_an_invalid_mapping_is_refused_by_column(desk: Desk, answer: Any, fault: Any) -> None:
    job = desk.waiting(FOREIGN)
    assert desk.refused_answer(job, **answer) == fault
    assert desk.job(job["id"])["status"] == "NEEDS_MAPPING"


def test_a_saved_mapping_is_proposed_and_can_be_sent_by_name(desk: Desk) -> None:
    odd = {"Product Name": "name", "Selling Price": "compareAtPrice", "Qty": "price"}
    desk.answered(desk.waiting(FOREIGN), columns=odd, saveAs="Supplier A")
    (saved,) = desk.shop.get(MAPPINGS).json["data"]
    assert (saved["name"], saved["columns"]) == ("Supplier A", {**odd, "Colour code": None})
    shuffled = "Qty,COLOUR CODE,Product name,Selling Price\n3,#fff,Cup,5\n"
    job = desk.waiting(shuffled)
    assert job["savedMapping"] == "Supplier A"
    assert [c["field"] for c in job["columns"]] == ["price", None, "name", "compareAtPrice"]
    done = desk.imported(shuffled, savedMapping="Supplier A")
    assert (done["status"], desk.products()["cup"]["price"]) == ("COMPLETED", "3.00")
    other = desk.waiting("Product Name,Selling Price\nCup,1\n")
    assert other["savedMapping"] is None
    assert desk.shop.delete(f"{MAPPINGS}/Supplier A").status == 200
    assert desk.shop.delete(f"{MAPPINGS}/Supplier A").status == 404
    assert (
        desk.post(shuffled, savedMapping="Supplier A").json["errors"][0]["code"]
        == "unknown_mapping"
    )


def test_a_change_of_a_mapping_whose_answer_from_the_table_is_lost_succeeds_once(
    desk: Desk,
) -> None:
    def names_after(change: Callable[[], Answer]) -> list[str]:
        lost = iter([Fault.LOST_AFTER])
        desk.dynamodb.faults = lambda operation, request: (
            next(lost, None) if operation == "TransactWriteItems" else None
        )
        assert change().status == 200
        assert next(lost, None) is None
        return [each["name"] for each in desk.shop.read(MAPPINGS)["data"]]

    path = f"{MAPPINGS}/mine"
    assert names_after(lambda: desk.shop.put(path, {"columns": MAPPING})) == ["mine"]
    assert names_after(lambda: desk.shop.delete(path)) == []


def test_of_two_deletions_of_a_mapping_at_once_one_is_in_the_audit_log(desk: Desk) -> None:
    path = f"{MAPPINGS}/mine"
    assert desk.shop.put(path, {"columns": MAPPING}).status == 200
    desk.meanwhile("TransactWriteItems", lambda: desk.shop.delete(path))
    assert desk.shop.delete(path).status == 200
    actions = [entry["action"] for entry in traced(desk.dynamodb)]
    assert actions.count("mapping.deleted") == 1


@pytest.mark.parametrize(
    ("mapping", "field", "code"),
    [
        ({}, "mapping", "too_short"),
        ({"A": 5}, "mapping.A", "invalid_type"),
        ({"A": "x" * 51, "B": None}, "mapping.A", "too_long"),
        ("Supplier", "mapping", "invalid_type"),
        (5, "mapping", "invalid_type"),
        (["A"], "mapping", "invalid_type"),
    ],
)
def test_an_invalid_mapping_of_an_upload_is_refused_by_its_own_name(
    desk: Desk, mapping: Any, field: str, code: str
) -> None:
    refused = desk.shop.post(f"{IMPORT}/uploads", {"fileName": "a.csv", "mapping": mapping})
    assert refused.status == 422, refused.text
    assert [(e["field"], e["code"]) for e in refused.json["errors"]] == [(field, code)]


def test_mappings_are_saved_by_name_and_can_be_sent_back_as_they_were_read(desk: Desk) -> None:
    for columns in ({"A": "name", "B": "price"}, {"A": "name", "B": "stock"}):
        reply = desk.shop.put(f"{MAPPINGS}/mine", {"columns": columns})
        assert (reply.status, reply.json["columns"]) == (200, columns)
    assert len(desk.shop.get(MAPPINGS).json["data"]) == 1
    assert desk.shop.put(f"{MAPPINGS}/mine", {"columns": {"A": "nothing"}}).status == 422
    for dots in ("...", "a%2Fb", "x" * 101):
        assert desk.shop.put(f"{MAPPINGS}/{dots}", {"columns": columns}).refused == ["name"]
    for report in ("", ",error code"):
        assert desk.waiting(f"A,B{report}\nMug,5{report}\n")["savedMapping"] == "mine"
    remarked = {**columns, REPORT_COLUMNS[0]: None}
    read = desk.shop.put(f"{MAPPINGS}/mine", {"columns": remarked}).json
    for name in ("mine", "other"):
        again = desk.shop.put(f"{MAPPINGS}/{name}", read)
        assert again.status == 200, again.text
        assert (again.json["name"], again.json["columns"]) == (name, columns)


@pytest.mark.thorough
def test_of_two_mappings_for_the_last_place_one_is_saved(desk: Desk) -> None:
    for place in range(199):
        assert desk.shop.put(f"{MAPPINGS}/{place}", {"columns": MAPPING}).status == 200
    save = {"columns": MAPPING}
    desk.meanwhile("TransactWriteItems", lambda: desk.shop.put(f"{MAPPINGS}/first", save))
    refused = desk.shop.put(f"{MAPPINGS}/second", save)
    assert (refused.status, refused.json["code"]) == (409, "too_many_mappings")
    assert desk.shop.put(f"{MAPPINGS}/first", save).status == 200, "it is one of them"
    assert len(desk.shop.get(MAPPINGS).json["data"]) == 200
    assert desk.shop.delete(f"{MAPPINGS}/first").status == 200
    assert desk.shop.put(f"{MAPPINGS}/second", save).status == 200


def test_all_saved_mappings_fit_an_answer(desk: Desk) -> None:
    names = {f"{n:02}{'😀' * 240}": None for n in range(100)}
    columns: dict[str, str | None] = {"Name": "name", "Price": "price", **names}
    answers = [desk.shop.put(f"{MAPPINGS}/{place}", {"columns": columns}) for place in range(9)]
    assert [answer.status for answer in answers] == [200] * 8 + [409]
    assert answers[8].json["code"] == "too_many_mappings"
    assert size.count_sent_bytes(desk.shop.get(MAPPINGS).text) < size.LARGEST_ANSWER
    assert desk.shop.put(f"{MAPPINGS}/0", {"columns": columns}).status == 200, "it is one of them"


@pytest.mark.parametrize(
    "name",
    ["Ost & West", "100 %", "Händler", "a?b#c", "..a", "a%2Fb", "a+b", "a;b=c", "\\\\", "x" * 100],
)
def test_any_name_of_a_mapping_can_be_changed_used_and_deleted(desk: Desk, name: str) -> None:
    desk.answered(desk.waiting(FOREIGN), columns=MAPPING, saveAs=name)
    path = f"{MAPPINGS}/{quote(name, safe='')}"
    assert desk.shop.put(path, {"columns": MAPPING}).json["name"] == name
    assert len(desk.shop.get(MAPPINGS).json["data"]) == 1
    upload = {"fileName": "a.csv", "savedMapping": name}
    assert desk.shop.post(f"{IMPORT}/uploads", upload).status == 201
    assert desk.shop.delete(path).status == 200
    assert desk.shop.get(MAPPINGS).json["data"] == []


@pytest.mark.parametrize("name", ["winter/2026", ".", "..", "...", "/", "", "x" * 101])
def test_a_name_that_cannot_stand_in_a_path_is_refused(desk: Desk, name: str) -> None:
    asked = {"columns": MAPPING, "saveAs": name}
    refused = desk.shop.post(f"/api/admin/jobs/{desk.waiting(FOREIGN)['id']}/mapping", asked)
    assert (refused.status, refused.json["errors"][0]["field"]) == (422, "saveAs")


def test_a_mapping_can_be_sent_with_the_file(desk: Desk) -> None:
    jobs = [
        desk.imported(FOREIGN, mapping=json.dumps(MAPPING)),
        desk.finished(desk.put(FOREIGN.encode(), mapping=MAPPING)),
    ]
    assert [(job["status"], job["total"]) for job in jobs] == [("COMPLETED", 2)] * 2


def test_a_mapping_for_other_columns_is_asked_about_or_fails(desk: Desk) -> None:
    other = json.dumps({"Name": "name", "Cost": "price"})
    job = desk.waiting(FOREIGN, mapping=other)
    assert [c["field"] for c in job["columns"]][:3] == ["name", "price", "stock"]
    job = desk.imported(FOREIGN, mapping=other, onUnknownColumns="fail")
    assert (job["status"], job["error"]["code"]) == ("FAILED", "mapping_does_not_fit")


def test_an_invalid_mapping_sent_with_the_file_is_refused(desk: Desk) -> None:
    twice = '{"Product Name": "name", "Cost": "price", "Cost": "sku"}'
    for sent, field in (
        *(("{", "mapping"), (twice, "mapping")),
        *(('{"a": 5}', "columns.a"), ('{"a": "b"}', "columns.a")),
    ):
        reply = desk.post(FOREIGN, mapping=sent)
        assert (reply.status, reply.json["errors"][0]["field"]) == (422, field), reply.text


def test_a_job_without_a_mapping_for_a_week_fails(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = desk.waiting(FOREIGN)
    later = datetime.now(UTC) + timedelta(days=7, seconds=1)
    monkeypatch.setattr(clock, "now", lambda: later)
    shown = desk.job(job["id"])
    assert (shown["status"], shown["error"]["code"]) == ("FAILED", "mapping_missing")
    reply = desk.shop.post(f"/api/admin/jobs/{job['id']}/mapping", {"columns": MAPPING})
    assert (reply.status, reply.json["code"]) == (409, "job_not_waiting")


def test_only_a_waiting_job_accepts_a_mapping(desk: Desk) -> None:
    done, cancelled = desk.imported("slug,name,price\na,A,1\n"), desk.waiting(FOREIGN)
    desk.cancel(cancelled["id"])
    for job in (done, cancelled):
        reply = desk.shop.post(f"/api/admin/jobs/{job['id']}/mapping", {"columns": MAPPING})
        assert (reply.status, reply.json["code"]) == (409, "job_not_waiting")


def test_a_repeated_mapping_imports_once(desk: Desk) -> None:
    job = desk.waiting(FOREIGN)
    path = f"/api/admin/jobs/{job['id']}/mapping"
    for _ in range(2):
        assert desk.shop.post(path, {"columns": MAPPING}).status == 200
    desk.work()
    desk.uploaded(job["id"])
    done = desk.finished(job["id"])
    assert (done["created"], done["total"]) == (2, 2)


def test_failed_rows_of_a_mapped_file_are_retried_with_its_mapping(desk: Desk) -> None:
    rows = "Mug,7,4,\n" * 3 + "Hat,free,1,\nCap,8,1,\nBag,dear,2,\n"
    header, _, _ = FOREIGN.partition("\n")
    job = desk.answered(desk.waiting(f"{header}\n{rows}"), columns=MAPPING)
    for _ in range(3):
        assert [
            tuple(error[name] for name in ("row", "field", "code", "name", "slug"))
            for error in job["errors"]
        ] == [
            (5, "Selling Price", "not_an_amount", "Hat", "hat"),
            (7, "Selling Price", "not_an_amount", "Bag", "bag"),
        ]
        again = desk.retried(job["id"])
        assert (again["failed"], again["sourceJobId"]) == (2, job["id"])
        job = again


def test_ignored_columns_that_sound_like_fields_are_warned_about(desk: Desk) -> None:
    header = "Handle,Title,Variant Price,Image Src,Warehouse stock,Colour of the wall\n"
    job = desk.imported(header + "a,A,1,,5,red\n")
    assert [warning["column"] for warning in job["warnings"]] == ["Warehouse stock"]
    assert job["ignoredColumns"] == ["Warehouse stock", "Colour of the wall"]
    fields = {c["column"]: c["field"] for c in job["columns"]}
    assert (fields["Handle"], fields["Warehouse stock"]) == ("slug", None)


def test_a_dry_run_shows_a_preview_and_can_be_run(desk: Desk) -> None:
    pictured = "slug,name,price,image\na,A,1,https://example.com/a.png\nb,B,2,\nsame,Same,3,\n"
    desk.imported(pictured)
    foreign = "Product Name,Selling Price,Qty\nA,5,4\nNew,6,1\nSame,3,\nB,x,\n"
    job = desk.answered(desk.waiting(foreign, dryRun="true"), columns=MAPPING)
    assert counts(job) == [1, 1, 1, 1, 4]
    changed, created = job["preview"]
    assert (changed["row"], changed["outcome"], changed["slug"]) == (2, "updated", "a")
    assert (changed["image"], created["image"]) == ("https://example.com/a.png", None)
    assert job["createdBy"] == desk.shop.get("/api/admin/me").json["name"]
    assert (changed["before"]["price"], changed["after"]["price"]) == ("1.00", "5.00")
    assert [v["stock"] for v in changed["before"]["variants"]] == [None]
    assert [v["stock"] for v in changed["after"]["variants"]] == [4]
    assert changed["after"].keys() == {"price", "variants"}
    assert (created["outcome"], created["before"]) == ("created", None)
    assert created["after"]["name"] == "New"
    assert "new" not in desk.products()
    real = desk.retried(job["id"], "run")
    assert counts(real) == counts(job)
    assert (real["dryRun"], real["sourceJobId"], real["preview"]) == (False, job["id"], [])
    assert desk.products()["a"]["price"] == "5.00"
    reply = desk.shop.post(f"/api/admin/jobs/{real['id']}/run")
    assert (reply.status, reply.json["code"]) == (409, "not_a_dry_run")


@pytest.mark.parametrize(("order", "stored"), [(list, 50), (reversed, 150)])
def test_a_preview_has_the_first_fifty_changed_products(
    desk: Desk, order: Any, stored: int
) -> None:
    rows = "".join(f"p{n},P{n},{n + 1}\n" for n in range(450))
    job_id = desk.started("slug,name,price\n" + rows, dryRun="true")
    for message in order(desk.messages()):
        desk.handle(message)
    desk.work()
    job = desk.job(job_id)
    assert (job["status"], job["created"]) == ("COMPLETED", 450)
    assert [one["row"] for one in job["preview"]] == list(range(2, 52))
    items = desk.dynamodb.items(settings.table())
    assert sum(item["sk"]["S"].startswith("preview#") for item in items) == stored


@pytest.mark.thorough
def test_a_preview_has_all_products_whatever_their_size(desk: Desk) -> None:
    """More than one query of the table returns."""
    long = "é" * 190

    def rows(price: int) -> str:
        made = (
            f"p{n},P{n},{price},{m}{long},{n}-{m}{long[:90]}" for n in range(50) for m in range(20)
        )
        return "\n".join(["slug,name,price,variantTitle,variantSku", *made, ""])

    assert desk.imported(rows(5))["created"] == 50
    job = desk.imported(rows(6), dryRun="true")
    assert [len(one["after"]["variants"]) for one in job["preview"]] == [20] * 50


@pytest.mark.thorough
def test_a_preview_that_exceeds_an_answer_has_the_first_products(desk: Desk) -> None:
    """A character outside of the first plane takes twelve bytes of an answer."""
    pictures = " ".join(f"https://example.com/{n}{'😀' * 280}" for n in range(20))
    titles = [f"{n}{'😀' * 250}" for n in range(20)]
    rows = [f"P,1,{pictures if title == titles[0] else ''},{title}" for title in titles]
    made = (f"p{n},{row}" for n in range(50) for row in rows)
    text = "\n".join(["slug,name,price,images,variantTitle", *made, ""])
    job_id = desk.imported(text, dryRun="true")["id"]
    answer = desk.shop.get(f"/api/admin/jobs/{job_id}")
    assert answer.json["created"] == 50
    shown = [one["slug"] for one in answer.json["preview"]]
    assert shown == [f"p{n}" for n in range(len(shown))] and len(shown) < 50
    largest = size.count_sent_bytes(answer.text) / len(shown)
    assert (
        size.LARGEST_ANSWER - 2 * largest < size.count_sent_bytes(answer.text) < size.LARGEST_ANSWER
    )


def test_a_preview_leaves_out_metadata_which_may_be_large(desk: Desk) -> None:
    metadata = {f"key {n:04}": n for n in range(900)}  # none of its texts is long
    shown = {"name": "A", "price": 1, "variants": [{"title": "S", "metadata": metadata}]}
    desk.shop.made("/api/admin/products", shown)
    job = desk.imported("slug,variantTitle,price\na,S,2\n", dryRun="true")
    (variant,) = job["preview"][0]["after"]["variants"]
    assert (variant["price"], variant.get("metadata")) == ("2.00", None)
    desk.retried(job["id"], "run")
    assert desk.products()["a"]["variants"][0]["metadata"] == metadata


def test_a_preview_names_the_first_row_of_a_product_and_shortens_its_texts(desk: Desk) -> None:
    rows = f"a,A,5,S,{'x' * 301}\na,,,M,\nb,B,1,,{'x' * 300}\n"
    job = desk.imported("slug,name,price,variantTitle,description\n" + rows, dryRun="true")
    assert [(one["row"], one["slug"]) for one in job["preview"]] == [(2, "a"), (4, "b")]
    texts = [one["after"]["description"] for one in job["preview"]]
    assert texts == ["x" * 299 + "…", "x" * 300]


def test_a_preview_shows_the_pictures_that_differ_or_their_new_order(desk: Desk) -> None:
    header, urls = "slug,name,price,imageUrl\n", [f"https://a.example/{n}.jpg" for n in range(3)]

    def rows(*order: int) -> str:
        return f"a,A,5,{urls[order[0]]}\n" + "".join(f"a,,,{urls[at]}\n" for at in order[1:])

    def shown(*order: int) -> list[list[str]]:
        (one,) = desk.imported(header + rows(*order), dryRun="true")["preview"]
        return [[image["url"] for image in one[side]["images"]] for side in ("before", "after")]

    desk.imported(header + rows(0, 1))
    assert shown(1, 0) == [[urls[0], urls[1]], [urls[1], urls[0]]]
    assert shown(0, 2) == [[], [urls[2]]]
    more = "".join(f"a,,,https://a.example/more{n}.jpg,{'x' * 301}\n" for n in range(21))
    (one,) = desk.imported(f"slug,name,price,imageUrl,imageAlt\na,A,5,,\n{more}", dryRun="true")[
        "preview"
    ]
    assert one["id"] == desk.products()["a"]["id"]
    assert [len(image["alt"]) for image in one["after"]["images"]] == [300] * 20


# --- A file that is known -------------------------------------------------------------------------

SHOPIFY = (
    "Handle,Title,Vendor,Variant SKU,Variant Price,Variant Inventory Qty,Lager Ost\n"
    "mug,Mug,Northwind,M-1,7.50,4,11\n"
)


def test_a_recognised_file_waits_for_a_confirmation_on_request(desk: Desk) -> None:
    job = desk.waiting(SHOPIFY, review="true", dryRun="true")
    assert (job["dialect"], job["encoding"], job["delimiter"]) == ("shopify", "utf-8", ",")
    assert job["ignoredColumns"] == ["Lager Ost"]
    fields = {each["column"]: each["field"] for each in job["columns"]}
    assert (fields["Handle"], fields["Lager Ost"]) == ("slug", None)
    assert {"slug", "stock", "position", "imageUrl"} <= set(job["fields"])
    done = desk.answered(job, format="shopify")
    assert (done["status"], done["created"], done["dryRun"]) == ("COMPLETED", 1, True)
    real = desk.retried(job["id"], "run")
    assert (real["status"], real["created"], real["dialect"]) == ("COMPLETED", 1, "shopify")
    assert desk.products()["mug"]["vendor"] == "Northwind"


@pytest.mark.parametrize(
    ("columns", "fault"),
    [
        ({"Lager Ost": "stock"}, ("columns.Lager Ost", "duplicate_field")),
        ({"Lager Ost": "variantTitle"}, ("columns.Lager Ost", "unknown_field")),
        ({"Lager West": "stock"}, ("columns.Lager West", "unknown_column")),
        ({"Handle": None, "Title": None, "Variant SKU": None}, ("columns", "missing_key")),
    ],
)
def test_a_wrong_column_of_a_known_format_is_refused(desk: Desk, columns: Any, fault: Any) -> None:
    job = desk.waiting(SHOPIFY, review="true")
    assert desk.refused_answer(job, format="shopify", columns=columns) == fault


def test_single_columns_of_a_known_format_can_be_remapped(desk: Desk) -> None:
    job = desk.waiting(SHOPIFY, review="true")
    changed = {"Vendor": None, "Variant Inventory Qty": None, "Lager Ost": "stock"}
    done = desk.answered(job, format="shopify", columns=changed, saveAs="Ost")
    assert (done["status"], done["dialect"], done["created"]) == ("COMPLETED", "shopify", 1)
    assert done["ignoredColumns"] == ["Vendor", "Variant Inventory Qty"]
    fields = {each["column"]: each["field"] for each in done["columns"]}
    assert (fields["Vendor"], fields["Lager Ost"], fields["Handle"]) == (None, "stock", "slug")
    mug = desk.products()["mug"]
    assert (mug["vendor"], mug["variants"][0]["stock"]) == (None, 11)
    (saved,) = desk.shop.get(MAPPINGS).json["data"]
    assert (saved["format"], saved["columns"]) == ("shopify", fields)
    again = desk.imported(SHOPIFY.replace(",11", ",12"), savedMapping="Ost")
    assert (again["dialect"], again["updated"]) == ("shopify", 1)
    assert desk.products()["mug"]["variants"][0]["stock"] == 12


def test_columns_of_our_own_format_can_be_remapped(desk: Desk) -> None:
    job = desk.waiting("slug,name,price,stock\nmug,Mug,7,4\n", review="true")
    assert (job["dialect"], "option1" in job["fields"]) == ("backroom", True)
    done = desk.answered(job, format="backroom", columns={"stock": None})
    assert (done["created"], done["ignoredColumns"]) == (1, ["stock"])
    fields = {each["column"]: each["field"] for each in done["columns"]}
    assert fields == {"slug": "slug", "name": "name", "price": "price", "stock": None}
    assert desk.products()["mug"]["variants"][0]["stock"] is None


def test_changing_encoding_and_delimiter_updates_the_columns(desk: Desk) -> None:
    file = "slug,name;x,price\nmug,Größe;y,7\n".encode("cp1252")
    job = desk.waiting(file, review="true")
    desk.shop.post(f"/api/admin/jobs/{job['id']}/mapping", {"delimiter": ";"})
    desk.work()
    other = desk.finished(job["id"])
    assert (other["status"], other["delimiter"]) == ("NEEDS_MAPPING", ";")
    assert [each["column"] for each in other["columns"]] == ["slug,name", "x,price"]
    for body in ({"encoding": "mac_roman", "delimiter": ","}, {"encoding": "cp1252"}):
        job = desk.answered(job, **body)
        assert (job["status"], job["encoding"]) == ("NEEDS_MAPPING", body["encoding"])
    assert job["columns"][1]["samples"] == ["Größe;y"]
    mapping = {"slug": "slug", "name;x": "name", "price": "price"}
    assert desk.answered(job, columns=mapping)["created"] == 1
    assert desk.products()["mug"]["name"] == "Größe;y"


def test_a_format_saved_for_some_columns_is_proposed_with_its_fields(desk: Desk) -> None:
    columns = {"Handle": None, "Title": None, "Price": None, "Colour of the wall": None}
    saved = desk.shop.put(f"{MAPPINGS}/odd", {"columns": columns, "format": "shopify"})
    assert saved.status == 200, saved.text
    job = desk.waiting(",".join(columns) + "\nmug,Mug,7,red\n")
    assert job["savedMapping"] == "odd"
    assert [each["field"] for each in job["columns"]] == ["slug", "name", "price", None]
    assert desk.answered(job, format="shopify")["created"] == 1


def test_names_of_columns_that_no_job_can_hold_are_refused(desk: Desk) -> None:
    names = {f"{n:02d}{'漢' * 995}": None for n in range(34)}
    columns: dict[str, str | None] = {"Name": "name", "Price": "price", **names}
    text = json.dumps(columns, ensure_ascii=False)
    answers = (
        desk.post("Name,Price\nMug,1\n", mapping=text),
        desk.shop.post(f"{IMPORT}/uploads", {"fileName": "a.csv", "mapping": columns}),
        desk.shop.put(f"{IMPORT}/mappings/large", {"columns": columns}),
    )
    for answer in answers:
        assert answer.status == 422, answer.text
        assert "100,000 bytes" in answer.json["errors"][0]["message"]
    job = desk.imported(f"{','.join(columns)}\nMug,1\n")
    assert (job["status"], job["error"]["code"]) == ("FAILED", "bad_header")


def test_the_longest_names_of_columns_fit_a_job_and_a_saved_mapping(desk: Desk) -> None:
    header = ["Name", "Price", *(f"{n:02d}{'😀' * 249}" for n in range(100))]
    assert 99_000 < len("".join(header).encode()) <= 100_000
    columns = {**dict.fromkeys(header), "Name": "name", "Price": "price"}
    waiting = desk.waiting(f"{','.join(header)}\nMug,1\n")
    for vendor in header[2:4]:  # the audit log has both
        saved = {"columns": {**columns, vendor: "vendor"}}
        assert desk.shop.put(f"{IMPORT}/mappings/large", saved).status == 200
    assert desk.answered(waiting, columns=columns)["created"] == 1


def test_a_mapping_that_goes_during_an_erasure_has_one_audit_entry(desk: Desk) -> None:
    assert desk.shop.call("PUT", f"{MAPPINGS}/mine", {"columns": MAPPING}).status == 200

    def delete_mapping(text: str) -> bool:
        """Says that the person is mentioned, after another request deleted the mapping."""
        assert desk.shop.delete(f"{MAPPINGS}/mine").status == 200
        return "mine" in text

    erased = Mock(spec=Person, is_mentioned_in=delete_mapping)
    assert mappings.forget(erased) == 1
    actions = [entry["action"] for entry in traced(desk.dynamodb)]
    assert actions.count("mapping.deleted") == 1
