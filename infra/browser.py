"""The browser of the console's tests: one that is there, or Debian's Chromium.

    python3 infra/browser.py      # finds it, or installs it (the Makefile calls it)

Needs only Python.
"""

import os
import shutil
import subprocess
import sys

VARIABLE = "CHROME_BIN"
NAMES = (
    *("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"),
    *("google-chrome-beta", "microsoft-edge", "microsoft-edge-stable", "brave-browser"),
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)
_INSTALL = (
    "apt-get -q update",
    "apt-get -q -o DPkg::Lock::Timeout=300 install -y --no-install-recommends chromium",
)


def find() -> str | None:
    """Return the path of a browser: that of `CHROME_BIN`, or else the first of NAMES."""
    named = os.environ.get(VARIABLE)
    return next(filter(None, map(shutil.which, [named] if named else NAMES)), None)


def missing() -> str:
    """Why there is none, and what to do about it."""
    named = os.environ.get(VARIABLE)
    if named:
        return f"{VARIABLE} names {named}, which is no program"
    return f"no browser was found: install Chromium, or set {VARIABLE} to the path of a Chrome"


def main() -> None:
    """Install Chromium if there is no browser, with root's rights and apt.

    Without those, or if it fails, the tests that need a browser are skipped: only they do.
    """
    if find() is None and not os.environ.get(VARIABLE) and _may_install():
        print("Installing Chromium with apt-get, for the tests of the console:", flush=True)
        for command in _INSTALL:
            with subprocess.Popen(
                command.split(),
                env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            ) as apt:
                assert apt.stdout is not None
                for line in apt.stdout:
                    if line.startswith(("Need to get", "Setting up chromium", "E:")):
                        print(f"  {line.strip()}", flush=True)
            if apt.returncode:
                break
    if find() is None:
        print(f"The tests of the console will be skipped: {missing()}.", file=sys.stderr)


def _may_install() -> bool:
    return os.geteuid() == 0 and shutil.which("apt-get") is not None


if __name__ == "__main__":
    main()
