"""`updatedAt` of a record never goes back, though the clocks of functions differ."""

import random
import re
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.values import clock
from tests.support import examples

_LATE = timedelta(seconds=40)  # a function whose clock is behind the others'; a call takes 7 s


class Watched(examples.Day):
    """A day that compares each stored record with what it was before the last call."""

    known: dict[tuple[str, str], dict[str, Any]]
    later: set[str]  # what was changed, and is later than it was

    def _keep(self, method: str, path: str, body: Any, answer: Any) -> None:
        super()._keep(method, path, body, answer)
        for item in self.shop.stored():
            if "updatedAt" not in item:
                continue
            before = self.known.get((item["pk"], item["sk"]), item)
            was, now = (clock.parse(one["updatedAt"]) for one in (before, item))
            is_changed = before.get("version") != item.get("version") and "held" not in item
            assert now > was if is_changed else now >= was, (path, before, item)
            self.later |= {re.split("[_#-]", item["pk"])[0]} if now > was else set()
            self.known[item["pk"], item["sk"]] = item


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(2))
def test_what_functions_with_different_clocks_write_is_later_each_time(seed: int) -> None:
    chance = random.Random(seed)
    with examples.day(Watched) as day, pytest.MonkeyPatch.context() as patched:
        day.known, day.later = {}, set()
        right = clock.now
        patched.setattr(clock, "now", lambda: right() - chance.choice([timedelta(0), _LATE]))
        examples.walk(day)
        for _ in range(9):
            mapping = {"columns": {"Artikel": "name", "Preis": "price"}}
            day.admin("PUT", "/products/import/mappings/again", mapping)
        assert day.later == {"prod", "ord", "cus", "webhooks", "deliveries", "mappings"}
