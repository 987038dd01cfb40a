"""API keys: creation, roles, limits, expiry and revocation, but not of the last Owner key."""

from typing import Any

import pytest

from chalicelib.api_keys import store
from chalicelib.problems import NotFound
from chalicelib.storage import table
from chalicelib.values import clock
from tests.conftest import Clock
from tests.support.dynamodb_double import Crash, Double, Fault
from tests.support.shop import Answer, Shop


def make(shop: Shop, role: str = "STAFF", **fields: Any) -> Any:
    return shop.made("/api/admin/keys", {"name": "Till", "role": role, **fields})


def revoke(shop: Shop, id: str) -> Answer:
    return shop.delete(f"/api/admin/keys/{id}")


def my_id(shop: Shop) -> str:
    return str(shop.get("/api/admin/me").json["id"])


def test_a_key_authenticates_with_its_role(shop: Shop) -> None:
    made = make(shop, "ADMIN", name="Counter")
    assert made["key"].startswith("bk_")
    assert len(made["key"]) == len("bk_") + 43, "256 bits"
    me = shop.get("/api/admin/me", key=made["key"]).json
    assert {name: me[name] for name in ("id", "name", "role", "createdAt")} == {
        name: made[name] for name in ("id", "name", "role", "createdAt")
    }
    assert me["limits"] == {"read": 120, "write": 60}


def test_a_key_is_shown_once_and_stored_nowhere(shop: Shop) -> None:
    made = make(shop)
    assert made["key"] not in shop.get("/api/admin/keys").text
    assert made["key"] not in shop.get("/api/admin/me", key=made["key"]).text
    assert made["key"] not in str(shop.stored())


def test_a_key_as_it_was_listed_can_be_sent_again_without_its_limits(shop: Shop) -> None:
    make(shop, "ADMIN", expiresAt="2099-01-01T00:00:00Z")
    listed = shop.get("/api/admin/keys?limit=1").json["data"][0]
    limits = {"limits": listed.pop("limits")}
    copied = shop.made("/api/admin/keys", listed)
    same = ("name", "role", "expiresAt")
    assert {n: copied[n] for n in same} == {n: listed[n] for n in same}
    assert copied["id"] != listed["id"]
    for chosen in (limits, {"key": "bk_mine"}):
        (error,) = shop.post("/api/admin/keys", {**listed, **chosen}).json["errors"]
        assert (error["field"], error["code"]) == (next(iter(chosen)), "unknown_field")


def test_keys_are_listed_newest_first_in_pages(shop: Shop) -> None:
    first, second = make(shop), make(shop)
    listing = shop.get("/api/admin/keys?limit=2").json
    assert [key["id"] for key in listing["data"]] == [second["id"], first["id"]]
    assert listing["total"] == 3
    assert listing["pagination"] == {"page": 1, "limit": 2, "total": 3, "totalPages": 2}
    assert [key["id"] for key in shop.get("/api/admin/keys?limit=2&page=2").json["data"]] == [
        my_id(shop)
    ]
    assert shop.get("/api/admin/keys?page=9").json["data"] == []


def test_a_revoked_key_is_refused(shop: Shop) -> None:
    made = make(shop)
    answer = revoke(shop, made["id"])
    assert answer.json == {"id": made["id"], "deleted": True}
    assert shop.get("/api/admin/me", key=made["key"]).status == 401
    assert revoke(shop, made["id"]).status == 404


@pytest.mark.parametrize("role", ["STAFF", "ADMIN"])
def test_only_an_owner_manages_keys(shop: Shop, role: str) -> None:
    key = shop.as_(role)
    assert shop.get("/api/admin/me", key=key).status == 200
    for answer in (
        shop.get("/api/admin/keys", key=key),
        shop.post("/api/admin/keys", {"name": "Till", "role": "OWNER"}, key=key),
        shop.delete(f"/api/admin/keys/{my_id(shop)}", key=key),
    ):
        assert (answer.status, answer.json["code"]) == (403, "forbidden")


def test_two_concurrent_revocations_leave_one_owner_key(shop: Shop, dynamodb: Double) -> None:
    other = make(shop, "OWNER")
    mine = my_id(shop)
    dynamodb.meanwhile("TransactWriteItems", lambda: store.revoke(other["id"]))
    answer = revoke(shop, mine)
    assert (answer.status, answer.json["code"]) == (409, "last_owner_key")
    assert [key["id"] for key in shop.get("/api/admin/keys").json["data"]] == [mine]


def test_two_concurrent_revocations_of_a_key_count_once(shop: Shop, dynamodb: Double) -> None:
    first, second = make(shop, "OWNER"), make(shop, "OWNER")
    dynamodb.meanwhile("TransactWriteItems", lambda: store.revoke(first["id"]))
    assert revoke(shop, first["id"]).status == 404
    assert revoke(shop, second["id"]).status == 200
    assert revoke(shop, my_id(shop)).status == 409


def test_a_failed_creation_leaves_no_key(shop: Shop, dynamodb: Double) -> None:
    before = shop.get("/api/admin/keys").json["total"]
    dynamodb.fails(Fault.CRASH, "TransactWriteItems")
    with pytest.raises(Crash):
        make(shop, "OWNER")
    assert shop.get("/api/admin/keys").json["total"] == before
    assert revoke(shop, my_id(shop)).status == 409


@pytest.mark.parametrize(
    ("sent", "field", "code"),
    [
        ({"role": "STAFF"}, "name", "required"),
        ({"name": " \u200b ", "role": "STAFF"}, "name", "too_short"),
        ({"name": "x" * 101, "role": "STAFF"}, "name", "too_long"),
        ({"name": 7, "role": "STAFF"}, "name", "invalid_type"),
        ({"name": "Till", "role": "KING"}, "role", "not_allowed"),
        ({"name": "Till", "role": "STAFF", "limits": {}}, "limits", "unknown_field"),
    ],
)
def test_an_invalid_key_is_refused_by_field(shop: Shop, sent: Any, field: str, code: str) -> None:
    answer = shop.post("/api/admin/keys", sent)
    assert (answer.status, answer.json["code"]) == (422, "validation_failed")
    assert [(error["field"], error["code"]) for error in answer.json["errors"]] == [(field, code)]


@pytest.mark.parametrize("id", ["key_none", "owners", "key_%00%23", "x" * 3000, "%F0%9F%98%80"])
def test_an_invalid_id_is_not_found(shop: Shop, id: str) -> None:
    assert revoke(shop, id).json["code"] == "not_found"


def test_a_reader_can_only_read(shop: Shop) -> None:
    """`tests/audit/test_every_write.py` tries every write."""
    key = make(shop, "READER")["key"]
    stock = ("stock/movements", "stock/counts", "stock/low")
    lists = ("products", "orders", "transactions", "customers", "jobs")
    for path in ("me", "summary", *lists, *stock):
        assert shop.get(f"/api/admin/{path}", key=key).status == 200
        assert shop.head(f"/api/admin/{path}", key=key).status == 200
    for path in ("webhooks", "deliveries", "keys"):
        assert shop.get(f"/api/admin/{path}", key=key).status == 403


def test_a_key_expires_at_its_time(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    ends = clock.iso(clock.seconds_from_now(3_600))
    made = make(shop, expiresAt=ends)
    assert made["expiresAt"] == ends
    me = shop.get("/api/admin/me", key=made["key"])
    assert (me.status, me.json["expiresAt"]) == (200, ends)
    used = shop.get("/api/admin/keys").json["data"][0]
    assert used["expiresAt"] == ends
    later = clock.seconds_from_now(3_601)
    monkeypatch.setattr(clock, "now", lambda: later)
    for method in ("GET", "POST"):
        answer = shop.call(method, "/api/admin/me", key=made["key"])
        assert (answer.status, answer.json["code"]) == (401, "key_expired")
        assert f"expired at {ends}" in answer.json["message"]
        assert answer.headers["WWW-Authenticate"] == "Bearer"
        assert "X-RateLimit-Remaining" in answer.headers
    assert shop.get("/api/admin/me").status == 200
    assert revoke(shop, made["id"]).status == 200


@pytest.mark.parametrize(
    "moment", ["2020-01-01T00:00:00Z", "soon", "9999-12-31T23:59:59-23:00", "", True, "99999-01-01"]
)
def test_an_expiry_that_is_past_or_no_time_is_refused(shop: Shop, moment: object) -> None:
    answer = shop.post("/api/admin/keys", {"name": "x", "role": "STAFF", "expiresAt": moment})
    assert answer.refused == ["expiresAt"]


def test_the_last_owner_key_is_one_without_expiry_and_cannot_be_revoked(shop: Shop) -> None:
    ending = make(shop, "OWNER", expiresAt=clock.iso(clock.seconds_from_now(60)))
    answer = revoke(shop, my_id(shop))
    assert (answer.status, answer.json["code"]) == (409, "last_owner_key")
    assert revoke(shop, ending["id"]).status == 200
    assert revoke(shop, my_id(shop)).status == 409


def test_the_day_of_the_last_use_is_listed_without_a_further_write(
    shop: Shop, time_stands: Clock, dynamodb: Double
) -> None:
    made = make(shop)
    used = lambda: shop.get("/api/admin/keys").json["data"][0]["lastUsedAt"]  # noqa: E731
    assert used() is None
    calls = list[str]()
    dynamodb.faults = lambda operation, _: calls.append(operation)
    shop.get("/api/admin/me", key=made["key"])
    assert calls == ["UpdateItem"]
    assert used() == "2027-01-15"
    time_stands.seconds += 86_400 * 40
    assert used() == "2027-01-15"
    for _ in range(20):  # counters of past minutes are swept
        time_stands.seconds += 60
        shop.post("/api/admin/me", key=made["key"])
    assert used() == "2027-02-24"


def test_a_key_that_is_always_in_use_is_answered_while_its_counters_are_swept(
    shop: Shop, time_stands: Clock
) -> None:
    """This process knows the key, so that a request is admitted when it is about to write."""
    key = make(shop)["key"]
    mug = shop.post("/api/admin/products", {"name": "Mug", "price": 9}).json["id"]
    for price in range(1, 31):
        time_stands.seconds += 50
        assert shop.put(f"/api/admin/products/{mug}", {"price": price}, key=key).status == 200
    counters = next(
        [name for name in item if name[1:].isdigit()]
        for item in shop.stored()
        if item["pk"].startswith("key#") and item["role"] == "STAFF"
    )
    assert len(counters) < 18


def test_the_limits_of_a_key_can_be_raised_lowered_and_reset(
    shop: Shop, time_stands: Clock
) -> None:
    made = make(shop)

    def admitted() -> int:
        time_stands.seconds += 60
        statuses = [shop.post("/api/admin/me", key=made["key"]).status for _ in range(70)]
        assert set(statuses) <= {405, 429}
        return statuses.count(405)

    for limit in (63, 7, 1, None):
        shop.get("/api/admin/me", key=made["key"])  # it is remembered
        store.limit(made["id"], write=limit)
        me = shop.get("/api/admin/me", key=made["key"]).json
        assert me["limits"] == {"read": 120, "write": limit or 60}
        assert admitted() == (limit or 60)


def hashes(shop: Shop) -> int:
    return len([item for item in shop.stored() if item["sk"] == "key"])


def test_a_key_revoked_while_it_is_used_stays_revoked(
    shop: Shop, dynamodb: Double, time_stands: Clock
) -> None:
    made = make(shop)
    past = {f"r{time_stands.seconds // 60 - n}": 1 for n in range(10, 40)}
    table.update((f"key#{store.digest_of(made['key'])}", "key"), assign=past)
    # The first write admits the request, the second sweeps counters of past minutes.
    calls = list[str]()
    dynamodb.faults = lambda operation, _: calls.append(operation)
    dynamodb.meanwhile("UpdateItem", lambda: store.revoke(made["id"]), nth=2)
    assert shop.get("/api/admin/me", key=made["key"]).status == 200
    assert calls[-3:] == ["UpdateItem", "GetItem", "TransactWriteItems"]
    assert shop.get("/api/admin/me", key=made["key"]).status == 401
    with pytest.raises(NotFound):
        store.limit(made["id"], read=1)
    assert hashes(shop) == 1, "only the Owner's"


def test_a_key_revoked_while_its_limits_change_stays_revoked(shop: Shop, dynamodb: Double) -> None:
    made = make(shop)
    dynamodb.meanwhile("TransactWriteItems", lambda: store.revoke(made["id"]))
    with pytest.raises(NotFound):
        store.limit(made["id"], read=1)
    assert hashes(shop) == 1, "only the Owner's"
    assert shop.get("/api/admin/keys").json["total"] == 1


KEY = {"Idempotency-Key": "k-1"}


def test_a_repeated_creation_makes_one_key_and_stores_no_secret(shop: Shop) -> None:
    sent = {"name": "Till", "role": "STAFF"}
    first = shop.post("/api/admin/keys", sent, headers=KEY)
    again = shop.post("/api/admin/keys", sent, headers=KEY)
    assert (again.status, again.text) == (201, first.text)
    assert "Idempotent-Replayed" not in first.headers
    assert again.headers["Idempotent-Replayed"] == "true"
    assert shop.get("/api/admin/me", key=first.json["key"]).status == 200
    assert shop.get("/api/admin/keys").json["total"] == 2
    assert first.json["key"] not in str(shop.stored())
    other = shop.post("/api/admin/keys", {**sent, "role": "OWNER"}, headers=KEY)
    assert other.json["code"] == "idempotency_key_reused"
    elsewhere = make(shop, "OWNER")["key"]  # the same request of another Owner is another request
    second = shop.post("/api/admin/keys", sent, headers=KEY, key=elsewhere)
    assert second.json["key"] != first.json["key"]


def test_a_repeated_creation_of_a_key_that_has_expired_gets_the_first_answer(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = {"name": "Till", "role": "STAFF", "expiresAt": clock.iso(clock.seconds_from_now(3_600))}
    first = shop.post("/api/admin/keys", sent, headers=KEY)
    later = clock.seconds_from_now(3_601)
    monkeypatch.setattr(clock, "now", lambda: later)
    again = shop.post("/api/admin/keys", sent, headers=KEY)
    assert (again.status, again.text) == (201, first.text)
    assert again.headers["Idempotent-Replayed"] == "true"


def test_a_revoked_key_is_not_returned_for_its_idempotency_key(
    shop: Shop, time_stands: Clock
) -> None:
    sent = {"name": "Till", "role": "STAFF"}
    first = shop.post("/api/admin/keys", sent, headers=KEY).json
    revoke(shop, first["id"])
    time_stands.seconds += 86_401
    second = shop.post("/api/admin/keys", sent, headers=KEY).json
    assert second["key"] != first["key"]
    assert shop.get("/api/admin/me", key=first["key"]).status == 401
    assert shop.get("/api/admin/me", key=second["key"]).status == 200


@pytest.mark.parametrize(
    ("authorization", "says"),
    [
        (None, "There is no Authorization header"),
        ("", "There is no Authorization header"),
        ("bk_abcdefgh", "one word only"),
        ("Basic YTpi", "another scheme"),
        ("Bearer", "There is no key after Bearer"),
        ("Bearer   ", "There is no key after Bearer"),
        ("Bearer sk_live_1", "API keys begin with bk_"),
        ("Bearer bk_abcdefgh", "There is no such API key"),
    ],
)
def test_a_bad_header_is_explained_without_showing_the_key(
    shop: Shop, authorization: str | None, says: str
) -> None:
    headers = {} if authorization is None else {"Authorization": authorization}
    answer = shop.get("/api/admin/me", key=None, headers=headers)
    assert (answer.status, answer.json["code"]) == (401, "unauthorized")
    assert says in answer.json["message"]
    assert answer.headers["WWW-Authenticate"] == "Bearer"
    assert "abcdefgh" not in answer.text and "sk_live" not in answer.text
