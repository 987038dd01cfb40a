"""The tables and numbers in docs/contract.md are those of the source."""

import re
from pathlib import Path
from typing import Final

from backroom import webhooks as client
from backroom.cli import listen

from chalicelib.api_keys.model import READS_PER_MINUTE, WRITES_PER_MINUTE, Role
from chalicelib.description.openapi import _DELIVERED
from chalicelib.orders.transitions import MOVES, PAYMENT_MOVES
from chalicelib.products.model import BULK_PRODUCTS, LOW_STOCK, MOST_PARTS
from chalicelib.request.rate import FAILED_SIGN_INS_PER_MINUTE, STOREFRONT_PER_MINUTE
from chalicelib.schemas import LARGEST_PAGE, PAGE_SIZE
from chalicelib.webhooks import signature
from chalicelib.webhooks.model import RECEIVER_SECONDS, RETRIED_DAYS, EventKind
from chalicelib.webhooks.retry import DAY, HOUR, MINUTE, SCHEDULE
from infra import receiver

PROJECT: Final = Path(__file__).resolve().parents[1]


def section(title: str) -> str:
    text = (PROJECT / "docs/contract.md").read_text()
    found = text.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    assert found, title
    return found


def moves(title: str) -> set[tuple[str, str]]:
    """The (state, next state) pairs of its table."""
    return {
        (start, wanted)
        for row in re.findall(r"^\| (`\w+`) \| ([^|]*)\|", section(title), re.MULTILINE)
        for start in re.findall(r"\w+", row[0])
        for wanted in re.findall(r"\w+", row[1])
    }


def test_the_tables_have_each_order_and_payment_move() -> None:
    assert moves("Order status") == {(a, b) for a, after in MOVES.items() for b in after}
    pairs = {(a, b) for a, after in PAYMENT_MOVES.items() for b in after}
    assert moves("Payment status") == pairs


def test_the_table_has_exactly_the_event_kinds() -> None:
    assert set(re.findall(r"`([a-z]+\.[a-z]+)`", section("Event kinds"))) == set(EventKind)


def test_the_retry_times_are_those_of_the_schedule() -> None:
    units = {"minute": MINUTE, "minutes": MINUTE, "hours": HOUR}
    text = section("Delivery and retries")
    early, _, daily = text.partition("daily for ")
    waits = [int(n) * units[unit] for n, unit in re.findall(r"(\d+) (minutes?|hours)", early)]
    days, attempts = re.findall(r"(\d+) (?:days|attempts)", daily)[:2]
    assert (*waits, *[DAY] * int(days)) == SCHEDULE and int(attempts) == len(SCHEDULE) + 1
    assert sum(SCHEDULE) < RETRIED_DAYS * DAY
    assert f"2xx within {RECEIVER_SECONDS} seconds" in text
    assert listen.RECEIVER_SECONDS == RECEIVER_SECONDS


def test_rate_page_and_bulk_limits_are_those_of_the_source() -> None:
    limits = (READS_PER_MINUTE, WRITES_PER_MINUTE)
    limits += (STOREFRONT_PER_MINUTE, FAILED_SIGN_INS_PER_MINUTE)
    documented = re.findall(r"\| (\d+) a (?:key|source)", section("Rate limits"))
    assert documented == list(map(str, limits))
    assert f"`limit` is {PAGE_SIZE} unless given and at most {LARGEST_PAGE};" in section("Pages")
    bulk = " ".join(section("Bulk").split())
    assert f"Up to {BULK_PRODUCTS} products" in bulk and f"{MOST_PARTS:,} variants" in bulk
    assert f", {LOW_STOCK} unless given" in section("Inventory low")


def test_the_roles_are_listed_in_order() -> None:
    assert re.findall(r"`([A-Z]+)`", section("Keys")) == list(Role)


def test_the_client_verifies_signatures_as_the_contract_says() -> None:
    (seconds,) = re.findall(r"more than (\d+) seconds", section("Signature"))
    assert int(seconds) == client.TOLERANCE == receiver._TOLERANCE
    assert client.PREFIX == signature.SECRET_PREFIX


def test_the_description_lists_the_headers_of_a_delivery() -> None:
    sent = signature.headers(
        "order.paid", "dlv_1", 0, b"{}", [signature.secret(b"m" * 32, "wh_1", 1)]
    )
    assert list(_DELIVERED) == [name for name in sent if name != "Content-Type"]
    documented = set(re.findall(r"`(X-[\w-]+)`", section("Delivery request")))
    assert documented == {name for name in sent if name.startswith("X-")}
