"""The costs on the pages are those that the code computes."""

from pathlib import Path

import pytest

from bench import shops

pytestmark = pytest.mark.thorough

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_page_of_costs_has_the_computed_tables() -> None:
    page = (DOCS / "costs.md").read_text()
    assert f"\n\n{shops.render_requests()}\n\n" in page
    assert f"\n\n{shops.render_months()}\n\n" in page
    assert f"${shops.DELIVERY * 1e6:.2f} a million in full batches" in page
    assert f"${shops.LONE_DELIVERY * 1e6:.2f} one at a time" in page


def test_the_readme_has_the_computed_costs_of_an_idle_shop() -> None:
    page = " ".join((DOCS.parent / "README.md").read_text().split())
    dollars = shops.SHOPS[0].dollars
    polling, alarms = dollars.pop("polling"), dollars.pop("alarms")
    assert f"Idle, the bill is ${polling:.2f} a month for polling eight queues" in page
    assert f" and ${alarms:.2f} for alarms" in page
    assert shops.QUEUES == 8 and not any(dollars.values())
