"""The `curl` commands of the documentation work as they are written."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
# docs/api.md says what these are.
KNOWN = {"API", "KEY"}


def commands(text: str) -> Iterator[list[str]]:
    """The words of each `curl` in a block of shell commands."""
    for block in re.findall(r"^```(?:sh)?\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        if "curl " not in block:
            continue
        words = shlex.split(block, comments=True)
        starts = [place for place, word in enumerate(words) if word == "curl"]
        for start, end in zip(starts, [*starts[1:], len(words)], strict=True):
            yield words[start:end]


def test_a_documented_request_uses_known_variables_and_says_that_its_body_is_json() -> None:
    found = [(page.name, one) for page in PAGES for one in commands(page.read_text())]
    assert len(found) > 12
    for _, command in found:
        used = {name for word in command for name in re.findall(r"\$(\w+)", word)}
        assert used <= KNOWN, command
        assert "-d" not in command or "Content-Type: application/json" in command, command
