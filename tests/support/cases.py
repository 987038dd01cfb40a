"""Cases of a test that belong to its `thorough` ones."""

from collections.abc import Iterable
from typing import Any

import pytest


def mark_thorough(cases: Iterable[Any]) -> list[Any]:
    """Mark these cases of a test, each a value or a tuple of values."""
    return [
        pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.thorough)
        for case in cases
    ]
