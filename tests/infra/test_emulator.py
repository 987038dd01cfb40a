"""An emulator that cannot start."""

from pathlib import Path

import pytest

from infra.emulator import Emulator
from tests.support.running import free_port


def test_an_emulator_that_does_not_start_says_why(tmp_path: Path) -> None:
    """To stop it then is no error."""
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\necho no such module\n")
    broken.chmod(0o700)
    emulator = Emulator(broken, free_port(), tmp_path)
    with pytest.raises(RuntimeError, match=r"did not start:\nno such module"):
        emulator.start()
    emulator.stop()
