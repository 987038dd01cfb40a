"""The command, against a shop in memory: what it asks for, and that no mistake is a traceback."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest import mock

import httpx
import pytest
from backroom import Backroom, __version__, settings
from backroom.cli import base, commands
from backroom.settings import Settings

from tests.client.answering import Answering, answered
from tests.support.programs import Ended, ran

pytestmark = pytest.mark.thorough

JOB = {"id": "job_1", "status": "COMPLETED", "failed": 0, "processed": 2, "total": 2}
ORDER = {"id": "ord_1", "number": "1001", "lineItems": [], "customer": None}


@pytest.fixture
def counter(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Answering:
    made = Answering()
    for name in ("BACKROOM_PROFILE", "BACKROOM_URL", "BACKROOM_KEY"):
        monkeypatch.setenv(name, "")
    monkeypatch.setenv("BACKROOM_CONFIG", str(tmp_path / "kept" / "credentials.json"))
    settings.save(Settings("https://shop.example.com", "bk_1"))
    answered(monkeypatch, made)
    return made


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        commands.main(list(arguments))
    return int(ended.value.code or 0)


def bare(*arguments: str, **environment: str) -> Ended:
    known = {"BACKROOM_URL": "http://127.0.0.1:1", "BACKROOM_KEY": "bk_1"}
    path = {"PYTHONPATH": ":".join(sys.path)}
    options: Any = {"code": None, "env": known | path | environment}
    return ran(sys.executable, "-m", "backroom", *arguments, **options)


def test_an_order_is_found_by_its_number(
    counter: Answering, capsys: pytest.CaptureFixture[str]
) -> None:
    other = {**ORDER, "id": "ord_2", "number": "10012"}
    counter.answers["/orders"] = {"data": [other, ORDER], "pagination": {"next": None}}
    counter.answers["/orders/ord_1"] = ORDER
    assert run("orders", "show", "#1001", "--json") == 0
    assert json.loads(capsys.readouterr().out)["id"] == "ord_1"
    assert run("orders", "show", "1002") == commands.REFUSED


def test_orders_are_filtered_by_the_state_of_their_payment(counter: Answering) -> None:
    counter.answers["/orders"] = {"data": [], "pagination": {"next": None}}
    asked = ("--payment-status", "PENDING", "--balance", "due", "--from", "2026-11-22")
    assert run("orders", *asked, "--json") == 0
    sent = counter.requests[0].url.params
    assert (sent["paymentStatus"], sent["balance"]) == ("PENDING", "due")


def test_a_delivery_that_is_refused_does_not_keep_others_from_being_sent_again(
    counter: Answering, capsys: pytest.CaptureFixture[str]
) -> None:
    ids = ["dlv_1", "dlv_2"]
    counter.answers["/deliveries"] = {"data": [{"id": id} for id in ids], "nextCursor": None}
    paused = {"code": "webhook_paused", "message": "The webhook is paused: enable it first."}
    counter.answers["/deliveries/dlv_1/replay"] = httpx.Response(409, json=paused)
    counter.answers["/deliveries/dlv_2/replay"] = {"id": "dlv_2", "event": "order.paid"}
    assert run("deliveries", "--replay") == commands.REFUSED
    said = " ".join(capsys.readouterr().err.split())
    assert "dlv_1 is not sent again: 409 webhook_paused" in said
    assert "dlv_2 (order.paid) is sent again." in said
    assert run("replay", "dlv_2") == 0


@pytest.mark.parametrize("verb", ["follow", "undo"])
def test_a_job_is_followed_to_its_end(
    counter: Answering, capsys: pytest.CaptureFixture[str], verb: str
) -> None:
    counter.answers["/jobs/job_1"] = JOB
    counter.answers["/jobs/job_1/undo"] = {"jobId": "job_1"}
    assert run("jobs", verb, "job_1", "--json") == 0
    assert json.loads(capsys.readouterr().out) == JOB
    counter.answers["/jobs/job_1"] = {**JOB, "failed": 1}
    assert run("jobs", verb, "job_1", "--json") == commands.INCOMPLETE


def test_pictures_are_added_after_those_of_a_product(
    counter: Answering, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    url = "https://img.example/a.jpg"
    old = {"url": url, "alt": None, "pictureId": None, "sizes": None}
    counter.answers["/products/prod_1"] = {"id": "prod_1", "images": [old]}
    form = {"url": "https://files.example/", "fields": {}, "expiresAt": ""}
    counter.answers["/pictures"] = {"id": "pic_1", "upload": form}
    counter.answers["/"] = httpx.Response(204)
    counter.answers["/pictures/pic_1"] = {"id": "pic_1", "status": "READY"}
    (tmp_path / "cup.jpg").write_bytes(b"\xff\xd8\xff")
    assert run("products", "add-pictures", "prod_1", str(tmp_path / "cup.jpg"), "--alt", "Cup") == 0
    assert url in capsys.readouterr().out
    (change,) = (json.loads(one.content) for one in counter.requests if one.method == "PUT")
    assert change == {"images": [old, {"pictureId": "pic_1", "alt": "Cup"}]}


def test_files_are_added_to_an_order(
    counter: Answering, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    form = {"url": "https://files.example/", "fields": {}, "expiresAt": ""}
    counter.answers["/orders/ord_1/files"] = {"id": "fil_1", "upload": form}
    counter.answers["/"] = httpx.Response(204)
    ready = {"id": "fil_1", "status": "READY", "kind": "FILE", "name": "ring.dxf"}
    counter.answers["/orders/ord_1/files/fil_1"] = ready
    (tmp_path / "ring.dxf").write_bytes(b"SECTION")
    assert run("orders", "add-files", "ord_1", str(tmp_path / "ring.dxf"), "--note", "52") == 0
    assert "fil_1" in capsys.readouterr().out
    (new,) = (
        json.loads(one.content)
        for one in counter.requests
        if "json" in one.headers.get("Content-Type", "")
    )
    assert (new["name"], new["bytes"], new["note"]) == ("ring.dxf", 7, "52")


@pytest.mark.parametrize(
    ("during", "command", "says"),
    [
        ("wait", ("jobs", "follow", "job_1"), "backroom jobs cancel job_1"),
        ("import_products", ("import", __file__), "Nothing was imported"),
    ],
)
@pytest.mark.usefixtures("counter")
def test_ctrl_c_says_what_goes_on(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    during: str,
    command: tuple[str, ...],
    says: str,
) -> None:
    monkeypatch.setattr(Backroom, during, mock.Mock(side_effect=KeyboardInterrupt))
    assert run(*command) == commands.INTERRUPTED
    assert says in capsys.readouterr().err.replace("\n", " ")


def test_two_filters_of_one_name_are_both_sent() -> None:
    assert base.parse_pairs("--filter", ["status=PAID", "status=PENDING", "tag=a"]) == {
        "status": ["PAID", "PENDING"],
        "tag": "a",
    }


def test_the_version_is_printed() -> None:
    assert bare("--version").stdout == f"backroom {__version__}\n"


def test_wrong_input_is_one_message_and_no_traceback(tmp_path: Path) -> None:
    empty = tmp_path / "empty.csv"
    empty.touch()
    for done in (
        bare("export", "products", "-o", "/nowhere/x.csv"),
        bare("import", str(empty)),
        bare("import", "/dev/null"),
        bare("orders", "edit", "1001", "--reason", "x", "--set", "MUG"),
        bare("orders", BACKROOM_KEY="bk_ü"),
        bare("login", "--from", str(tmp_path)),
    ):
        assert done.returncode in (commands.REFUSED, commands.USAGE), done
        assert len(done.stderr.strip().splitlines()) == 1, done.stderr


@pytest.mark.parametrize("more", [[], ["--json"]])
def test_a_reader_that_has_enough_is_no_failure(tmp_path: Path, more: list[str]) -> None:
    settings.save(Settings("https://a.test", "bk_1"), {"BACKROOM_CONFIG": str(tmp_path / "kept")})
    left, output = os.pipe()
    os.close(left)
    known = {"PYTHONPATH": ":".join(sys.path), "BACKROOM_CONFIG": str(tmp_path / "kept")}
    options: Any = {"capture_output": False, "stdout": output, "stderr": subprocess.PIPE}
    command = (sys.executable, "-m", "backroom", "profiles", *more)
    assert ran(*command, env=known, **options).stderr == ""
    os.close(output)


def test_a_shell_completes_the_verbs() -> None:
    asked = {
        "_BACKROOM_COMPLETE": "complete_bash",
        "COMP_WORDS": "backroom deli",
        "COMP_CWORD": "1",
    }
    assert bare(**asked).stdout.split() == ["deliveries"]


def test_a_profile_is_kept_used_and_removed(
    counter: Answering, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    counter.answers["/me"] = {"name": "Ada", "role": "STAFF"}
    monkeypatch.setenv("BACKROOM_KEY", "bk_2")
    assert run("login", "https://two.example.com", "--profile", "two", "--json") == 0
    assert json.loads(capsys.readouterr().out)["profile"] == "two"
    assert run("login", "https://one.example.com") == 0
    assert run("profiles", "--json") == 0
    kept = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert kept == [
        {"profile": "default", "url": "https://one.example.com"},
        {"profile": "two", "url": "https://two.example.com"},
    ]
    monkeypatch.setenv("BACKROOM_URL", "https://other.example.com")
    counter.answers["/jobs/job_1"] = JOB
    for profile in ([], ["--profile", "two"], ["--profile", "default"]):
        assert run(*profile, "jobs", "show", "job_1") == 0
    asked = [str(each.url.host) for each in counter.requests[2:]]
    assert asked == ["other.example.com", "two.example.com", "one.example.com"]
    assert run("logout", "--profile", "two") == 0
    assert run("--profile", "two", "jobs", "show", "job_1") == commands.NOT_ALLOWED
    assert "default" in capsys.readouterr().err


def test_short_stock_names_the_item(counter: Answering, capsys: pytest.CaptureFixture[str]) -> None:
    variants = [{"id": f"var_{sku}", "sku": sku} for sku in ("MUG", "CUP")]
    numbers = {"page": 1, "totalPages": 1}
    counter.answers["/products"] = {
        "data": [{"id": "prod_1", "variants": variants}],
        "pagination": numbers,
    }
    short = {"variantId": "var_CUP", "requested": 3, "available": 2}
    body = {"code": "insufficient_stock", "message": "Not enough stock.", "lines": [short]}
    counter.answers["/orders"] = httpx.Response(422, json=body)
    order = ("orders", "create", "--item", "MUG", "--item", "CUP:3")
    assert run(*order) == commands.REFUSED
    assert capsys.readouterr().err == "Not enough stock.\n--item CUP:3: 2 in stock\n"
    assert run(*order, "--json") == commands.REFUSED
    assert json.loads(capsys.readouterr().err)["error"]["lines"] == [short]


def test_a_file_of_products_is_sent_in_calls_of_500(
    counter: Answering, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "prices.json"
    file.write_text(json.dumps([{"sku": f"S-{n}", "price": "1.00"} for n in range(501)]))
    bad = {"code": "not_found", "message": "There is no product S-500."}
    whole = [{"index": n, "status": "updated", "id": f"prod_{n}"} for n in range(500)]
    rest = [{"index": 0, "status": "error", "error": bad}]
    counter.answers["/products/bulk"] = [{"data": whole}, {"data": rest}]
    assert run("products", "upsert", str(file), "--mode", "update") == commands.INCOMPLETE
    assert [len(json.loads(request.content)) for request in counter.requests] == [500, 1]
    assert {request.url.query for request in counter.requests} == {b"mode=update"}
    read = capsys.readouterr()
    assert "row 500: There is no product S-500." in read.err
    assert "updated" in read.out and "500" in read.out
    file.write_text('{"sku": 1}')
    assert run("products", "upsert", str(file)) == commands.USAGE


def test_a_dry_run_ends_with_its_counts_however_much_it_would_change(
    counter: Answering, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "many.csv"
    file.write_text("slug,name,price\nmug,Mug,5\n")
    preview = [
        {"slug": f"p{n}", "outcome": "created", "before": None, "after": {"name": "N", "price": n}}
        for n in range(50)
    ]
    job = {**JOB, "created": 50, "rows": 60, "total": 50, "preview": preview, "dryRun": True}
    upload = {"jobId": "job_1", "url": "https://files.example/", "fields": {}, "expiresAt": ""}
    counter.answers["/products/import/uploads"] = upload
    counter.answers["/"] = httpx.Response(204)
    counter.answers["/jobs/job_1"] = job
    assert run("import", str(file), "--dry-run") == 0
    said = capsys.readouterr()
    # p19 has the last of 40 lines.
    assert "p20" not in said.out
    assert said.out.index("created") < said.out.rindex("p19") < said.out.index("total")
    assert "60 more changes are in the output of --json." in said.err
