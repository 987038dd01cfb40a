from typing import Any

import pytest

from chalicelib import threads
from chalicelib.storage import dynamodb


@pytest.fixture
def rounds(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of calls that are made at the same time, each time."""
    found = list[int]()
    for where in (dynamodb, threads):

        def counted(calls: Any, together: Any = where.together) -> Any:
            found.append(len(calls))
            return together(calls)

        monkeypatch.setattr(where, "together", counted)
    return found
