"""No input, file, key or environment makes the command print a traceback: every verb with every
wrong value of each of its arguments and options, and every verb in a wrong environment."""

import itertools
import json
import os
import sys
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import click
import httpx
import pytest
import typer
from backroom.cli import commands

from tests.client.answering import answered
from tests.client.test_command import run
from tests.support.programs import ran

pytestmark = pytest.mark.thorough

WRONG = (
    "",
    "..",
    "ü",
    "\udcff",
    "\x1b[2J",
    "x" * 70_000,
    "-1",
    "9" * 5_000,
    "/",
    "[1",
    "{",
    "{" * 9_999,
)
ENDS = {commands.REFUSED, commands.USAGE, commands.NOT_ALLOWED, commands.NO_ANSWER}


def verbs(
    command: click.Command, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Every command that can be typed, below this one."""
    inner = getattr(command, "commands", {})
    for name, each in inner.items():
        yield from verbs(each, (*path, name))
    if path and (not inner or getattr(command, "invoke_without_command", False)):
        yield path, command


COMMAND = typer.main.get_command(commands.app)
ALL = dict(verbs(COMMAND))
FINE = {
    "file": "good.csv",
    "files": "good.csv",
    "what": "products",
    "forward_to": "http://127.0.0.1:9/",
}
FINE |= {"role": "STAFF", "quantity": "1", "kind": "sales"}
NEEDED = {"deliveries", "amount"}  # one of several options is


def typed(parameter: click.Parameter, value: str) -> list[str]:
    return [value] if parameter.param_type_name == "argument" else [parameter.opts[0], value]


def line(verb: tuple[str, ...], given: Mapping[click.Parameter, str]) -> list[str]:
    """The options first: an argument may look like one."""
    options: list[str] = []
    arguments: list[str] = []
    for each, value in given.items():
        (arguments if each.param_type_name == "argument" else options).extend(typed(each, value))
    return [*verb, *options, "--", *arguments]


def right(verb: tuple[str, ...]) -> dict[click.Parameter, str]:
    needed = [each for each in ALL[verb].params if each.required or each.name in NEEDED]
    fine = FINE | {"file": "good.json"} if verb == ("products", "upsert") else FINE
    return {each: fine.get(str(each.name), "x") for each in needed}


def wrong(verb: tuple[str, ...]) -> Iterator[list[str]]:
    """The verb with what it requires, where one parameter is wrong."""
    for each, value in itertools.product(ALL[verb].params, WRONG):
        if not getattr(each, "is_flag", False):
            yield line(verb, {**right(verb), each: value})


def refuses(request: httpx.Request) -> httpx.Response:
    """As the shop does: a field, and what is wrong with it."""
    error = {"field": "x", "code": "invalid", "message": "is wrong"}
    body = {"code": "validation_failed", "message": "x: is wrong", "errors": [error]}
    return httpx.Response(422, json=body)


@pytest.fixture
def somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.csv").write_text("slug,name\na,A\n")
    (tmp_path / "good.json").write_text('[{"name": "A", "price": "9.00"}]')
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.setenv("BACKROOM_URL", "https://shop.example.com")
    monkeypatch.setenv("BACKROOM_KEY", "bk_1")
    return tmp_path


@pytest.fixture
def answering(monkeypatch: pytest.MonkeyPatch, somewhere: Path) -> Any:
    monkeypatch.setattr(commands, "app", COMMAND)  # typer makes all verbs anew for each call
    return partial(answered, monkeypatch, retries=0)


@pytest.mark.parametrize("verb", ALL, ids=" ".join)
def test_no_wrong_value_is_a_traceback(
    verb: tuple[str, ...], answering: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    answering(refuses)
    for words in wrong(verb):
        code = run(*words)
        said = capsys.readouterr().err
        assert code in ENDS, (words, code, said)
        assert "Not understood" not in said and "Traceback" not in said, (words, said)
        assert said.strip(), words
        assert said.count("is wrong") <= 1, "once"


def test_a_whole_number_has_no_underscore(answering: Any) -> None:
    """Python reads `1_0` as 10."""
    answering(refuses)
    for verb, command in ALL.items():
        for each in command.params:
            if each.name in {"limit", "header_row", "tries", "quantity", "days"}:
                assert run(*line(verb, {**right(verb), each: "1_0"})) == commands.USAGE, verb


LOCAL = {("login",), ("logout",), ("profiles",)}  # they ask nobody, or for a key first
ANSWERS: dict[str, Any] = {
    "a web page": httpx.Response(200, html="<h1>Parked</h1>"),
    "a web page that says no": httpx.Response(404, html="<h1>Nothing</h1>"),
    "no JSON": httpx.Response(200, headers={"Content-Type": "application/json"}, text="{"),
    "another JSON": httpx.Response(200, json={"hello": 1}),
    "a list": httpx.Response(200, json=[]),
    "nothing": httpx.Response(200),
    "a redirect": httpx.Response(302, headers={"Location": "/"}),
    "an error without words": httpx.Response(500, json=None),
}


@pytest.mark.thorough
@pytest.mark.parametrize("verb", [verb for verb in ALL if verb not in LOCAL], ids=" ".join)
@pytest.mark.parametrize("answer", ANSWERS)
def test_another_server_is_named(
    verb: tuple[str, ...], answer: str, answering: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    answering(lambda request: ANSWERS[answer])
    more = {("listen",): ["--once"], ("orders", "edit"): ["--shipping", "1"]}.get(verb, [])
    code = run(*line((*verb, *more), right(verb)))
    said = capsys.readouterr().err
    assert code in ENDS, (code, said)
    assert "Traceback" not in said and said.strip()
    if answer == "a web page":
        assert "address of a shop" in said


ENVIRONMENTS: dict[str, dict[str, str]] = {
    "no key": {"BACKROOM_KEY": ""},
    "a key of other letters": {"BACKROOM_KEY": "ключ"},
    "a blank key": {"BACKROOM_KEY": " "},
    "no address": {"BACKROOM_URL": "shop.example.com"},
    "half an address": {"BACKROOM_URL": "http://[::1"},
    "an address without a host": {"BACKROOM_URL": "https://"},
    "another protocol": {"BACKROOM_URL": "ftp://shop.example.com"},
    "a port beyond all": {"BACKROOM_URL": "http://127.0.0.1:99999"},
    "a proxy that is none": {"HTTP_PROXY": "no://proxy", "ALL_PROXY": "no://proxy"},
    "no certificates": {"SSL_CERT_FILE": "/nowhere"},
    "a folder as the file": {"BACKROOM_KEY": "", "BACKROOM_URL": "", "BACKROOM_CONFIG": "/"},
    "a damaged file": {"BACKROOM_KEY": "", "BACKROOM_URL": "", "BACKROOM_CONFIG": "damaged"},
    "a file of bytes": {"BACKROOM_KEY": "", "BACKROOM_URL": "", "BACKROOM_CONFIG": "bytes"},
    "a profile of nobody": {"BACKROOM_KEY": "", "BACKROOM_URL": "", "BACKROOM_PROFILE": "x"},
    "no home": {"HOME": "/dev/null", "BACKROOM_KEY": "", "BACKROOM_URL": ""},
}


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_a_wrong_environment_is_one_message(environment: str, somewhere: Path) -> None:
    for name, content in (("damaged", b"{}"), ("bytes", b"\xff\xfe")):
        (somewhere / name).write_bytes(content)
        (somewhere / name).chmod(0o600)
    bare = {"PYTHONPATH": ":".join(sys.path), "HOME": str(somewhere), "NO_PROXY": ""}
    known = {"BACKROOM_URL": "http://127.0.0.1:9", "BACKROOM_KEY": "bk_1"}
    options: Any = {"code": None, "env": bare | known | ENVIRONMENTS[environment]}
    done = ran(sys.executable, "-m", "backroom", "orders", **options)
    assert done.returncode in ENDS, done
    assert "Traceback" not in done.stderr and "Not understood" not in done.stderr, done.stderr
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr


@pytest.mark.parametrize("output", ["/dev/full", "closed", "ascii"])
def test_an_output_that_cannot_take_it_is_no_traceback(output: str, somewhere: Path) -> None:
    settings = {"profiles": {"ü": {"url": "https://shop.example.com", "key": "bk_1"}}}
    (somewhere / "kept").write_text(json.dumps(settings))
    (somewhere / "kept").chmod(0o600)
    command = f"{sys.executable} -m backroom profiles"
    redirected = {"/dev/full": " > /dev/full", "closed": " >&-", "ascii": ""}[output]
    environment = {"PYTHONPATH": ":".join(sys.path), "PYTHONIOENCODING": output}
    if output != "ascii":
        del environment["PYTHONIOENCODING"]
    for json_too in ("", " --json"):
        done = ran(
            *("sh", "-c", command + json_too + redirected),
            code=commands.USAGE if output == "/dev/full" else 0,
            env=os.environ | environment | {"BACKROOM_CONFIG": str(somewhere / "kept")},
        )
        assert "Traceback" not in done.stderr and "Exception ignored" not in done.stderr, done
        if output == "ascii" and json_too:
            assert json.loads(done.stdout)["profile"] == "ü"
