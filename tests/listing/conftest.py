from functools import partial
from typing import Any

import pytest

from chalicelib import threads
from chalicelib.storage import dynamodb


@pytest.fixture
def rounds(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of calls that are made at the same time, each time."""
    found = list[int]()
    for where, name in ((dynamodb, "wait_for_results"), (threads, "run_together")):

        def count_calls(make: Any, calls: Any) -> Any:
            found.append(len(calls))
            return make(calls)

        monkeypatch.setattr(where, name, partial(count_calls, getattr(where, name)))
    return found
