"""Makes a virtual environment, and says what it installs (the Makefile calls it).

    python3 infra/install.py .venv requirements-dev.txt "what it is for" [project …]

Needs only Python: a newer one is looked for if this one is too old, so old ones must be able to
read this file. `project`: folders of packages of ours, linked rather than copied.
"""

import os
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path

OLDEST = (3, 11)
_NEWER = ("python3.14", "python3.13", "python3.12", "python3.11")
_COLLECTED = re.compile(r"\s*(?:Collecting|Requirement already satisfied:) ([\w.-]+)")
# What pip or the system prints, and what it means.
_CAUSES = (
    ("No space left on device", "The disk is full: make room, then run this command again."),
    ("Read-only file system", "This folder cannot be written to: use one that you own."),
    ("Permission denied", "This folder cannot be written to: use one that you own."),
    ("ensurepip", "Python's venv is incomplete: install it (on Debian: apt-get install {venv})."),
    (
        "(NewConnectionError|NameResolutionError|ConnectTimeoutError|ReadTimeoutError|ProxyError"
        "|name resolution|Network is unreachable|Failed to establish a new connection)",
        "PyPI cannot be reached: check the network, then run this command again.",
    ),
)


def main() -> None:
    if sys.version_info < OLDEST:
        _use_newer()
    folder, requirements, purpose, *projects = sys.argv[1:]
    pinned = re.findall(r"^[\w.-]+==", Path(requirements).read_text(), re.MULTILINE)
    print(f"Installing {purpose}: {len(pinned)} packages from PyPI into {folder}", flush=True)
    try:
        venv.create(folder, with_pip=True, symlinks=os.name != "nt", clear=_is_foreign(folder))
    except subprocess.CalledProcessError as failure:
        _stop_with(f"{failure} {failure.output!r}")
    except OSError as failure:
        _stop_with(str(failure))
    _run_pip(folder, len(pinned), "--requirement", requirements)
    for project in projects:
        # What it needs is among the requirements, setuptools too.
        _run_pip(folder, 0, "--no-deps", "--no-build-isolation", "--editable", project)


def _is_foreign(folder: str) -> bool:
    """Whether another version of Python made the environment: its packages do not fit this one."""
    made = Path(folder, "pyvenv.cfg")
    version = ".".join(map(str, sys.version_info[:2]))
    return made.exists() and not re.search(
        rf"^version\S* = {re.escape(version)}\.", made.read_text(), re.MULTILINE
    )


def _use_newer() -> None:
    """Run this program with a newer Python, or end it with a sentence."""
    for name in _NEWER:
        found = shutil.which(name)
        if found:
            os.execv(found, [found, *sys.argv])
    here = ".".join(map(str, sys.version_info[:3]))
    sys.exit(
        "Backroom needs Python 3.11 or newer. {} is {}, and none of {} is in PATH.".format(
            sys.executable, here, ", ".join(_NEWER)
        )
    )


def _run_pip(folder: str, expected: int, *what: str) -> None:
    """Run pip; end the program with what pip said, if it fails."""
    options = ("--progress-bar", "off", "--retries", "2")
    command = [f"{folder}/bin/python", "-m", "pip", "install", *options, *what]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as pip:
        assert pip.stdout is not None
        said, names = [], []
        for line in pip.stdout:
            said.append(line)
            found = _COLLECTED.match(line)
            if expected and found:
                names.append(found.group(1))
                _show_line(f"  {len(names)} of {expected}: {found[1]}")
            elif expected and line.startswith("Installing collected packages"):
                _show_line("  unpacking them …", last=True)
    if pip.returncode:
        _stop_with("".join(said[-40:]))


def _stop_with(said: str) -> None:
    """End the program with a sentence for a known cause, or else with all that was said."""
    for pattern, sentence in _CAUSES:
        if re.search(pattern, said):
            version = ".".join(map(str, sys.version_info[:2]))
            sys.exit(f"\n{sentence.format(venv=f'python{version}-venv')}")
    sys.exit(f"\n{said}")


def _show_line(text: str, *, last: bool = False) -> None:
    """One line, that changes in a terminal; in a log, one line each."""
    if sys.stdout.isatty():
        text = f"\r\x1b[K{text}" + ("\n" if last else "")
        print(text, end="", flush=True)
    else:
        print(text, flush=True)


if __name__ == "__main__":
    main()
