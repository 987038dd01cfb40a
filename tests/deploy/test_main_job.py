"""The main job with the emulator's own permissions (`Size=local`). With those of AWS:
`test_main_job_aws.py`."""

from collections.abc import Callable, Iterator

import pytest

from tests.deploy.machine import shop
from tests.deploy.main_job import PARTS
from tests.support.running import Stack


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with shop(tmp_path_factory.mktemp("shop"), "local") as stack:
        yield stack


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.__name__)
def test_the_deployed_shop_does_the_main_job(stack: Stack, part: Callable[[Stack], None]) -> None:
    part(stack)
