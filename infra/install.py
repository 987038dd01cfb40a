"""Makes a virtual environment, and says what it installs (the Makefile calls it).

    python3 infra/install.py .venv requirements-dev.txt "what it is for" [project …]

Needs only Python. `project`: folders of packages of ours, linked rather than copied.
"""

import os
import re
import subprocess
import sys
import venv
from pathlib import Path

_COLLECTED = re.compile(r"\s*(?:Collecting|Requirement already satisfied:) ([\w.-]+)")


def main() -> None:
    folder, requirements, purpose, *projects = sys.argv[1:]
    pinned = re.findall(r"^[\w.-]+==", Path(requirements).read_text(), re.MULTILINE)
    print(f"Installing {purpose}: {len(pinned)} packages from PyPI into {folder}", flush=True)
    venv.create(folder, with_pip=True, symlinks=os.name != "nt")
    _pip(folder, len(pinned), "--requirement", requirements)
    for project in projects:
        # What it needs is among the requirements, setuptools too.
        _pip(folder, 0, "--no-deps", "--no-build-isolation", "--editable", project)


def _pip(folder: str, expected: int, *what: str) -> None:
    """Ends the program with what pip said, if it fails."""
    command = [f"{folder}/bin/python", "-m", "pip", "install", "--progress-bar", "off", *what]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as pip:
        assert pip.stdout is not None
        said, names = [], []
        for line in pip.stdout:
            said.append(line)
            if expected and (found := _COLLECTED.match(line)):
                names.append(found[1])
                _show(f"  {len(names)} of {expected}: {found[1]}")
            elif expected and line.startswith("Installing collected packages"):
                _show("  unpacking them …", last=True)
    if pip.returncode:
        sys.exit("".join(["\n", *said[-40:]]))


def _show(text: str, *, last: bool = False) -> None:
    """One line, that changes in a terminal; in a log, one line each."""
    if sys.stdout.isatty():
        text = f"\r\x1b[K{text}" + ("\n" if last else "")
        print(text, end="", flush=True)
    else:
        print(text, flush=True)


if __name__ == "__main__":
    main()
