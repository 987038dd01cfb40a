"""`make` prints what it installs, and pip's output if it fails."""

import os
import shutil
import sys
import venv
from pathlib import Path

import pytest

from infra import browser
from infra import install as program
from tests.support.programs import Ended, ran

pytestmark = pytest.mark.thorough

PROJECT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the environment is made, once: that takes seconds."""
    return tmp_path_factory.mktemp("folder")


def install(folder: Path, requirements: str, purpose: str, **environment: str) -> Ended:
    (folder / "requirements.txt").write_text(requirements)
    offline = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "", "PIP_CONFIG_FILE": os.devnull}
    command = (sys.executable, PROJECT / "infra/install.py", "made", "requirements.txt", purpose)
    return ran(*command, code=None, cwd=folder, env=os.environ | offline | environment)


def test_install_prints_what_it_installs_and_where(folder: Path) -> None:
    done = install(folder, "# nothing\n", "the embedded AWS")
    assert done.returncode == 0, done.stderr
    assert "Installing the embedded AWS: 0 packages from PyPI into made" in done.stdout
    assert (folder / "made/bin/python").exists()


def test_a_failure_shows_pips_output(folder: Path) -> None:
    done = install(folder, "no-such-package==1.0 \\\n    --hash=sha256:00\n", "tools")
    assert done.returncode != 0
    assert "1 packages" in done.stdout and "no-such-package" in done.stderr


def test_without_a_network_one_sentence_says_so(folder: Path) -> None:
    nobody = {"PIP_NO_INDEX": "0", "PIP_INDEX_URL": "http://127.0.0.1:9/simple"}
    done = install(folder, "some-package==1.0\n", "tools", **nobody)
    assert done.returncode != 0
    assert done.stderr.strip().startswith("PyPI cannot be reached")
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ("OSError: [Errno 28] No space left on device", "The disk is full"),
        ("[Errno 13] Permission denied: '.venv'", "This folder cannot be written to"),
        ("[Errno 30] Read-only file system: '.venv'", "This folder cannot be written to"),
        ("Command '-m ensurepip' returned 1", "apt-get install python3."),
    ],
)
def test_a_known_cause_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, said: str, sentence: str
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(said)

    monkeypatch.setattr(venv, "create", fail)
    monkeypatch.setattr(sys, "argv", ["install.py", "made", "requirements-dev.txt", "tools"])
    with pytest.raises(SystemExit) as end:
        program.main()
    assert sentence in str(end.value)
    assert len(str(end.value).strip().splitlines()) == 1


def test_an_old_python_names_the_needed_one_and_where_it_looked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 10, 13, "final", 0))
    monkeypatch.setattr(shutil, "which", {}.get)
    with pytest.raises(SystemExit, match=r"needs Python 3\.11 or newer.*is 3\.10\.13, and none"):
        program.main()


def test_a_newer_python_is_used_instead_of_an_old_one(monkeypatch: pytest.MonkeyPatch) -> None:
    class Replaced(Exception):
        pass

    def replace(*used: object) -> None:
        raise Replaced(*used)

    monkeypatch.setattr(sys, "version_info", (3, 9, 2, "final", 0))
    monkeypatch.setattr(sys, "argv", ["install.py", "made"])
    monkeypatch.setattr(shutil, "which", {"python3.12": "/opt/python3.12"}.get)
    monkeypatch.setattr(os, "execv", replace)
    with pytest.raises(Replaced) as end:
        program.main()
    assert end.value.args == ("/opt/python3.12", ["/opt/python3.12", "install.py", "made"])


def test_an_environment_of_another_python_is_made_again(folder: Path) -> None:
    kept = folder / "made/kept"
    install(folder, "# nothing\n", "tools")
    kept.touch()
    assert install(folder, "# nothing\n", "tools").returncode == 0
    assert kept.exists()
    config = folder / "made/pyvenv.cfg"
    here = ".".join(map(str, sys.version_info[:3]))
    config.write_text(config.read_text().replace(here, "3.10.13"))
    assert install(folder, "# nothing\n", "tools").returncode == 0
    assert not kept.exists()


def test_a_browser_is_found_under_usual_names_or_as_the_variable_says(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CHROME_BIN", raising=False)
    assert browser.find() is None
    assert "install Chromium, or set CHROME_BIN" in browser.missing()
    for name in ("brave-browser", "google-chrome-stable"):
        (tmp_path / name).write_text("")
        (tmp_path / name).chmod(0o755)
        assert browser.find() == str(tmp_path / name)
    own = tmp_path / "my-chrome"
    monkeypatch.setenv("CHROME_BIN", str(own))
    assert browser.find() is None
    assert "which is no program" in browser.missing()
    own.write_text("")
    own.chmod(0o755)
    assert browser.find() == str(own)


def test_a_run_without_a_browser_skips_its_tests_and_says_so() -> None:
    command = ("pytest", "-p", "no:xdist", "tests/e2e/console/test_access.py")
    environment = os.environ | {"CHROME_BIN": "/nowhere"}
    done = ran(sys.executable, "-m", *command, cwd=PROJECT, env=environment)
    assert "Not run: " in done.stdout and "CHROME_BIN names /nowhere" in done.stdout


def test_nothing_in_the_tests_installs_anything() -> None:
    installs = ("apt-get", "pip install", "npm install")
    own = Path(__file__).resolve()
    found = [
        path.name
        for path in (PROJECT / "tests").rglob("*.py")
        if path != own and any(each in path.read_text() for each in installs)
    ]
    assert found == []
