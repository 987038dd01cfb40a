"""The API's answers match its description for any request (`make fuzz` runs longer)."""

import re
from collections.abc import Iterator

import pytest

from tests.e2e.fuzz import fuzz
from tests.support.running import Stack, free_port, running

pytestmark = pytest.mark.thorough


@pytest.fixture
def own_stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """A separate stack, so that random requests do not affect other tests."""
    with running(tmp_path_factory.mktemp("fuzzed"), free_port(), "--fresh") as stack:
        yield stack


def test_every_answer_matches_the_description(own_stack: Stack) -> None:
    done = fuzz(own_stack, 40, "--max-examples", "3", "--seed", "1")
    assert done.returncode == 0, done.stdout
    generated = re.search(r"(\d+) generated", done.stdout)
    assert generated and int(generated[1]) > 100, done.stdout
