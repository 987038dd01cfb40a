"""The limits of docs/api.md#limits, exactly: reads and writes are counted separately."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from chalicelib.api_keys import store
from chalicelib.request import authenticate, rate
from chalicelib.storage import table
from tests.conftest import Clock
from tests.support.shop import Answer, Shop


def limits(answer: Answer) -> tuple[int, int, int]:
    names = ("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset")
    limit, remaining, reset = (int(answer.headers[name]) for name in names)
    return limit, remaining, reset


def read(shop: Shop, key: str) -> Answer:
    return shop.get("/api/admin/me", key=key)


def write(shop: Shop, key: str) -> Answer:
    return shop.post("/api/admin/me", key=key)


def test_a_key_can_read_120_times_a_minute(shop: Shop, time_stands: Clock) -> None:
    key = shop.mint()
    assert limits(read(shop, key)) == (120, 119, 1_800_000_060)
    assert {read(shop, key).status for _ in range(118)} == {200}
    assert limits(read(shop, key)) == (120, 0, 1_800_000_060)
    refused = read(shop, key)
    assert (refused.status, refused.json["code"]) == (429, "rate_limited")
    assert refused.headers["Retry-After"] == "40"
    assert limits(refused) == (120, 0, 1_800_000_060)
    time_stands.seconds += 40
    assert limits(read(shop, key)) == (120, 119, 1_800_000_120)


def test_retry_after_is_at_least_one_second(shop: Shop, time_stands: Clock) -> None:
    window = rate.Window(60, 60, rate.this_minute())
    beyond = rate.Window(60, 61, rate.this_minute())
    assert beyond.headers()["X-RateLimit-Remaining"] == "0"
    for until_the_next in (1, 0, -1):
        time_stands.seconds = window.reset - until_the_next
        assert window.to_rate_limited().headers["Retry-After"] == "1"


def test_writes_are_counted_separately_up_to_60_for_each_key(
    shop: Shop, time_stands: Clock
) -> None:
    key = shop.mint()
    assert {write(shop, key).status for _ in range(60)} == {405}
    assert write(shop, key).status == 429
    assert limits(read(shop, key)) == (120, 119, 1_800_000_060)
    assert limits(write(shop, shop.mint()))[1] == 59


def test_exactly_the_limit_passes_with_concurrent_calls(shop: Shop, time_stands: Clock) -> None:
    key = shop.mint()

    def admitted(_: int) -> bool:
        admission = store.admit(key, reads=False, minute=30_000_000)()
        return admission is not None and admission.admitted

    with ThreadPoolExecutor(8) as threads:
        assert Counter(threads.map(admitted, range(100))) == {True: 60, False: 40}


def test_a_slower_clock_keeps_counting_in_its_own_minute(shop: Shop, time_stands: Clock) -> None:
    key = shop.mint()
    assert {write(shop, key).status for _ in range(60)} == {405}
    time_stands.seconds += 60
    assert limits(write(shop, key))[1] == 59
    time_stands.seconds -= 60  # another function, whose clock is behind
    assert write(shop, key).status == 429


def test_removing_old_counters_keeps_those_of_this_and_the_last_minute(
    shop: Shop, time_stands: Clock
) -> None:
    key = shop.mint()
    assert {write(shop, key).status for _ in range(60)} == {405}
    past = {f"w{time_stands.seconds // 60 - n}": 1 for n in range(1, 40)}
    table.update((f"key#{store.digest_of(key)}", "key"), assign=past)
    time_stands.seconds += 60
    assert limits(read(shop, key))[1] == 119
    assert past.keys().isdisjoint(*(item for item in shop.stored() if item["sk"] == "key"))
    assert limits(read(shop, key))[1] == 118
    time_stands.seconds -= 60  # another function, whose clock is behind
    assert write(shop, key).status == 429


def test_the_storefront_is_limited_per_address(shop: Shop, time_stands: Clock) -> None:
    elsewhere = Shop(address="2001:db8::7")
    assert limits(shop.get("/api/nothing")) == (300, 299, 1_800_000_060)
    assert {shop.get("/api/nothing").status for _ in range(299)} == {404}
    refused = shop.get("/api/openapi.json")
    assert (refused.status, refused.json["code"]) == (429, "rate_limited")
    assert refused.headers["Retry-After"] == "40"
    assert limits(elsewhere.get("/api/nothing")) == (300, 299, 1_800_000_060)
    assert read(shop, shop.owner).status == 200


PROXIES = "10.0.0.0/8 2001:db8:1::/48"


@pytest.fixture
def behind_proxies(shop: Shop, monkeypatch: pytest.MonkeyPatch, time_stands: Clock) -> None:
    monkeypatch.setenv("TRUSTED_PROXIES", PROXIES)


@pytest.mark.parametrize(
    ("peer", "forwarded", "client"),
    [
        ("10.1.2.3", "198.51.100.7", "198.51.100.7"),
        ("10.1.2.3", "198.51.100.7, 10.1.2.3", "198.51.100.7"),
        ("10.1.2.3", "198.51.100.7,10.9.9.9 , 10.1.2.3", "198.51.100.7"),
        ("2001:db8:1::5", "2001:db8:9::1", "2001:db8:9::1"),
        ("10.1.2.3", "10.7.7.7", "10.7.7.7"),
        # What the client itself wrote is left of what the proxy added.
        ("10.1.2.3", "1.1.1.1, 198.51.100.7", "198.51.100.7"),
        ("10.1.2.3", "1.1.1.1, 10.0.0.1, 198.51.100.7", "198.51.100.7"),
        # An address that is no proxy of ours is the client's.
        ("203.0.113.7", "198.51.100.7", "203.0.113.7"),
        ("203.0.113.7", "10.1.2.3", "203.0.113.7"),
        # Text that is no address ends the chain.
        ("10.1.2.3", "", "10.1.2.3"),
        ("10.1.2.3", "198.51.100.7, unknown", "10.1.2.3"),
        ("10.1.2.3", "198.51.100.7, x, 10.4.4.4", "10.4.4.4"),
        ("10.1.2.3", "," * 10_000, "10.1.2.3"),
        ("10.1.2.3", "10.0.0.1," * 10_000 + "10.0.0.1", "10.0.0.1"),
        ("unknown", "198.51.100.7", "unknown"),
        ("::ffff:10.1.2.3", "198.51.100.7", "198.51.100.7"),
    ],
)
def test_only_a_trusted_proxy_determines_the_client_address(
    behind_proxies: None, peer: str, forwarded: str, client: str
) -> None:
    first = Shop(address=peer).get("/api/nothing", headers={"X-Forwarded-For": forwarded})
    assert limits(first)[1] == 299
    assert limits(Shop(address=client).get("/api/nothing"))[1] == 298


def test_clients_behind_a_trusted_proxy_have_separate_limits(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, time_stands: Clock
) -> None:
    behind = Shop(address="10.1.2.3")
    for trusted, left in (("", 297), (PROXIES, 299)):
        monkeypatch.setenv("TRUSTED_PROXIES", trusted)
        answers = [
            behind.get("/api/nothing", headers={"X-Forwarded-For": f"198.51.100.{n}"})
            for n in range(3)
        ]
        assert limits(answers[-1])[1] == left


def test_failed_sign_ins_are_limited_without_blocking_a_valid_key(
    shop: Shop, time_stands: Clock
) -> None:
    valid = shop.mint()
    guesses = [shop.get("/api/admin/me", key=f"bk_guess{n}") for n in range(60)]
    assert {guess.status for guess in guesses} == {401}
    assert limits(guesses[0]) == (60, 59, 1_800_000_060)
    assert limits(guesses[-1]) == (60, 0, 1_800_000_060)
    refused = shop.get("/api/admin/me", key="bk_another")
    assert refused.status == 429
    assert refused.headers["Retry-After"] == "40"
    assert read(shop, valid).status == 200
    elsewhere = Shop(address="203.0.113.99")
    assert elsewhere.get("/api/admin/me", key="bk_another").status == 401
    assert shop.get("/api/admin/me", key="bk_another").status == 429
    time_stands.seconds += 60
    assert shop.get("/api/admin/me", key="bk_another").status == 401


def test_failed_sign_ins_from_many_addresses_use_limited_memory(
    shop: Shop, time_stands: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rate, "_MOST_ADDRESSES", 5)
    for n in range(50):
        Shop(address=f"203.0.113.{n}").get("/api/admin/me", key="bk_guess")
        assert len(rate._failed) <= 5


def test_a_preflight_does_not_count(shop: Shop, time_stands: Clock) -> None:
    shop.get("/api/nothing")
    for _ in range(3):
        preflight = shop.options("/api/openapi.json", headers={"Origin": "https://shop.example"})
        assert preflight.status == 204
        assert limits(preflight) == (300, 299, 1_800_000_060)
    assert limits(shop.get("/api/nothing"))[1] == 298


def test_an_uncounted_request_shows_the_whole_limit_as_left(time_stands: Clock) -> None:
    assert authenticate.uncounted_window().headers() == {
        "X-RateLimit-Limit": "300",
        "X-RateLimit-Remaining": "300",
        "X-RateLimit-Reset": "1800000060",
    }


def test_counters_of_addresses_expire(shop: Shop, time_stands: Clock) -> None:
    shop.get("/api/nothing")
    (window,) = [item for item in shop.stored() if item["pk"].startswith("rate#")]
    assert time_stands.seconds < window["expiresAt"] <= time_stands.seconds + 7200
