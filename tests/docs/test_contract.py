"""The tables and numbers in the documents for integrators are those of the source."""

import re
from pathlib import Path
from typing import Final

from backroom import webhooks as client
from backroom.cli import listen

from chalicelib.api_keys.model import READS_PER_MINUTE, WRITES_PER_MINUTE, Role
from chalicelib.description.openapi import _DELIVERED
from chalicelib.erasures.work import GONE_AFTER
from chalicelib.imports.formats import FORMATS
from chalicelib.orders.transitions import MOVES, PAYMENT_MOVES
from chalicelib.products.model import LOW_STOCK, MOST_PARTS
from chalicelib.products.schemas import BULK_PRODUCTS
from chalicelib.request.rate import FAILED_SIGN_INS_PER_MINUTE, STOREFRONT_PER_MINUTE
from chalicelib.schemas import LARGEST_PAGE, PAGE_SIZE
from chalicelib.storage import outbox
from chalicelib.storage.outbox import Event
from chalicelib.webhooks import signature
from chalicelib.webhooks.model import RECEIVER_SECONDS, RETRIED_DAYS, DeliveryStatus, EventKind
from chalicelib.webhooks.retry import DAY, HOUR, MINUTE, SCHEDULE
from infra import receiver

PROJECT: Final = Path(__file__).resolve().parents[2]


def section(page: str, title: str) -> str:
    """The text below a heading, up to the next of its level."""
    text = (PROJECT / f"docs/{page}.md").read_text()
    found = text.partition(f"\n{title}\n")[2].partition(f"\n{title.split(maxsplit=1)[0]} ")[0]
    assert found, title
    return found


def moves(title: str) -> set[tuple[str, str]]:
    """The (state, next state) pairs of its table."""
    return {
        (start, wanted)
        for row in re.findall(r"^\| (`\w+`) \| ([^|]*)\|", section("orders", title), re.MULTILINE)
        for start in re.findall(r"\w+", row[0])
        for wanted in re.findall(r"\w+", row[1])
    }


def test_the_tables_have_each_order_and_payment_move() -> None:
    assert moves("### Order status") == {(a, b) for a, after in MOVES.items() for b in after}
    pairs = {(a, b) for a, after in PAYMENT_MOVES.items() for b in after}
    assert moves("### Payment status") == pairs


def test_the_list_has_exactly_the_event_kinds() -> None:
    rows = re.findall(r"^- (`.*?`): ", section("webhooks", "## Events"), re.MULTILINE)
    assert set(re.findall(r"`([a-z]+\.[a-z]+)`", " ".join(rows))) == set(EventKind)


def test_the_states_of_a_delivery_are_those_of_the_source() -> None:
    states = section("webhooks", "## The states of a delivery")
    assert set(re.findall(r"^\| `([A-Z]+)` \|", states, re.MULTILINE)) == set(DeliveryStatus)
    drawn = re.findall(r"^  (\S+) --> (\w+):", states, re.MULTILINE)
    assert {state for pair in drawn for state in pair} == {"[*]", *DeliveryStatus}


def test_the_page_of_formats_says_which_have_barcodes_and_costs() -> None:
    table = section("formats", "### Barcodes and costs").partition("\n## ")[0]
    table = table.replace("| |", "|  |")
    rows = re.findall(r"^\| (\w+)[ \d]* \| (.*) \| (.*) \|$", table, re.MULTILINE)
    fields = ("barcode", "cost")
    documented = {
        (name.lower(), field)
        for name, *columns in rows[1:]
        for field, column in zip(fields, columns, strict=True)
        if column.strip() and not column.startswith("not read")
    }
    known = {(one.name, field) for one in FORMATS for field in fields if field in one.table}
    assert documented == known
    for name, field in known:
        title = next(one.title for one in FORMATS if one.name == name)
        heading = next(text for text in ("Magento 2", title.split()[0]) if title.startswith(text))
        unread = section("formats", f"## {heading}").partition("Not read:")[2]
        assert field not in unread.partition("\n\n")[0], name


def test_the_retry_times_are_those_of_the_schedule() -> None:
    units = {"minute": MINUTE, "minutes": MINUTE, "hours": HOUR}
    text = section("webhooks", "## Answers and retries")
    early, _, daily = text.partition("daily for ")
    waits = re.findall(r"(\d+) (minutes?|hours)", early.partition("is retried after")[2])
    days, attempts = re.findall(r"(\d+) (?:days|attempts)", daily)[:2]
    found = (*(int(n) * units[unit] for n, unit in waits), *[DAY] * int(days))
    assert found == SCHEDULE and int(attempts) == len(SCHEDULE) + 1
    assert sum(SCHEDULE) < RETRIED_DAYS * DAY
    assert f"2xx within {RECEIVER_SECONDS} seconds" in text
    assert listen.RECEIVER_SECONDS == RECEIVER_SECONDS


def test_rate_page_and_bulk_limits_are_those_of_the_source() -> None:
    limits = (READS_PER_MINUTE, WRITES_PER_MINUTE)
    limits += (STOREFRONT_PER_MINUTE, FAILED_SIGN_INS_PER_MINUTE)
    documented = re.findall(r"\| (\d+) a (?:key|source)", section("api", "## Limits"))
    assert documented == list(map(str, limits))
    pages = section("api", "### Lists")
    assert f"`limit` is {PAGE_SIZE} unless given and at most {LARGEST_PAGE} " in pages
    products = " ".join(section("api", "## Products").split())
    assert f"up to {BULK_PRODUCTS} products" in products and f"{MOST_PARTS:,} variants" in products
    assert f"`lowStockThreshold` is {LOW_STOCK} unless given" in products


def test_events_are_kept_as_long_as_the_documents_say() -> None:
    days = outbox.KEPT_SECONDS // 86_400
    states = " ".join(section("webhooks", "## The states of a delivery").split())
    assert f"the {days} days that an event's data is kept" in states
    assert f"is kept for {days} days after its event" in states
    assert f"last {days} days, the oldest first" in (PROJECT / "docs/feed.md").read_text()
    assert GONE_AFTER["events"] == GONE_AFTER["deliveries"] == days * 86_400


def test_the_roles_are_listed_in_order() -> None:
    assert re.findall(r"^\| `([A-Z]+)` \|", section("api", "## Keys"), re.MULTILINE) == list(Role)


def test_the_client_verifies_signatures_as_documented() -> None:
    (seconds,) = re.findall(r"at most (\d+) seconds", section("webhooks", "## Verify a delivery"))
    assert int(seconds) == client.TOLERANCE == receiver._TOLERANCE
    assert client.PREFIX == signature.SECRET_PREFIX


def test_the_description_and_the_page_list_the_headers_of_a_delivery() -> None:
    event = Event("evt_1", "order.paid", "{}", "2026-11-28T08:00:00.000Z")
    sent = signature.headers(
        event, "dlv_1", 0, b"{}", [signature.secret(b"m" * 32, "wh_1", 1)], test=True
    )
    assert [*_DELIVERED, "X-Service-Test"] == [name for name in sent if name != "Content-Type"]
    rows = re.findall(r"^- (`.*?`): ", section("webhooks", "## Verify a delivery"), re.MULTILINE)
    documented = set(re.findall(r"`([\w-]+)`", " ".join(rows)))
    assert documented == sent.keys() - {"Content-Type"}
