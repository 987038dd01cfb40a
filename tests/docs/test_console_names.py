"""The guide of the console names buttons, fields and pages as the console does."""

import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.thorough

PROJECT = Path(__file__).resolve().parents[2]
NAMED = re.compile(r"(?<!\*)\*([A-Z][^*\n.]+)\*(?!\*)")
# What the console makes of a value's name (`words`), or a sentence with a number in it.
MADE = {"2 of 3 orders with a payment", "Confirmed"}


def test_each_name_in_the_guide_is_in_the_sources_of_the_console() -> None:
    page = (PROJECT / "docs/console.md").read_text()
    sources = "".join(path.read_text() for path in (PROJECT / "console/src").rglob("*.js"))
    named = {part for text in NAMED.findall(page) for part in re.split(r" → |, ", text)}
    assert {"Close order", "Download failed rows", "API keys"} <= named
    missing = {
        name for name in named - MADE if f'"{name}' not in sources and f"`{name}" not in sources
    }
    assert missing == set()
