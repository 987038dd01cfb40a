"""The commands of the pages: they are understood, and requests are answered, as they are written.

README's and the recipes' commands and those of a first change run as a whole elsewhere. Here each
command of the client and of `infra/` is parsed by its own program, and each request with a body of
JSON or without one is answered by the application. What runs nowhere: `aws`, `git` and `pip`, whose
programs are not ours, and requests with an id that a page leaves out (`…`).
"""

import argparse
import importlib
import json
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from backroom.cli.commands import app as client

from tests.docs.test_documented_requests import PAGES, commands
from tests.support.job_desk import JobDesk
from tests.support.shop import Shop

pytestmark = pytest.mark.thorough

OURS = re.compile(r"^(\w+=\S+ )?(\S+/)?(backroom|python infra/\w+\.py|infra/\w+\.py)\b")
BLOCK = re.compile(r"^```sh\b[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`((?:\.venv/bin/)?backroom [^`\n]+)`")


class Parsed(Exception):
    """A program has understood its arguments, and would begin."""


def list_commands() -> Iterator[list[str]]:
    """The words of each command in the blocks of the pages."""
    for page in PAGES:
        for block in BLOCK.findall(page.read_text()):
            for line in re.sub(r"\$\(.*?\)", "2026-11-20", block.replace("\\\n", " ")).splitlines():
                for part in re.split(r" && | > ", line):
                    if OURS.search(part):
                        yield shlex.split(part, comments=True)


def understand_tool(name: str, given: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    parse = argparse.ArgumentParser.parse_args

    def stop(self: argparse.ArgumentParser, args: Any = None, namespace: Any = None) -> None:
        parse(self, given, namespace)
        raise Parsed

    monkeypatch.setattr(sys, "argv", [name, *given])
    monkeypatch.setattr(argparse.ArgumentParser, "parse_args", stop)
    with pytest.raises(Parsed):
        importlib.import_module(f"infra.{name}").main()


def understand_command(command: Any, given: list[str]) -> None:
    context = command.make_context("backroom", list(given))
    if rest := [*getattr(context, "_protected_args", []), *context.args]:
        _, inner, left = command.resolve_command(context, rest)
        understand_command(inner, left)


def test_each_command_of_a_page_is_understood(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    found = list(list_commands())
    assert len(found) > 40
    for words in found:
        for file in filter(re.compile(r"[\w./]+\.(csv|json|jpg)").fullmatch, words):
            (tmp_path / file).parent.mkdir(exist_ok=True)
            (tmp_path / file).touch()
        tool = next((word for word in words if re.search(r"infra/\w+\.py$", word)), None)
        if tool:
            given = words[words.index(tool) + 1 :]
            with monkeypatch.context() as patched:
                understand_tool(Path(tool).stem, given, patched)
        else:
            start = next(n for n, word in enumerate(words) if word.endswith("backroom"))
            understand_command(typer.main.get_command(client), words[start + 1 :])


def test_each_command_that_a_text_names_has_its_options() -> None:
    named = [words for page in PAGES for words in map(str.split, INLINE.findall(page.read_text()))]
    assert len(named) > 5
    for words in named:
        command, left = typer.main.get_command(client), words[1:]
        while left and left[0] in getattr(command, "commands", {}):
            command, left = command.commands[left[0]], left[1:]
        options = {option for parameter in command.params for option in parameter.opts}
        assert {word for word in left if word.startswith("--")} <= options, words
        assert not getattr(command, "commands", {}) or not left or left[0].startswith("-"), words


def test_each_request_of_a_page_is_answered(jobs: JobDesk, shop: Shop) -> None:
    sent = 0
    for page in PAGES:
        if page.name in ("README.md", "recipes.md", "first-hour.md"):
            continue
        for words in commands(page.read_text()):
            target = next(word for word in words if word.startswith("$API"))
            body = words[words.index("-d") + 1] if "-d" in words else None
            if "…" in " ".join(words) or "-F" in words:
                continue
            method = "POST" if body or "-X" in words else "GET"
            path = target.removeprefix("$API").split("|")[0]
            answer = shop.call(method, path, body and json.loads(body))
            assert answer.status < 300, (page.name, words, answer.text)
            sent += 1
    assert sent > 10
