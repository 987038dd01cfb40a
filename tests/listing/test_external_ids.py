"""Ids of other systems, on orders, products, variants and customers: each is used once."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest

from chalicelib.storage.commit import Commit
from tests.orders.build import line, new_order, placed, variant
from tests.products.build import new_product
from tests.support.job_desk import JobDesk
from tests.support.shop import Answer, Shop

ORDERS, PRODUCTS, CUSTOMERS = (f"/api/admin/{kind}" for kind in ("orders", "products", "customers"))


def bodies(shop: Shop) -> dict[str, Callable[[], Any]]:
    """How one of each kind is made, below its path."""
    return {
        ORDERS: lambda: new_order(line(variant(shop))),
        PRODUCTS: new_product,
        CUSTOMERS: lambda: {"firstName": "Ada"},
    }


def change(shop: Shop, path: str, id: str, body: Any) -> Answer:
    send = shop.put if path == PRODUCTS else shop.patch
    return send(f"{path}/{id}", body)


def found(shop: Shop, path: str, external_id: str) -> list[str]:
    answer = shop.read(f"{path}?externalId={external_id}")
    assert answer["total"] == len(answer["data"])
    return [each["id"] for each in answer["data"]]


def locks(shop: Shop) -> set[str]:
    return {item["pk"] for item in shop.stored() if item["pk"].startswith("external#")}


@pytest.mark.parametrize("path", [ORDERS, PRODUCTS, CUSTOMERS])
def test_an_id_is_used_once_moves_with_its_record_and_is_free_after_it(
    shop: Shop, path: str
) -> None:
    body = bodies(shop)[path]
    first = shop.post(path, {**body(), "externalId": " ERP-1 "}).json
    assert first["externalId"] == "ERP-1"
    taken = shop.post(path, {**body(), "externalId": "ERP-1"})
    assert (taken.status, taken.json["code"]) == (409, "external_id_taken")
    assert (taken.json["id"], taken.json["field"]) == (first["id"], "externalId")
    other = shop.post(path, body()).json
    assert other["externalId"] is None
    assert change(shop, path, other["id"], {"externalId": "ERP-1"}).json["id"] == first["id"]
    # Sent back as it was read, nothing changes.
    again = change(shop, path, first["id"], {"externalId": "ERP-1"})
    assert again.json["externalId"] == "ERP-1"
    assert found(shop, path, "ERP-1") == [first["id"]]
    assert found(shop, path, "erp-1") == []
    assert change(shop, path, first["id"], {"externalId": "ERP-2"}).status == 200
    assert change(shop, path, other["id"], {"externalId": "ERP-1"}).status == 200
    assert (found(shop, path, "ERP-1"), found(shop, path, "ERP-2")) == (
        [other["id"]],
        [first["id"]],
    )
    assert change(shop, path, other["id"], {"externalId": None}).json["externalId"] is None
    assert found(shop, path, "ERP-1") == []
    assert shop.delete(f"{path}/{first['id']}").status == 200
    assert locks(shop) == set()
    assert shop.post(path, {**body(), "externalId": "ERP-2"}).status == 201


@pytest.mark.parametrize("path", [ORDERS, PRODUCTS, CUSTOMERS])
def test_a_bad_id_is_refused_by_its_name(shop: Shop, path: str) -> None:
    for bad in ("x" * 101, 7, ["a"]):
        answer = shop.post(path, {**bodies(shop)[path](), "externalId": bad})
        assert [error["field"] for error in answer.json["errors"]] == ["externalId"]
    assert shop.get(f"{path}?externalId={'x' * 101}").status == 422
    assert shop.get(f"{path}?externalId=").status == 422  # a blank filter
    assert shop.post(path, {**bodies(shop)[path](), "externalId": ""}).json["externalId"] is None
    longest = "é#/ %" * 20
    made = shop.post(path, {**bodies(shop)[path](), "externalId": longest}).json
    assert made["externalId"] == longest.strip()


def test_of_fifty_orders_with_one_id_one_is_placed(shop: Shop) -> None:
    one = variant(shop, 3)
    with ThreadPoolExecutor(16) as pool:
        sent = [new_order(line(one), externalId="WEB-1") for _ in range(50)]
        answers = list(pool.map(partial(shop.post, ORDERS), sent))
    (made,) = [answer.json for answer in answers if answer.status == 201]
    refused = [answer.json for answer in answers if answer.status == 409]
    assert len(refused) == 49
    assert {(one["code"], one["id"]) for one in refused} == {("external_id_taken", made["id"])}
    assert shop.get(ORDERS).json["total"] == 1


def test_a_repeated_request_is_answered_as_before(shop: Shop) -> None:
    sent = new_order(line(variant(shop, 1)), externalId="WEB-2")
    headers = {"Idempotency-Key": "once"}
    first = shop.post(ORDERS, sent, headers=headers)
    assert shop.post(ORDERS, sent, headers=headers).text == first.text


def test_the_id_tells_more_than_the_stock_that_is_gone(shop: Shop) -> None:
    sent = new_order(line(variant(shop, 1)), externalId="WEB-3")
    first = shop.post(ORDERS, sent).json
    assert shop.post(ORDERS, sent).json["id"] == first["id"]


# --- Variants -------------------------------------------------------------------------------------


def test_a_variant_has_an_id_of_its_own_and_finds_its_product(shop: Shop) -> None:
    variants = [{"title": "S", "externalId": "V-1"}, {"title": "M", "externalId": "V-2"}]
    made = shop.post(PRODUCTS, new_product(name="A", externalId="V-1", variants=variants)).json
    small, medium = made["variants"]
    assert (small["externalId"], medium["externalId"]) == ("V-1", "V-2")
    assert found(shop, PRODUCTS, "V-2") == found(shop, PRODUCTS, "V-1") == [made["id"]]
    other = shop.post(PRODUCTS, new_product(variants=[{"title": "S", "externalId": "V-2"}]))
    assert (other.status, other.json["id"]) == (409, medium["id"])
    assert other.json["field"] == "variants.0.externalId"
    path = f"{PRODUCTS}/{made['id']}"
    swapped = [{"id": small["id"], "externalId": "V-2"}, {"id": medium["id"], "externalId": "V-1"}]
    assert shop.put(path, {"variants": swapped}).status == 200
    twice = shop.post(PRODUCTS, new_product(variants=[{"title": "S", "externalId": "V-2"}]))
    assert twice.json["id"] == small["id"]
    both = [{"id": one["id"], "externalId": "V-3"} for one in (small, medium)]
    refused = shop.put(path, {"variants": both})
    assert refused.json["errors"][0]["field"] == "variants.1.externalId"
    assert refused.json["errors"][0]["code"] == "duplicate"
    # A variant that goes takes its id along.
    assert shop.put(path, {"variants": [{"id": small["id"]}]}).status == 200
    assert shop.post(PRODUCTS, new_product(externalId="V-1")).status == 409
    free = new_product(name="B", variants=[{"title": "S", "externalId": "V-1"}])
    last = shop.post(PRODUCTS, free).json["id"]
    assert found(shop, PRODUCTS, "V-1") == [last, made["id"]]
    for sort in ("createdAt", "name"):
        pages = shop.pages(f"{PRODUCTS}?externalId=V-1&sort={sort}&limit=1")
        assert [page.json["data"][0]["id"] for page in pages] == [made["id"], last]


def test_many_ids_of_variants_are_set_in_parts_and_go_with_the_product(shop: Shop) -> None:
    variants = [{"title": f"V{n}", "externalId": f"V-{n}"} for n in range(130)]
    refused = shop.post(PRODUCTS, new_product(variants=variants))
    assert refused.json["errors"][0]["code"] == "too_many_external_ids"
    rows = [new_product(), new_product(variants=variants), new_product(externalId="V-1")]
    rows = shop.post(f"{PRODUCTS}/bulk", rows).json["data"]
    assert [row["status"] for row in rows] == ["created", "error", "created"]
    assert rows[1]["error"]["errors"] == refused.json["errors"]
    assert shop.delete(f"{PRODUCTS}/{rows[2]['id']}").status == 200
    plain = [{"title": one["title"]} for one in variants]
    path = f"{PRODUCTS}/{shop.post(PRODUCTS, new_product(variants=plain)).json['id']}"
    for end in (60, 120, 130):
        assert shop.put(path, {"variants": [*variants[:end], *plain[end:]]}).status == 200
    assert len(locks(shop)) == 130
    assert shop.delete(path).status == 200
    assert locks(shop) == set()
    sixty = f"{PRODUCTS}/{shop.post(PRODUCTS, new_product(variants=variants[:60])).json['id']}"
    events = len(shop.events())
    assert shop.delete(sixty).status == 200
    assert [one["event"] for one in shop.events()[events:]] == ["product.deleted"]


@pytest.mark.thorough
def test_a_delete_that_dies_between_its_steps_can_be_repeated(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    variants = [{"title": f"V{n}"} for n in range(70)]
    path = f"{PRODUCTS}/{shop.post(PRODUCTS, new_product(variants=variants)).json['id']}"
    named = [{"title": f"V{n}", "externalId": f"V-{n}"} for n in range(70)]
    for end in (60, 70):
        assert shop.put(path, {"variants": [*named[:end], *variants[end:]]}).status == 200
    sending, sent = Commit.send, []

    def dying(commit: Commit, *until: Any) -> None:
        if sent:
            raise RuntimeError("the function ended")
        sent.append(commit)
        sending(commit, *until)

    with monkeypatch.context() as patch:
        patch.setattr(Commit, "send", dying)
        assert shop.delete(path).status == 500
    assert (shop.get(path).status, len(locks(shop))) == (200, 10)
    assert shop.delete(path).status == 200
    assert (shop.get(path).status, locks(shop)) == (404, set())


# --- Customers who are merged or erased -----------------------------------------------------------


@pytest.mark.parametrize("own", [None, "CRM-2"])
def test_a_merge_keeps_the_id_of_the_other_where_there_is_none(
    jobs: JobDesk, own: str | None
) -> None:
    shop = jobs.shop
    data = {"crm": {"since": 2019}}
    source = shop.post(CUSTOMERS, {"firstName": "A", "externalId": "CRM-1", "metadata": data}).json
    into = shop.post(CUSTOMERS, {"firstName": "B", "externalId": own}).json
    jobs.done(f"{CUSTOMERS}/{source['id']}/merge", {"into": into["id"]})
    merged = shop.get(f"{CUSTOMERS}/{into['id']}").json
    assert (merged["externalId"], merged["metadata"]) == (own or "CRM-1", data)
    assert found(shop, CUSTOMERS, own or "CRM-1") == [into["id"]]
    assert len(locks(shop)) == 1


def test_an_erasure_frees_the_id_and_removes_the_metadata(jobs: JobDesk) -> None:
    shop = jobs.shop
    person = {"firstName": "Ada", "email": "ada@example.com", "metadata": {"is": "ada@example.com"}}
    made = shop.post(CUSTOMERS, {**person, "externalId": "CRM-1"}).json
    extras = {"externalId": "ada@example.com", "metadata": {"for": "ada@example.com", "n": 1}}
    order = placed(shop, customer={"id": made["id"]}, **extras)
    jobs.done(f"{CUSTOMERS}/{made['id']}/erase")
    left = shop.get(f"{CUSTOMERS}/{made['id']}").json
    assert (left["externalId"], left["metadata"]) == (None, {})
    left = shop.get(f"{ORDERS}/{order['id']}").json
    assert (left["externalId"], left["metadata"]) == (None, {"for": "[erased]", "n": 1})
    assert locks(shop) == set()
    staying = [item for item in shop.stored() if "expiresAt" not in item]
    assert "ada@example.com" not in str(staying)
    assert shop.post(CUSTOMERS, {"firstName": "B", "externalId": "CRM-1"}).status == 201


# --- Metadata -------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", [ORDERS, CUSTOMERS])
def test_metadata_is_kept_replaced_and_cleared(shop: Shop, path: str) -> None:
    data = {"numbers": [1, 2.5, None], "nested": {"a": True}}
    made = shop.post(path, {**bodies(shop)[path](), "metadata": data}).json
    assert made["metadata"] == data
    same = shop.patch(f"{path}/{made['id']}", {"metadata": data, "note": "x"}).json
    assert same["metadata"] == data
    assert shop.get(f"{path}/{made['id']}?fields=metadata").json["metadata"] == data
    assert shop.patch(f"{path}/{made['id']}", {"metadata": {"b": 1}}).json["metadata"] == {"b": 1}
    assert shop.patch(f"{path}/{made['id']}", {"metadata": None}).json["metadata"] == {}
    for bad in ([1], "x", {"a": "x" * 16_384}):
        answer = shop.patch(f"{path}/{made['id']}", {"metadata": bad})
        assert [error["field"] for error in answer.json["errors"]] == ["metadata"]


def test_the_metadata_of_an_order_counts_towards_its_size(shop: Shop) -> None:
    id = variant(shop, name="é" * 200)
    full = {"metadata": {"a": "x" * 16_000}}
    large = [line(id)] * 103
    refused = shop.post(ORDERS, new_order(*large, **full))
    assert refused.json["errors"][0]["code"] == "too_large"
    order = placed(shop, *large)
    answer = shop.patch(f"{ORDERS}/{order['id']}", full)
    assert (answer.status, answer.json["code"]) == (422, "too_large")
    small = placed(shop)
    assert shop.patch(f"{ORDERS}/{small['id']}", full).status == 200
