"""Importing a file again, changed files, dry runs and modes."""

import json
from collections import Counter
from itertools import count
from typing import Any

import pytest

from chalicelib.imports import files
from tests.products.build import of_many_variants
from tests.support.import_desk import Desk, counts

pytestmark = pytest.mark.thorough

CATALOGUE = "slug,name,price,sku\n" + "".join(f"p{n},P{n},{n}.00,SKU-{n}\n" for n in range(1, 11))


TWICE = "slug,name,price,stock\na,A,1.00,5\nb,B,1.00,\na,A,2.00,6\nb,B,3.00,\na,A,4.00,\n"


def price_and_stock(product: Any) -> tuple[str, int]:
    return product["price"], product["variants"][0]["stock"]


def test_reimporting_rows_that_name_a_product_in_two_ways_changes_nothing(desk: Desk) -> None:
    desk.imported("slug,name,price,sku\na,A,1.00,H\n")
    both = "slug,price,sku\na,2.00,\n,3.00,H\n"
    assert desk.imported(both)["updated"] == 2
    events = desk.events()
    assert desk.products()["a"]["price"] == "3.00"
    assert desk.imported(both)["unchanged"] == 2
    assert desk.events() == events


def test_all_rows_of_a_repeated_product_count_with_another_mapping(desk: Desk) -> None:
    file = "Article,Cost,Maker\nA,1,Acme\nB,1,\nA,2,\n"
    mapping: dict[str, str | None] = {"Article": "name", "Cost": "price", "Maker": None}
    assert desk.imported(file, mapping=json.dumps(mapping))["created"] == 2
    mapped = json.dumps({**mapping, "Maker": "vendor"})
    assert desk.imported(file, mapping=mapped)["updated"] == 1
    assert (desk.products()["a"]["vendor"], desk.products()["a"]["price"]) == ("Acme", "2.00")
    assert desk.imported(file, mapping=mapped)["unchanged"] == 2


@pytest.mark.parametrize("change", [{"price": "9.00"}, {"variants": [{"stock": 1}]}])
def test_all_rows_of_a_repeated_product_count_after_it_was_changed(desk: Desk, change: Any) -> None:
    desk.imported(TWICE)
    whole = desk.products()["a"]
    answer = desk.shop.put(f"/api/admin/products/{whole['id']}", change)
    assert answer.status == 200, answer.text
    assert desk.imported(TWICE)["updated"] == 1
    assert price_and_stock(desk.products()["a"]) == ("4.00", 6)
    assert desk.imported(TWICE)["unchanged"] == 2


def test_a_client_change_between_two_rows_is_overwritten_by_a_reimport(desk: Desk) -> None:
    desk.started("slug,name,price,stock\na,A,1.00,\nb,B,1.00,\na,,2.00,\n")
    for part in desk.messages():
        desk.handle(part)
    id = desk.products()["a"]["id"]
    assert desk.shop.put(f"/api/admin/products/{id}", {"name": "Renamed"}).status == 200
    desk.work()
    assert desk.products()["a"]["price"] == "2.00"
    desk.imported("slug,name,price,stock\na,A,1.00,\nb,B,1.00,\na,,2.00,\n")
    assert (desk.products()["a"]["name"], desk.products()["a"]["price"]) == ("A", "2.00")


def test_an_overwritten_row_counts_in_another_file(desk: Desk) -> None:
    desk.imported(TWICE)
    assert desk.imported("slug,name,price,stock\na,A,1.00,5\n")["updated"] == 1
    assert desk.products()["a"]["price"] == "1.00"


def test_three_changed_prices_update_three_products_with_three_events(desk: Desk) -> None:
    desk.imported(CATALOGUE)
    known = len(desk.events())
    changed = CATALOGUE.replace(",2.00,", ",2.50,").replace(",5.00,", ",5.50,")
    job = desk.imported(changed.replace(",9.00,", ",9.50,"))
    assert (job["updated"], job["unchanged"]) == (3, 7)
    events = [event for event in desk.events() if event[0] == "product.updated"]
    assert sorted(events) == [("product.updated", slug) for slug in ("p2", "p5", "p9")]
    assert len(desk.events()) == known + 3
    assert desk.products()["p5"]["price"] == "5.50"


def test_each_sku_of_a_product_with_a_hundred_variants_is_found(desk: Desk) -> None:
    id = of_many_variants(desk.shop)["id"]
    of_many_variants(desk.shop, "other", "OT")
    rows = "".join(f"SH-{n:02d},Shirt,{n + 1},5\n" for n in range(100))
    job = desk.imported("sku,name,price,stock\n" + rows)
    assert (job["updated"], job["created"], job["failed"]) == (100, 0, 0), job
    variants = desk.products()["shirt"]["variants"]
    assert [v["stock"] for v in variants] == [5] * 100
    assert [v["price"] for v in variants] == [f"{n + 1}.00" for n in range(100)]
    assert {v["stock"] for v in desk.products()["other"]["variants"]} == {1}
    assert desk.shop.delete(f"/api/admin/products/{id}").status == 200
    job = desk.imported("sku,price\nSH-99,5\n")
    assert [error["code"] for error in job["errors"]] == ["missing_name"]


def test_skus_beyond_the_index_are_written_in_batches(desk: Desk) -> None:
    with desk.dynamodb.metered() as calls:
        id = of_many_variants(desk.shop)["id"]
    assert len(calls) < 16
    with desk.dynamodb.metered() as calls:
        assert desk.shop.delete(f"/api/admin/products/{id}").status == 200
    assert len(calls) < 16


def test_a_sku_that_no_longer_fits_the_index_is_found(desk: Desk) -> None:
    product = of_many_variants(desk.shop)
    variants = [{"title": f"New {n}", "sku": f"AA-{n:02d}", "stock": 1} for n in range(50)]
    change = {"variants": [*variants, *({"id": v["id"]} for v in product["variants"][:50])]}
    assert desk.shop.put(f"/api/admin/products/{product['id']}", change).status == 200
    skus = [f"{word}-{n:02d}" for word in ("SH", "AA") for n in range(50)]
    job = desk.imported("sku,price\n" + "".join(f"{sku},99\n" for sku in skus))
    assert (job["updated"], job["failed"]) == (100, 0), job


def test_products_with_one_sku_are_a_row_error_that_names_up_to_five(desk: Desk) -> None:
    for slug in "abcdef":
        new = {"name": slug, "slug": slug, "price": 1, "sku": "SAME 1"}
        desk.shop.made("/api/admin/products", new)
    (error,) = desk.imported("sku,price\nSAME 1,2\n")["errors"]
    assert (error["row"], error["field"], error["code"]) == (2, "sku", "ambiguous_sku")
    assert error["message"].startswith('6 products have the SKU "SAME 1"')
    assert error["message"].count("prod_") == 5
    assert {product["price"] for product in desk.products().values()} == {"1.00"}


def test_a_dry_run_reports_the_outcome_and_writes_nothing(desk: Desk) -> None:
    desk.imported("slug,name,price\np1,P1,1.00\np2,P2,9.00\n")
    before, events = desk.products(), desk.events()
    file = CATALOGUE + "p11,P11,free,\n"
    job = desk.imported(file, dryRun="true")
    assert (job["status"], counts(job)) == ("COMPLETED", [8, 2, 0, 1, 11])
    assert job["errors"][0]["code"] == "not_an_amount"
    assert job["errorReportUrl"]
    assert (desk.products(), desk.events()) == (before, events)
    assert counts(desk.imported(file)) == counts(job)


def test_a_dry_run_includes_the_products_it_would_create(desk: Desk) -> None:
    far = "slug,name,price,variantTitle,stock\na,A,5,S,1\nb,B,1,,\na,,,M,2\nb,B,1,,\n"
    assert counts(desk.imported(far, dryRun="true")) == [2, 0, 0, 0, 2]
    assert counts(desk.imported(far)) == [2, 0, 0, 0, 2]


@pytest.mark.parametrize(
    ("first", "later"),
    [
        ("b,B,1,A,,\n", ",,9,A,,\n"),  # the file says whose SKU it is
        ("b,B,1,NEW,,\n", ",,9,NEW,,\n"),
        ("".join(f"c,C,1,,{n},V-{n}\n" for n in range(12)), ",,9,V-9,,\n"),
    ],
)
def test_a_dry_run_matches_by_sku_as_the_import_does(desk: Desk, first: str, later: str) -> None:
    header = "slug,name,price,sku,variantTitle,variantSku\n"
    desk.imported(header + "a,A,1,A,,\nb,B,1,B,,\n")
    others = "".join(f"f{n},F,1,,,\n" for n in range(200))
    rehearsed = desk.imported(header + first + others + later, dryRun="true")
    real = desk.imported(header + first + others + later)
    assert counts(rehearsed) == counts(real)
    assert (rehearsed["progress"], rehearsed["errors"], real["errors"]) == (100, [], [])


@pytest.mark.parametrize(
    ("mode", "outcome", "codes", "slugs"),
    [
        ("upsert", [1, 1, 0, 0, 2], [], {"old", "new"}),
        ("create", [1, 0, 0, 1, 2], ["exists"], {"old", "new"}),
        ("update", [0, 1, 0, 1, 2], ["not_found"], {"old"}),
    ],
)
def test_the_mode_determines_what_an_import_may_do(
    desk: Desk, mode: str, outcome: list[int], codes: list[str], slugs: set[str]
) -> None:
    desk.imported("slug,name,price\nold,Old,1\n")
    job = desk.imported("slug,name,price\nold,Old,2\nnew,New,3\n", mode=mode)
    assert counts(job) == outcome
    assert [error["code"] for error in job["errors"]] == codes
    assert desk.products().keys() == slugs


def test_an_import_that_only_creates_completes_what_it_created(desk: Desk) -> None:
    far = "slug,name,price,variantTitle\na,A,5,S\nb,B,1,\na,,,M\n"
    job = desk.imported(far, mode="create")
    assert (job["created"], job["updated"], job["failed"]) == (2, 0, 0)
    assert len(desk.products()["a"]["variants"]) == 2


def test_every_event_of_a_large_stock_change_has_a_unique_id(desk: Desk) -> None:
    def stock(pieces: int) -> str:
        rows = "".join(f"p{n},P{n},1,T{v},{pieces}\n" for n in range(40) for v in range(6))
        return "slug,name,price,variantTitle,stock\n" + rows

    desk.imported(stock(10))
    known = {event["id"] for event in desk.shop.events()}
    job = desk.imported(stock(0))
    assert (job["updated"], job["failed"]) == (40, 0), job
    ids = [event["id"] for event in desk.shop.events() if event["id"] not in known]
    assert len(ids) == len(set(ids)) == 40 * (6 + 1)
    assert {len(id) for id in ids} == {32}
    assert max(Counter(id[:30] for id in ids).values()) > 100, "in one commit"


def test_an_unchanged_job_is_answered_with_304_though_its_report_is_signed_anew(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    signatures = count()
    monkeypatch.setattr(files, "report_url", lambda *of: f"https://s3.test/{next(signatures)}")
    job_id = desk.send(CATALOGUE + ",,x\n")
    path = f"/api/admin/jobs/{job_id}"
    waiting = desk.shop.get(path).headers["ETag"]
    assert desk.finished(job_id)["errorReportUrl"] == "https://s3.test/0"
    answer = desk.shop.get(path, headers={"If-None-Match": waiting})
    assert answer.status == 200
    known = {"If-None-Match": answer.headers["ETag"]}
    assert desk.shop.get(path, headers=known).status == 304
