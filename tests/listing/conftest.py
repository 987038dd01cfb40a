from typing import Any

import pytest

from chalicelib.storage import round_trips


@pytest.fixture
def rounds(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of calls in each round trip of `round_trips.together`."""
    found, together = list[int](), round_trips.together

    def counted(calls: Any) -> Any:
        found.append(len(calls))
        return together(calls)

    monkeypatch.setattr(round_trips, "together", counted)
    return found
