"""Sends requests that the API's description allows, and many that it does not.

`make fuzz` starts its own deployment and sends requests for four minutes. Each answer must match
the description: no server error, and no other status, type, shape or header.
"""

import json
import os
import subprocess
import sys
import tempfile
from itertools import chain
from pathlib import Path
from urllib.request import urlopen

from tests.support.running import Stack, free_port, running, tool

_PLENTY = "1000000"  # requests a minute, so that not every answer is a 429
_PROJECT = Path(__file__).resolve().parents[2]
_CONFIGURED = Path(__file__).with_name("schemathesis.toml")  # what it may find, with the reasons


def fuzz(stack: Stack, seconds: int, *options: str) -> subprocess.CompletedProcess[str]:
    """Sends requests for at most `seconds`; returns 0 if all answers match the description."""
    command = [
        str(Path(sys.executable).parent / "schemathesis"),
        *("--config-file", str(_CONFIGURED)),
        *("--no-color", "run", "openapi.json", "--url", stack.base_url),
        *("-H", f"Authorization: Bearer {unlimited_key(stack)}"),
        *("--phases", "examples,coverage,fuzzing", "--max-time", str(seconds)),
        *("--no-shrink", "--continue-on-failure", "--request-timeout", "60"),
        *("--suppress-health-check", "all", "--generation-database", "none"),
        *("--warnings", "off"),
        *options,
    ]
    # It writes its findings into the current folder, which must not be the checkout.
    with tempfile.TemporaryDirectory() as elsewhere:
        # It waits for a description for less time than a cold start takes on a busy machine.
        with urlopen(f"{stack.base_url}/api/openapi.json", timeout=60) as answer:
            description = json.load(answer)
        for operation in chain.from_iterable(
            path.values() for path in description["paths"].values()
        ):
            # What `fields` leaves out is absent, which the schema of an answer cannot say.
            parameters = operation.get("parameters", [])
            operation["parameters"] = [one for one in parameters if one.get("name") != "fields"]
        Path(elsewhere, "openapi.json").write_text(json.dumps(description))
        return subprocess.run(
            command,
            cwd=elsewhere,
            env={
                **os.environ,
                "PYTHONPATH": str(_PROJECT),
                "SCHEMATHESIS_HOOKS": "tests.e2e.described_limits",
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )


def unlimited_key(stack: Stack) -> str:
    made = tool(stack, "keys", "create", "Fuzz", "OWNER")
    tool(stack, "keys", "limits", made.split()[0], "--read", _PLENTY, "--write", _PLENTY)
    return made.rpartition(": ")[2].strip()


def main() -> None:
    with tempfile.TemporaryDirectory() as home, running(Path(home), free_port()) as stack:
        done = fuzz(stack, 240, "--max-examples", "50", *sys.argv[1:])
    print(done.stdout)
    raise SystemExit(done.returncode)


if __name__ == "__main__":
    main()
