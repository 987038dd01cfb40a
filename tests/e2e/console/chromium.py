"""The browser of the tests: Debian's Chromium, which is installed if it is missing."""

import os
import shutil
import subprocess

NAMES = ("chromium", "chromium-browser", "google-chrome")
INSTALL = "apt-get update && apt-get install -y --no-install-recommends chromium"
# Options for a headless browser that runs as root in a container.
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def path() -> str:
    """Raises RuntimeError, with the command to run, if there is none and none can be installed."""
    found = _installed()
    if found is None and os.geteuid() == 0 and shutil.which("apt-get"):
        quiet = {"env": os.environ | {"DEBIAN_FRONTEND": "noninteractive"}, "capture_output": True}
        subprocess.run(INSTALL, shell=True, check=False, **quiet)
        found = _installed()
    if found is None:
        raise RuntimeError(f"The console's tests need Chromium. As root:  {INSTALL}")
    return found


def _installed() -> str | None:
    return next((found for name in NAMES if (found := shutil.which(name))), None)
