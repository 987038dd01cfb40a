"""The tables of costs are those that the code computes."""

from pathlib import Path

import pytest

from bench import shops

pytestmark = pytest.mark.thorough

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_page_of_costs_has_the_computed_tables() -> None:
    page = (DOCS / "costs.md").read_text()
    assert f"\n\n{shops.render_requests()}\n\n" in page
    assert f"\n\n{shops.render_months()}\n\n" in page
    for dollars in (shops.DELIVERY, shops.LONE_DELIVERY):
        assert f"${dollars * 1e6:.2f}" in page
