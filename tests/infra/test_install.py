"""`make` prints what it installs, and pip's output if it fails."""

import os
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]


def install(folder: Path, requirements: str, purpose: str) -> "subprocess.CompletedProcess[str]":
    (folder / "requirements.txt").write_text(requirements)
    return subprocess.run(
        [sys.executable, PROJECT / "infra/install.py", "made", "requirements.txt", purpose],
        cwd=folder,
        env=os.environ | {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "", "PIP_CONFIG_FILE": os.devnull},
        capture_output=True,
        text=True,
        check=False,
    )


def test_install_prints_what_it_installs_and_where(tmp_path: Path) -> None:
    done = install(tmp_path, "# nothing\n", "the embedded AWS")
    assert done.returncode == 0, done.stderr
    assert "Installing the embedded AWS: 0 packages from PyPI into made" in done.stdout
    assert (tmp_path / "made/bin/python").exists()


def test_a_failure_shows_pips_output(tmp_path: Path) -> None:
    done = install(tmp_path, "no-such-package==1.0 \\\n    --hash=sha256:00\n", "tools")
    assert done.returncode != 0
    assert "1 packages" in done.stdout and "no-such-package" in done.stderr
