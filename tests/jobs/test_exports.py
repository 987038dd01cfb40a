"""POST /api/admin/exports: files without formulas, with correct sums, that import unchanged."""

import csv
import io
import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from chalicelib import aws
from chalicelib import settings as environment
from chalicelib.exports import products, work
from chalicelib.exports import store as files
from chalicelib.imports.formats import recognise
from chalicelib.imports.formats.ours import COLUMNS
from chalicelib.jobs import store
from tests.jobs.test_bulk_edits import edit, order
from tests.orders.build import line, placed, product_path, variant
from tests.stock.build import fanned_out
from tests.support.import_desk import Desk
from tests.support.job_desk import PRODUCTS, JobDesk

EXPORTS = "/api/admin/exports"


def exported(jobs: JobDesk, **asked: Any) -> tuple[Any, str]:
    """The job and its file."""
    job = jobs.done(EXPORTS, asked if "filters" in asked else {"all": True, **asked})
    return job, file_of(job, asked.get("format", "csv"))


def file_of(job: Any, form: str = "csv") -> str:
    """The file of an export that has completed."""
    assert job["status"] == "COMPLETED" and job["downloadUrl"], job
    key = f"exports/{job['id']}.{form}"
    found = aws.client("s3").get_object(Bucket=environment.bucket(), Key=key)
    data: bytes = found["Body"].read()
    assert job["bytes"] == len(data) and job["processed"] == job["total"]
    return data.decode()


def in_pieces_of_three(monkeypatch: pytest.MonkeyPatch) -> None:
    """A step of an export, and a piece of its file, is three records."""
    monkeypatch.setattr(files, "PIECE", 1)
    monkeypatch.setattr("chalicelib.exports.work._PAGE", 3)
    monkeypatch.setattr("moto.s3.models.S3_UPLOAD_PART_MIN_SIZE", 1)


def rows(text: str) -> list[dict[str, str]]:
    assert text.startswith("\ufeff")
    return list(csv.DictReader(io.StringIO(text[1:], newline="")))


def test_exports_have_columns_that_imports_recognise() -> None:
    assert products.BACKROOM == COLUMNS
    assert str(recognise(products.BACKROOM).name) == "backroom"  # type: ignore[union-attr]
    assert str(recognise(products.SHOPIFY).name) == "shopify"  # type: ignore[union-attr]


def test_products_are_exported_as_rows_of_variants_and_pictures(jobs: JobDesk) -> None:
    images = [{"url": f"https://img.example/{n}.jpg", "alt": f"no. {n}"} for n in range(3)]
    variants = [{"title": "S", "sku": "A", "price": "12", "stock": 3}, {"title": "M"}]
    jobs.product(slug="shirt", variants=variants, images=images, tags=["a,b", "c\\d"])
    _, text = exported(jobs, type="products")
    first, *more = rows(text)
    assert (first["name"], first["price"], first["tags"]) == ("Shirt", "10.00", "a\\,b, c\\\\d")
    assert [row["variantTitle"] for row in more] == ["S", "M"]
    assert [row["variantPrice"] for row in more] == ["12.00", "10.00"]
    assert [row["stock"] for row in more] == ["3", ""]
    assert [row["imageAlt"] for row in (first, *more)] == ["no. 0", "no. 1", "no. 2"]
    assert {row["slug"] for row in (first, *more)} == {"shirt"}
    assert first["published"] == "TRUE"
    jobs.product(name="Cap", variants=[{"title": "Only"}])
    found = rows(exported(jobs, type="products", filters={"search": "cap"})[1])
    assert [row["variantTitle"] for row in found] == ["", "Only"]


def test_a_reader_gets_neither_a_file_nor_a_preview_because_costs_may_be_in_them(
    jobs: JobDesk,
) -> None:
    product = jobs.product()
    export, _ = exported(jobs, type="products")
    dry_run = edit(jobs, {"vendor": "A"}, product, dryRun=True)
    assert dry_run["preview"]
    for job in (export, dry_run):
        seen = jobs.shop.get(f"/api/admin/jobs/{job['id']}", key=jobs.shop.as_("READER")).json
        assert (seen["preview"], seen["downloadUrl"]) == ([], None)
        assert seen.keys() == job.keys()


@pytest.mark.parametrize("name", ["=1+1", "+49", "-1", "@SUM(A1)", "'quoted"])
def test_no_cell_is_a_formula(jobs: JobDesk, name: str) -> None:
    jobs.product(name=name, sku=name, vendor=name)
    (row,) = rows(exported(jobs, type="products")[1])
    assert row["name"] == row["sku"] == row["vendor"] == f"'{name}"
    (row,) = rows(exported(jobs, type="products", columns="shopify")[1])
    assert row["Title"] == row["SKU"] == f"'{name}"


def test_filters_are_those_of_the_list(jobs: JobDesk) -> None:
    jobs.product(type="Hats", status="ACTIVE")
    jobs.product(type="Hats")
    job, text = exported(jobs, type="products", filters={"type": "Hats", "status": "ACTIVE"})
    assert job["total"] == 1 and len(rows(text)) == 1
    assert rows(exported(jobs, type="products", filters={"search": "a" * 150})[1]) == []
    bad = jobs.shop.post(EXPORTS, {"type": "products", "filters": {"colour": "red"}})
    assert [e["field"] for e in bad.json["errors"]] == ["filters.colour"]
    bad = jobs.shop.post(EXPORTS, {"type": "orders", "columns": "shopify", "all": True})
    assert [e["field"] for e in bad.json["errors"]] == ["columns"]
    for unsaid in ({}, {"filters": {}}, {"all": False}):
        bad = jobs.shop.post(EXPORTS, {"type": "products", **unsaid})
        assert [e["code"] for e in bad.json["errors"]] == ["one_of"]
    bad = jobs.shop.post(EXPORTS, {"type": "products", "filters": {"vendor": " "}})
    assert [e["field"] for e in bad.json["errors"]] == ["filters.vendor"]


def test_orders_have_one_row_per_line_and_their_sums_add_up(jobs: JobDesk) -> None:
    many = [jobs.product(price=f"{n}.99")["variants"][0]["id"] for n in range(1, 4)]
    lines = [{"variantId": id, "quantity": 2} for id in many]
    sent = {"lineItems": lines, "customer": {"email": "ann@example.com"}, "tax": "1.01"}
    sent |= {"paymentStatus": "PAID", "tags": ["x", "y"], "deposit": {"percent": "50"}}
    sent |= {"discount": {"amount": "0.50"}}
    lines[0]["discount"] = {"percent": "10"}
    placed = [jobs.shop.post("/api/admin/orders", sent).json for _ in range(2)]
    order(jobs)
    found = rows(exported(jobs, type="orders")[1])
    assert len(found) == 7
    total = sum(Decimal(row["total"] or 0) for row in found)
    assert total == sum(Decimal(each["total"]) for each in placed) + 10
    paid = sum(Decimal(row["total"] or 0) for row in found if row["paymentStatus"] == "PAID")
    assert jobs.shop.get("/api/admin/summary").json["today"]["revenue"] == str(paid)
    assert found[1]["customerEmail"] == "ann@example.com" and found[1]["tags"] == "x, y"
    (one,) = (row for row in found if row["id"] == placed[0]["id"] and row["total"])
    assert (one["deposit"], one["discount"]) == (placed[0]["deposit"]["amount"], "0.50")
    assert one["lineDiscount"] == placed[0]["lineItems"][0]["discount"]["amount"] != ""


def test_customers_are_exported_as_csv_and_orders_as_json_lines(jobs: JobDesk) -> None:
    sent = {"email": "ann@example.com", "firstName": "Ann"}
    variant = jobs.product()["variants"][0]["id"]
    placed = jobs.shop.post(
        "/api/admin/orders",
        {"lineItems": [{"variantId": variant, "quantity": 1}], "customer": sent},
    ).json
    (row,) = rows(exported(jobs, type="customers")[1])
    assert (row["email"], row["firstName"]) == ("ann@example.com", "Ann")
    _, text = exported(jobs, type="orders", format="jsonl")
    assert [json.loads(line) for line in text.splitlines()] == [jobs.now(placed)]


def test_an_export_of_an_empty_shop_is_a_header(jobs: JobDesk) -> None:
    job, text = exported(jobs, type="products")
    assert job["total"] == 0 and rows(text) == [] and text.startswith("\ufeffslug,name")


@pytest.mark.thorough
@pytest.mark.parametrize("nth", range(1, 6))
@pytest.mark.parametrize("after", [False, True])
def test_an_export_that_crashes_anywhere_is_complete(
    jobs: JobDesk, monkeypatch: pytest.MonkeyPatch, nth: int, after: bool
) -> None:
    in_pieces_of_three(monkeypatch)
    slugs = {jobs.product(description="x" * 100)["slug"] for _ in range(10)}
    job = jobs.start(EXPORTS, {"type": "products", "all": True})
    jobs.crash("TransactWriteItems", nth, after=after)
    done = jobs.finished(job)
    assert done["processed"] == 10
    assert sorted(row["slug"] for row in rows(file_of(done))) == sorted(slugs)


@pytest.mark.thorough
@pytest.mark.parametrize("piece", range(1, 5))
def test_an_export_by_two_workers_at_once_is_complete(
    jobs: JobDesk, monkeypatch: pytest.MonkeyPatch, piece: int
) -> None:
    """A message may come twice, and records change: the pieces of the two workers differ."""
    in_pieces_of_three(monkeypatch)
    products = [jobs.product(description="x" * 100) for _ in range(10)]
    job, add, added = jobs.start(EXPORTS, {"type": "products", "all": True}), files.add, 0

    def added_twice(*given: Any) -> str:
        nonlocal added
        added += 1
        etag = add(*given)
        if added == piece:
            for product in products:
                jobs.shop.put(f"{PRODUCTS}/{product['id']}", {"vendor": "Changed"})
            work.step(store.get(job))  # another worker, which does not get to its end
        return etag

    monkeypatch.setattr(files, "add", added_twice)
    done = jobs.finished(job)
    assert done["processed"] == 10
    slugs = [row["slug"] for row in rows(file_of(done))]
    assert sorted(slugs) == sorted(product["slug"] for product in products)


# --- Export and import ----------------------------------------------------------------------------

_ODD = st.sampled_from(
    [
        *("=1+1", "+4", "-2", "@x", "'tis", "''", "'=a'b", '="007"', "007", "1E5", 'say "hi"'),
        *("a,b;c|d", "line\nbreak", "two\r\nlines", "\\", "a\\,b", "Ünïcödé", "عربي", "日本"),
        *("😀", "TRUE", "null", "#N/A", "1.299,00", "'5", "é́", "a > b", "x->y"),
        "soft\u2028break",
    ]
)
_TEXT = _ODD | st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=12
)
_PRICE = st.integers(0, 10_000).map(lambda cents: f"{cents / 100:.2f}")
_STOCK = st.none() | st.integers(0, 10_000)


def _named(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value not in (None, "")}


@st.composite
def _product(draw: st.DrawFn) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "name": draw(_TEXT.filter(str.strip)),
        "price": draw(_PRICE),
        "compareAtPrice": draw(st.none() | _PRICE),
        "status": draw(st.sampled_from(["ACTIVE", "DRAFT", "ARCHIVED"])),
        "published": draw(st.booleans()),
        **{name: draw(st.none() | _TEXT) for name in ("description", "sku", "vendor", "type")},
        "storefront": draw(st.none() | st.just("eu")),
        "tags": draw(st.lists(_TEXT.filter(str.strip), max_size=3)),
        "lowStockThreshold": draw(st.integers(0, 9)),
        "madeToOrder": draw(st.booleans()),
        "leadDays": draw(st.none() | st.integers(0, 730)),
        "specification": [
            {
                "name": f"{n} {draw(_TEXT)}",
                "required": draw(st.booleans()),
                "choices": ["S, M", "=1"],
            }
            for n in range(draw(st.integers(0, 2)))
        ],
        "seo": {"title": draw(st.none() | _TEXT), "description": draw(st.none() | _TEXT)},
        "images": [
            {"url": f"https://img.example/{n}.jpg?a=1,2", "alt": draw(st.none() | _TEXT)}
            for n in range(draw(st.integers(0, 3)))
        ],
    }
    if draw(st.booleans()):
        title = _TEXT.map(str.split).map(" ".join).filter(bool)
        titles = draw(st.lists(title, min_size=1, max_size=4, unique=True))
        fields["variants"] = [
            _named(
                {
                    "title": title,
                    "sku": draw(st.none() | st.just(f"{place}-{title}")),
                    "price": draw(st.none() | _PRICE),
                    "stock": draw(_STOCK),
                }
            )
            for place, title in enumerate(titles)
        ]
    else:
        fields["variants"] = [_named({"stock": draw(_STOCK)})]
    return _named(fields)


@settings(
    max_examples=10,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(several=st.lists(_product(), min_size=8, max_size=8))
def test_importing_an_export_of_products_changes_nothing(jobs: JobDesk, several: list[Any]) -> None:
    desk = Desk(jobs.shop, jobs.dynamodb)
    for product in jobs.shop.get(f"{PRODUCTS}?limit=100").json["data"]:
        jobs.shop.delete(f"{PRODUCTS}/{product['id']}")
    for sent in several:
        jobs.shop.post(PRODUCTS, sent)  # rows that are no product are refused
    there = jobs.shop.get(f"{PRODUCTS}?limit=100").json["data"]
    assume(there)
    for columns in ("backroom", "shopify"):
        _, text = exported(jobs, type="products", columns=columns)
        job = desk.imported(text)
        assert job["dialect"] == columns
        assert (job["errors"], job["unchanged"]) == ([], len(there)), columns
        assert jobs.shop.get(f"{PRODUCTS}?limit=100").json["data"] == there


def test_columns_of_orders_that_1_0_0_had_not_are_the_last(jobs: JobDesk) -> None:
    placed(jobs.shop)
    _, text = exported(jobs, type="orders")
    names = text.partition("\r\n")[0].removeprefix("\ufeff").split(",")
    assert names[names.index("paidAt") + 1] == "shippedAt"
    later = names[names.index("billingPhone") + 1 :]
    assert {"closedAt", "producedAt", "dueOn", "lineMake"} <= {*later}


def test_an_export_of_orders_has_what_is_made_and_when_it_is_due(jobs: JobDesk) -> None:
    details = [{"name": "Size", "value": "=17"}, {"name": "Engraving", "value": None}]
    made = {"title": "Ring", "price": "5", "quantity": 1, "make": True, "dueOn": "2027-01-03"}
    lines = [{**made, "specification": details}, {"title": "Box", "price": "1", "quantity": 1}]
    jobs.shop.made("/api/admin/orders", {"lineItems": lines, "dueOn": "2027-02-01"})
    _, table = exported(jobs, type="orders")
    ring, box = rows(table)
    assert (ring["dueOn"], ring["lineMake"], ring["lineDueOn"]) == (
        "2027-02-01",
        "TRUE",
        "2027-01-03",
    )
    assert json.loads(ring["lineSpecification"]) == details
    assert (box["lineMake"], box["lineDueOn"], box["lineSpecification"]) == ("FALSE", "", "")


def test_an_export_marks_what_a_spreadsheet_would_take_for_numbers_and_dates(jobs: JobDesk) -> None:
    variant = {"title": "1-2", "sku": "00831757110", "barcode": "0012345678905", "stock": 8}
    given = {"name": "2026", "slug": "sizes", "price": 5, "tags": ["007"], "variants": [variant]}
    jobs.shop.made("/api/admin/products", given)
    _, text = exported(jobs, type="products")
    for marked in ("'1-2", "'00831757110", "'0012345678905", "'007"):
        assert f",{marked}," in text
    assert ",'5.00," not in text, "amounts are numbers"
    job = Desk(jobs.shop, jobs.dynamodb).imported(text)
    assert (job["unchanged"], job["total"]) == (1, 1)


def test_transactions_are_exported_as_they_are_listed(jobs: JobDesk) -> None:
    made = order(jobs, paymentStatus="PAID")
    sent = {"amount": 1, "reference": "R-1"}
    answer = jobs.shop.post(f"/api/admin/orders/{made['id']}/refunds", sent)
    assert answer.status == 201, answer.text
    listed = jobs.shop.get("/api/admin/transactions").json["data"]
    _, lines = exported(jobs, type="transactions", format="jsonl")
    assert [json.loads(one) for one in lines.splitlines()] == listed
    _, table = exported(jobs, type="transactions", filters={"kind": "REFUND"})
    assert [(row["amount"], row["reference"]) for row in rows(table)] == [("-1.00", "R-1")]


def test_shipments_are_exported_for_a_carrier(jobs: JobDesk) -> None:
    shop = jobs.shop
    person = {"email": "ada@example.com", "firstName": "=1+1", "lastName": "Byron"}
    place = {"address1": "@Quay 4", "city": "Hamburg", "countryCode": "DE"}
    made = placed(
        shop, line(variant(shop), 3), customer=person, shippingAddress=place, paymentStatus="PAID"
    )
    parcels = [{"trackingNumber": "=2+2"}, {"trackingNumber": "RR100"}]
    lines = [{"lineItemId": made["lineItems"][0]["id"], "quantity": 2}]
    assert made.post("/shipments", {"lines": lines, "parcels": parcels}).status == 201
    assert made.post("/shipments", {"method": "PICKUP"}).status == 201
    listed = shop.get("/api/admin/shipments").json["data"]
    _, text = exported(jobs, type="shipments", format="jsonl")
    assert [json.loads(one) for one in text.splitlines()] == listed
    _, table = exported(jobs, type="shipments", all=True)
    picked, first, second = rows(table)
    assert (first["trackingNumber"], second["trackingNumber"]) == ("'=2+2", "RR100")
    assert (first["customerFirstName"], first["address1"]) == ("'=1+1", "'@Quay 4")
    assert (first["pieces"], first["state"], first["orderNumber"]) == (
        "2",
        "SHIPPED",
        made["number"],
    )
    assert (picked["method"], picked["trackingNumber"], picked["pieces"]) == ("PICKUP", "", "1")
    _, table = exported(jobs, type="shipments", filters={"trackingNumber": "RR100"})
    assert [row["trackingNumber"] for row in rows(table)] == ["'=2+2", "RR100"]
    _, table = exported(jobs, type="orders", all=True)
    (row,) = rows(table)
    assert (row["shippingStatus"], row["lineShippedQuantity"], row["lineToShip"]) == (
        "ALL",
        "3",
        "0",
    )


def test_movements_are_exported_as_they_are_listed(jobs: JobDesk) -> None:
    shop, sold = jobs.shop, variant(jobs.shop, 5)
    placed(shop, line(sold, 2))
    fanned_out(jobs.dynamodb)
    listed = jobs.shop.get("/api/admin/stock/movements").json["data"]
    assert len(listed) == 2
    _, lines = exported(jobs, type="movements", format="jsonl")
    assert [json.loads(one) for one in lines.splitlines()] == listed
    _, table = exported(jobs, type="movements", filters={"cause": "SALE"})
    (row,) = rows(table)
    assert (row["by"], row["stock"], row["keyName"]) == ("-2", "3", "a OWNER of the tests")
    shop.put(product_path(sold), {"variants": [{"id": sold, "stock": None}]})
    fanned_out(jobs.dynamodb)
    _, table = exported(jobs, type="movements", filters={"cause": "UNTRACKED"})
    assert [(row["by"], row["stock"]) for row in rows(table)] == [("", "")]


@pytest.mark.parametrize(
    ("kind", "filters", "field"),
    [
        ("orders", {"source": "X" * 51}, "filters.source.0"),
        ("orders", {"source": ["FAIR"] * 21}, "filters.source"),
        ("transactions", {"method": ["CASH", "X" * 500_000]}, "filters.method.1"),
        ("orders", {"status": ["PAID"] * 60_000}, "filters.status"),
        ("movements", {"cause": ["SALE"] * 101}, "filters.cause"),
    ],
)
def test_filters_that_would_not_fit_into_a_job_are_refused(
    jobs: JobDesk, kind: str, filters: Any, field: str
) -> None:
    assert jobs.shop.post(EXPORTS, {"type": kind, "filters": filters}).refused == [field]
