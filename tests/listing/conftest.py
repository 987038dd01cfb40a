from typing import Any

import pytest

from chalicelib import threads
from chalicelib.storage import round_trips


@pytest.fixture
def rounds(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of calls that are made at the same time, each time."""
    found = list[int]()
    for where in (round_trips, threads):

        def counted(calls: Any, together: Any = where.together) -> Any:
            found.append(len(calls))
            return together(calls)

        monkeypatch.setattr(where, "together", counted)
    return found
