"""Programs that tests start."""

import subprocess
from typing import Any

Ended = subprocess.CompletedProcess[str]


def ran(*command: object, code: int | None = 0, **options: Any) -> Ended:
    """A program after its end. `code`: what it has to end with; None: anything. `options`: those
    of `subprocess.run`."""
    usual = {"capture_output": True, "text": True, "timeout": 600}
    done: Ended = subprocess.run([str(part) for part in command], check=False, **(usual | options))
    assert code in (None, done.returncode), f"{done.returncode}\n{done.stdout}\n{done.stderr}"
    return done
