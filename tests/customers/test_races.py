"""Concurrent writes to customers: an e-mail has one owner, a deleted customer stays deleted."""

import pytest

from chalicelib.customers import store
from chalicelib.problems import NotFound
from chalicelib.storage import table
from tests.customers.build import CUSTOMERS, customer, new_customer
from tests.orders.build import ORDERS, before_the_commit, line, new_order, placed, variant
from tests.support.job_desk import JobDesk
from tests.support.shop import Shop

pytestmark = pytest.mark.thorough


def is_free(jobs: JobDesk, email: str) -> bool:
    return jobs.shop.post(CUSTOMERS, new_customer(email=email)).status == 201


@pytest.mark.parametrize("what", ["merge", "erase"])
def test_a_change_during_a_merge_or_erasure_request_is_kept(jobs: JobDesk, what: str) -> None:
    shop = jobs.shop
    one, two = customer(shop), customer(shop)
    before_the_commit(jobs.dynamodb, lambda: one.patch({"email": "new@example.com"}))
    body = {"into": two["id"]} if what == "merge" else None
    refused = shop.post(f"{one.path}/{what}", body)
    assert (refused.status, refused.json["code"]) == (409, "customer_busy")
    jobs.work()
    jobs.failed.clear()  # the message of the job that was refused
    assert one.fetch().json["email"] == "new@example.com"
    assert is_free(jobs, one["email"])
    assert not is_free(jobs, "new@example.com") and not is_free(jobs, two["email"])


def test_a_customer_changed_while_deleted_leaves_no_entries(shop: Shop, jobs: JobDesk) -> None:
    made = customer(shop)
    change = {"email": "new@example.com", "firstName": "Renamed", "tags": ["vip"]}
    before_the_commit(jobs.dynamodb, lambda: made.patch(change))
    assert made.delete().status == 200
    for query in ("", "?search=renamed", "?tag=vip"):
        assert shop.get(f"{CUSTOMERS}{query}").json["total"] == 0
    assert is_free(jobs, "new@example.com") and is_free(jobs, made["email"])


def test_paying_an_order_does_not_recreate_a_missing_customer(jobs: JobDesk) -> None:
    order = placed(jobs.shop)
    key = order["customer"]["id"], "customer"
    assert table.get(key)
    table.delete(key)  # by hand
    paid = jobs.shop.patch(f"{ORDERS}/{order['id']}", {"status": "PAID"})
    assert (paid.status, paid.json["status"]) == (200, "PAID")
    assert table.get(key) is None


def test_a_job_releases_only_customers_that_it_holds(shop: Shop, jobs: JobDesk) -> None:
    one, two = customer(shop), customer(shop)
    jobs.start(f"{one.path}/merge", {"into": two["id"]})
    store.let_go(two["id"], "job_another")
    assert two.delete().json["code"] == "customer_busy"
    store.let_go("cus_gone", "job_another")
    store.forget("cus_gone")
    assert store.absorb("cus_gone", two["id"], "job_another") == {}
    with pytest.raises(NotFound):
        store.absorb(two["id"], "cus_gone", "job_another")
    assert table.get(("cus_gone", "customer")) is None


def test_an_order_for_a_customer_erased_meanwhile_is_refused(shop: Shop, jobs: JobDesk) -> None:
    made, sold = customer(shop), variant(shop)

    def erased() -> None:
        assert jobs.done(f"{made.path}/erase")["status"] == "COMPLETED"

    before_the_commit(jobs.dynamodb, erased)
    refused = shop.post(ORDERS, new_order(line(sold), customer={"id": made["id"]}))
    assert refused.refused == ["customer.id"]
    assert made.read()["ordersCount"] == 0
