"""Amounts and days as people type them: the modules alone, in a browser without a shop."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from chalicelib.values import money

SOURCES = Path(__file__).resolve().parents[3] / "console/src"


def called(
    browser: Browser, module: str, function: str, given: list[Any], now: str = "", **facts: str
) -> Any:
    """What a function answers to each value. `facts`: constants instead of what it imports, and
    the `locale` of the browser."""
    context = browser.new_context(locale=facts.pop("locale", "en-US"))
    page = context.new_page()
    if now:
        page.clock.set_fixed_time(now)
    lines = [f'const {name} = "{value}";' for name, value in facts.items()]
    source = (SOURCES / module).read_text().splitlines()
    lines += [line for line in source if not line.startswith("import ")]
    script = (
        "([source, name, given]) => import(`data:text/javascript,${encodeURIComponent(source)}`)"
        ".then((found) => given.map((each) => found[name](each)))"
    )
    answer = page.evaluate(script, ["\n".join(lines), function, given])
    context.close()
    return answer


@pytest.mark.parametrize(
    ("locale", "currency", "typed", "meant"),
    [
        ("de-DE", "EUR", "1.000", "1000"),
        ("de-DE", "EUR", "1.234.567", "1234567"),
        ("de-DE", "EUR", "-1.500", "-1500"),
        ("de-DE", "EUR", "12.50", "12.50"),
        ("de-DE", "EUR", "0.500", "0.500"),
        ("de-DE", "EUR", "1.234,50", "1234.50"),
        ("de-DE", "KWD", "1.500", "1.500"),
        ("vi-VN", "VND", "150.000", "150000"),
        ("en-US", "USD", "1.000", "1.000"),
        ("fr-FR", "EUR", "1.000", "1.000"),
        ("fr-FR", "EUR", "1 234,50", "1234.50"),
    ],
)
def test_a_dot_before_three_digits_groups_thousands_where_the_language_has_that(
    browser: Browser, locale: str, currency: str, typed: str, meant: str
) -> None:
    facts = {"DECIMALS": str(money.decimals(currency)), "locale": locale}
    assert called(browser, "parts/amount.js", "decimal", [typed], **facts) == [meant]


def test_an_amount_is_sent_as_it_is_answered(browser: Browser) -> None:
    typed = {"30": "30.00", "030,5": "30.50", "0.500": "0.50", "100": "100.00", "7.": "7.00"}
    typed |= {each: each for each in ("", "x", "-5", "12.345", "0.00")}
    sent = called(browser, "parts/amount.js", "amountOf", list(typed), DECIMALS="2")
    assert sent == list(typed.values())
    assert called(browser, "parts/amount.js", "amountOf", ["0300", "1.5"], DECIMALS="0") == [
        "300",
        "1.5",
    ]


def test_an_amount_is_shown_with_all_its_decimals(browser: Browser) -> None:
    """Browsers have none for forints, and other currencies whose cents are not coined."""
    facts = {"CURRENCY": "HUF", "DECIMALS": str(money.decimals("HUF")), "TIMEZONE": "UTC"}
    states = dict.fromkeys(("MOVES", "PAYMENT_MOVES", "PRODUCT_STATUSES"), "")
    shown = called(browser, "format.js", "money", ["12.50"], **facts, **states)
    assert shown == ["HUF\xa012.50"]


@pytest.mark.parametrize(
    ("now", "days"),
    [
        ("2027-03-28T22:30:00Z", ["2027-03-29", "2027-03-28", "2027-02-28"]),  # after one of 23 h
        ("2027-10-31T22:30:00Z", ["2027-10-31", "2027-10-30", "2027-10-02"]),  # one of 25 h
        ("2027-01-15T12:00:00Z", ["2027-01-15", "2027-01-14", "2026-12-17"]),
    ],
)
def test_a_day_so_many_days_ago_is_of_the_calendar(
    browser: Browser, now: str, days: list[str]
) -> None:
    ago = called(browser, "parts/zone.js", "daysAgo", [0, 1, 29], now, TIMEZONE="Europe/Berlin")
    assert ago == days


def test_a_time_is_of_the_shop_and_what_is_none_is_left_to_the_api(browser: Browser) -> None:
    typed = ["2026-11-20T09:30", "12026-11-20T09:30"]
    moments = called(browser, "parts/zone.js", "momentOf", typed, TIMEZONE="Europe/Berlin")
    assert moments == ["2026-11-20T08:30:00.000Z", typed[1]]
