"""A pytest plugin: the order of the files, the deployment that they share, and what was not run."""

from collections import Counter
from collections.abc import Generator
from pathlib import Path
from typing import Any, Final

import pytest
from xdist.scheduler import LoadFileScheduling

# What takes longest begins first.
_LONGEST: Final = (
    *("e2e/test_roles.py", "e2e/test_spec/test_6", "e2e/test_readme.py", "deploy"),
    *("e2e/test_description.py", "e2e", "orders/test_machine.py", "stock/test_walk.py"),
)
# Those that make a deployment of their own; all other files of `tests/e2e` share one.
_DEPLOYING: Final = ("test_backup", "test_emulator", "test_local", "test_operator", "test_readme")
_LEFT_OUT: Final = pytest.StashKey[int]()
_TESTS: Final = Path(__file__).parents[1]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadFileScheduling:
    is_quick = config.option.markexpr == "not thorough"
    return (_ByDeployment if is_quick else LoadFileScheduling)(config, log)


class _ByDeployment(LoadFileScheduling):
    """Gives whole files to the processes, and all files that share a deployment to one."""

    def _split_scope(self, nodeid: str) -> str:
        file: str = super()._split_scope(nodeid)
        is_sharing = file.startswith("tests/e2e/") and Path(file).stem not in _DEPLOYING
        return "tests/e2e" if is_sharing else file


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=_turn)


def _turn(item: pytest.Item) -> int:
    path = item.path.relative_to(_TESTS).as_posix()
    turns = (turn for turn, begin in enumerate(_LONGEST) if path.startswith(begin))
    return next(turns, len(_LONGEST))


def pytest_deselected(items: list[pytest.Item]) -> None:
    """Counts the thorough tests that `-m "not thorough"` leaves out."""
    for item in items:
        if item.get_closest_marker("thorough") and item.config.option.markexpr == "not thorough":
            item.config.stash[_LEFT_OUT] = item.config.stash.get(_LEFT_OUT, 0) + 1


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Takes the count from a process of xdist; each has collected all tests."""
    node.config.stash[_LEFT_OUT] = getattr(node, "workeroutput", {}).get("left_out", 0)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> Generator[None]:
    """Says in the last line which tests were not run, and what runs them."""
    config = session.config
    left_out = config.stash.get(_LEFT_OUT, 0)
    if hasattr(config, "workeroutput"):
        config.workeroutput["left_out"] = left_out
    yield
    terminal = config.pluginmanager.get_plugin("terminalreporter")
    if terminal is None or hasattr(config, "workeroutput"):
        return
    reports = terminal.stats.get("skipped", [])
    reasons = Counter(report.longrepr[2].removeprefix("Skipped: ") for report in reports)
    reasons |= {"make thorough runs them, make check runs all": left_out} if left_out else {}
    if reasons:
        not_run = "; ".join(f"{number} tests: {why}" for why, number in sorted(reasons.items()))
        terminal.write_line(f"Not run: {not_run}")
