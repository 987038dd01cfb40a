"""The last chapter of README.md, Deploy it: runs its blocks unchanged against an emulated AWS."""

import shlex
import sys
from pathlib import Path

import pytest

from infra.emulator import CREDENTIALS
from tests.deploy.machine import CHALICE, emulated
from tests.e2e.readme import blocks, checkout
from tests.e2e.test_readme import DEPLOY
from tests.support.running import free_port

pytestmark = pytest.mark.thorough


def test_the_readme_deploys_the_shop_and_then_new_code(tmp_path: Path) -> None:
    desk = checkout(tmp_path / "checkout", free_port())
    installed = desk.folder / ".venv"
    installed.unlink()
    (installed / "bin").mkdir(parents=True)
    (installed / "bin/chalice").symlink_to(CHALICE)
    # The emulator's CloudWatch knows no metric math.
    python = f'exec {shlex.quote(sys.executable)} "$@" --parameter MetricMath=false\n'
    (installed / "bin/python").write_text(f"#!/bin/sh\n{python}")
    (installed / "bin/python").chmod(0o755)
    deploy, change = [block for block in blocks() if block.chapter == DEPLOY]
    (tmp_path / "emulator").mkdir()
    with emulated(tmp_path / "emulator") as aws:
        desk.environment |= CREDENTIALS | {"AWS_ENDPOINT_URL": aws}
        output = desk.run(deploy)
        assert "Owner key, shown only once: " in output and "https://" in output
        app = desk.folder / "app.py"
        app.write_text(app.read_text() + "\n# changed\n")
        assert "Rest API URL" in desk.run(change)
