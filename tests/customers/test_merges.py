"""Two customers become one; nothing is lost or counted twice, also after a crash."""

from functools import partial
from typing import Any

import pytest

from chalicelib.storage import table
from tests.customers.build import CUSTOMERS, address, customer, new_customer
from tests.orders.build import (
    ORDERS,
    before_the_commit,
    counts_agree,
    line,
    new_order,
    placed,
    variant,
)
from tests.support.dynamodb_double import Crash, Fault
from tests.support.job_desk import JobDesk
from tests.support.shop import Shop


def merged(jobs: JobDesk, one: Any, into: Any) -> Any:
    job = jobs.done(f"{one.path}/merge", {"into": into["id"]})
    assert (job["status"], job["type"]) == ("COMPLETED", "customer_merge"), job
    return job


def buys(shop: Shop, customer: Any, times: int, **fields: Any) -> list[Any]:
    id = variant(shop)
    return [placed(shop, line(id), customer={"id": customer["id"]}, **fields) for _ in range(times)]


def test_a_merge_moves_orders_totals_addresses_and_search(shop: Shop, jobs: JobDesk) -> None:
    home = address(firstName="Ada")
    ada = customer(shop, email="ada@example.com", firstName="Ada", addresses=[home], note="one")
    names = {"email": "countess@example.com", "firstName": "Augusta", "phone": "030 77"}
    homes = [address(firstName="ADA"), address(city="Bath")]
    twin = customer(shop, **names, tags=["vip"], note="two", addresses=homes)
    paid = buys(shop, twin, 3, paymentStatus="PAID")
    buys(shop, ada, 1)
    job = merged(jobs, twin, ada)
    assert (job["total"], job["updated"], job["errors"]) == (3, 3, [])
    after = ada.read()
    assert (after["ordersCount"], after["totalSpent"]) == (4, "59.70")
    assert (after["email"], after["firstName"]) == ("ada@example.com", "Ada")
    assert (after["phone"], after["tags"], after["note"]) == ("030 77", ["vip"], "one\n\ntwo")
    assert [one["city"] for one in after["addresses"]] == ["London", "Bath"]
    assert after["defaultAddressId"] == ada["addresses"][0]["id"]
    listed = shop.get(f"{ORDERS}?customerId={ada['id']}").json
    assert listed["total"] == 4 and shop.get(f"{ORDERS}?customerId={twin['id']}").json["total"] == 0
    order = shop.get(f"{ORDERS}/{paid[0]['id']}").json
    assert order["customer"]["email"] == "ada@example.com"
    assert order["history"][-1]["change"] == f"customer {twin['id']} → {ada['id']}"
    assert shop.get(f"{ORDERS}?search=countess").json["total"] == 0
    assert shop.get(f"{ORDERS}?search=ada@example.com").json["total"] == 4
    assert shop.get(f"{CUSTOMERS}?search=augusta").json["total"] == 0
    assert counts_agree()


def test_the_old_id_leads_to_the_merged_customer(shop: Shop, jobs: JobDesk) -> None:
    one, two, three = (customer(shop) for _ in range(3))
    merged(jobs, one, two)
    merged(jobs, two, three)
    for old in (one, two):
        for answer in (old.fetch(), old.patch({"note": "x"})):
            assert (answer.status, answer.json["code"]) == (404, "merged")
            assert answer.json["into"] == three["id"]
    order = new_order(line(variant(shop)), customer={"id": one["id"]})
    refused = shop.post(ORDERS, order)
    assert refused.json["errors"][0]["code"] == "unknown_customer"
    assert three["id"] in refused.json["message"]
    events = [(e["event"], e["data"]["id"]) for e in shop.events() if "created" not in e["event"]]
    kept = [("customer.updated", each["id"]) for each in (two, three)]
    gone = [("customer.deleted", each["id"]) for each in (one, two)]
    assert sorted(events) == sorted(kept + gone)
    # E-mails that are free stay free; adopted ones are taken.
    assert shop.post(CUSTOMERS, new_customer(email=one["email"])).status == 201
    assert shop.post(CUSTOMERS, new_customer(email=three["email"])).status == 409


def test_a_customer_without_an_email_gets_that_of_the_merged_one(shop: Shop, jobs: JobDesk) -> None:
    known = customer(shop, email="grace@navy.mil")
    walk_in = customer(shop, email=None, firstName=None, phone="030 1")
    merged(jobs, known, walk_in)
    after = walk_in.read()
    assert (after["email"], after["phone"], after["firstName"]) == (
        *("grace@navy.mil", "030 1"),
        "Grace",
    )
    again = placed(shop, customer={"email": "grace@navy.mil"})
    assert again["customer"]["id"] == walk_in["id"]
    assert shop.post(CUSTOMERS, new_customer(email="GRACE@navy.mil")).json["id"] == walk_in["id"]


def test_first_and_last_name_are_of_one_person(shop: Shop, jobs: JobDesk) -> None:
    for own, others, expected in (
        (("Ada", None), ("Grace", "Hopper"), ("Ada", None)),
        ((None, "Byron"), ("Grace", "Hopper"), (None, "Byron")),
        ((None, None), ("Grace", "Hopper"), ("Grace", "Hopper")),
    ):
        one, two = (customer(shop, firstName=first, lastName=last) for first, last in (own, others))
        merged(jobs, two, one)
        after = one.read()
        assert (after["firstName"], after["lastName"]) == expected


def test_addresses_beyond_the_limit_are_reported(shop: Shop, jobs: JobDesk) -> None:
    one = customer(shop, addresses=[address(city=f"A{n}") for n in range(15)])
    two = customer(shop, addresses=[address(city=f"A{n}") for n in range(8, 28)])
    job = merged(jobs, one, two)
    assert [error["code"] for error in job["errors"]] == ["too_many_addresses"]
    assert len(two.read()["addresses"]) == 20


def test_a_merged_customer_stays_within_the_limits(shop: Shop, jobs: JobDesk) -> None:
    one, two = (
        customer(shop, note=name * 3_000, tags=[f"{name}{n}" for n in range(30)]) for name in "ab"
    )
    errors = merged(jobs, one, two)["errors"]
    assert [(error["code"], error["message"]) for error in errors] == [
        (
            "too_many_characters",
            "1,002 characters of the note were not moved: there is room for 5,000.",
        ),
        ("too_many_tags", "10 tags were not moved: there is room for 50."),
    ]
    after = two.read()
    assert after["note"] == "b" * 3_000 + "\n\n" + "a" * 1_998
    assert after["tags"] == [*two["tags"], *one["tags"][:20]]


def test_an_impossible_merge_is_refused(shop: Shop, jobs: JobDesk) -> None:
    one, two, three, erased = (customer(shop) for _ in range(4))
    jobs.done(f"{erased.path}/erase")
    merged(jobs, three, two)

    def refused(into: Any, of: Any = one) -> tuple[int, str]:
        answer = of.post("/merge", {"into": into})
        return answer.status, answer.json["errors"][0]["code"]

    assert refused(one["id"]) == (422, "invalid")
    for nobody in ("cus_nobody", "cus_" + "x" * 56):
        assert refused(nobody) == (422, "unknown_customer")
    assert refused(three["id"]) == (422, "merged")
    assert refused(erased["id"]) == (422, "erased")
    answer = erased.post("/merge", {"into": two["id"]})
    assert (answer.status, answer.json["code"]) == (409, "erased")
    one.post("/merge", {"into": two["id"]})  # not worked on yet
    assert refused(one["id"], of=two) == (422, "circle")
    assert shop.post(f"{CUSTOMERS}/cus_nobody/merge", {"into": one["id"]}).status == 404
    jobs.work()
    assert counts_agree()


def test_two_concurrent_merges_make_no_circle(shop: Shop, jobs: JobDesk) -> None:
    one, two = customer(shop), customer(shop)
    back = partial(two.post, "/merge", {"into": one["id"]})
    before_the_commit(jobs.dynamodb, back)
    answer = one.post("/merge", {"into": two["id"]})
    assert (answer.status, answer.json["code"]) == (409, "customer_busy")
    jobs.work()
    jobs.failed.clear()  # the message of the job that was refused
    assert two.fetch().json["into"] == one["id"]


def test_a_customer_being_merged_or_erased_cannot_be_changed(shop: Shop, jobs: JobDesk) -> None:
    one, two, three, erased = (customer(shop) for _ in range(4))
    erasure = jobs.start(f"{erased.path}/erase")
    for answer in (erased.patch({"note": "x"}), erased.delete()):
        assert (answer.status, answer.json["code"]) == (409, "customer_busy"), answer.text
        assert answer.json["jobId"] == erasure
    job = jobs.start(f"{one.path}/merge", {"into": two["id"]})
    for answer in (
        one.patch({"note": "x"}),
        one.delete(),
        two.delete(),
        one.post("/erase"),
        two.post("/erase"),
        three.post("/merge", {"into": two["id"]}),
    ):
        assert (answer.status, answer.json["code"]) == (409, "customer_busy"), answer.text
        assert answer.json["jobId"] == job
    assert two.patch({"note": "x"}).status == 200
    refused = shop.post(f"/api/admin/jobs/{job}/cancel")
    assert (refused.status, refused.json["code"]) == (409, "cannot_cancel")
    assert "cannot be cancelled" in refused.json["message"]
    jobs.work()
    assert two.read()["note"] == "x"
    assert two.delete().status == 200


def test_orders_placed_during_a_merge_are_not_lost(shop: Shop, jobs: JobDesk) -> None:
    one, two = customer(shop), customer(shop)
    id = variant(shop)
    # Begun before the merge was requested: by e-mail it belongs to the other.
    order = new_order(line(id), customer={"email": one["email"]})
    merge = partial(one.post, "/merge", {"into": two["id"]})
    before_the_commit(jobs.dynamodb, merge)
    assert shop.post(ORDERS, order).json["customer"]["id"] == two["id"]
    assert shop.post(ORDERS, order).json["customer"]["id"] == two["id"]
    by_id = new_order(line(id), customer={"id": one["id"]})
    assert shop.post(ORDERS, by_id).status == 422
    jobs.work()
    assert two.read()["ordersCount"] == 2
    assert counts_agree()


@pytest.mark.thorough
@pytest.mark.parametrize("nth", range(1, 9))
@pytest.mark.parametrize("after", [False, True])
def test_a_merge_that_crashes_anywhere_has_the_same_result(
    shop: Shop, jobs: JobDesk, nth: int, after: bool
) -> None:
    one, two = customer(shop, addresses=[address()]), customer(shop)
    buys(shop, one, 4, paymentStatus="PAID")
    buys(shop, two, 1)
    id = jobs.start(f"{one.path}/merge", {"into": two["id"]})
    jobs.crash("TransactWriteItems", nth, after=after)
    assert jobs.finished(id)["errors"] == []
    after_ = two.read()
    assert (after_["ordersCount"], after_["totalSpent"]) == (5, "79.60")
    assert len(after_["addresses"]) == 1
    assert one.fetch().json["code"] == "merged"
    kinds = [event["event"] for event in shop.events()]
    assert (kinds.count("customer.deleted"), kinds.count("customer.updated")) == (1, 1)
    assert counts_agree()


def test_a_merge_requested_twice_is_one_job(shop: Shop, jobs: JobDesk) -> None:
    one, two = customer(shop), customer(shop)
    key = {"Idempotency-Key": "m"}
    job = jobs.start(f"{one.path}/merge", {"into": two["id"]}, headers=key)
    jobs.work()
    assert jobs.start(f"{one.path}/merge", {"into": two["id"]}, headers=key) == job


@pytest.mark.parametrize("nth", range(1, 6))
@pytest.mark.parametrize("after", [False, True])
def test_addresses_without_room_are_reported_though_the_worker_crashed(
    jobs: JobDesk, nth: int, after: bool
) -> None:
    many = [address(city=f"City {n}") for n in range(22)]
    ada, twin = (
        customer(jobs.shop, addresses=some, note="n" * 2_000) for some in (many[:20], many[20:])
    )
    ada.patch({"note": "m" * 2_500})
    job = jobs.start(f"{twin.path}/merge", {"into": ada["id"]})
    jobs.crash("TransactWriteItems", nth, after=after, perhaps=True)
    done = jobs.finished(job)
    assert [(one["id"], one["code"]) for one in done["errors"]] == [
        (twin["id"], "too_many_addresses")
    ]
    assert done["errors"][0]["message"].startswith("2 addresses")


def test_a_crashed_merge_request_leaves_both_customers_changeable(jobs: JobDesk) -> None:
    shop = jobs.shop
    one, two = customer(shop), customer(shop)
    jobs.dynamodb.fails(Fault.CRASH, "TransactWriteItems")
    with pytest.raises(Crash):
        one.post("/merge", {"into": two["id"]})
    assert one.patch({"note": "x"}).status == 200


def test_an_erasure_leaves_no_record_of_a_merged_customer_that_has_none(
    shop: Shop, jobs: JobDesk
) -> None:
    """As release 1.0.0 may have left it."""
    one, two = customer(shop), customer(shop)
    merged(jobs, one, two)
    (gone,) = [item for item in shop.stored() if item["pk"] == one["id"] and "into" in item]
    table.delete((gone["pk"], gone["sk"]))
    assert jobs.done(f"{two.path}/erase", {})["status"] == "COMPLETED"
    assert not [item for item in shop.stored() if item["pk"] == gone["pk"]]
