"""The command `backroom` against the deployed stack."""

import json
import os
import pty
import signal
import stat
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from backroom import verify

from tests.e2e.calls import until
from tests.support.programs import Ended, ran
from tests.support.running import Stack, ctrl_c_ends
from tests.webhooks.receiver import Receiver

pytestmark = pytest.mark.thorough

PROJECT = Path(__file__).resolve().parents[2]


class Terminal:
    """Runs the command with its own home folder, without a terminal."""

    def __init__(self, home: Path) -> None:
        self.home = home
        bare = {n: v for n, v in os.environ.items() if not n.startswith(("XDG_", "BACKROOM_"))}
        path = {"PYTHONPATH": str(PROJECT / "clients/python/src")}
        self.environment = bare | {"HOME": str(home), "COLUMNS": "200"} | path

    def start(self, *arguments: str, **options: Any) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [sys.executable, "-m", "backroom", *arguments],
            cwd=self.home,
            env=self.environment,
            text=True,
            preexec_fn=ctrl_c_ends,  # noqa: PLW1509
            **({"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options),
        )

    def run(self, *arguments: str, typed: str = "", code: int = 0) -> Ended:
        options: Any = {"code": code, "cwd": self.home, "env": self.environment, "input": typed}
        return ran(sys.executable, "-m", "backroom", *arguments, **options)

    def json(self, *arguments: str, code: int = 0) -> Any:
        return json.loads(self.run(*arguments, "--json", code=code).stdout)

    def lines(self, *arguments: str) -> list[Any]:
        return [json.loads(line) for line in self.run(*arguments, "--json").stdout.splitlines()]


@pytest.fixture(scope="module")
def terminal(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> Terminal:
    """Signed in as the Owner."""
    home = tmp_path_factory.mktemp("home")
    found = {"baseUrl": stack.base_url, "apiKey": stack.api_key}
    (home / "endpoint.json").write_text(json.dumps(found))
    terminal = Terminal(home)
    terminal.run("login", "--from", "endpoint.json")
    return terminal


def test_login_saves_the_key_readable_only_by_its_owner(stack: Stack, tmp_path: Path) -> None:
    terminal = Terminal(tmp_path)
    terminal.run("orders", code=3)
    done = terminal.run("login", stack.base_url, typed=f"{stack.api_key}\n")
    assert "OWNER" in done.stderr and stack.api_key not in done.stdout + done.stderr
    (file,) = tmp_path.rglob("credentials.json")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    terminal.run("orders")
    file.chmod(0o644)
    assert "chmod 600" in terminal.run("orders", code=3).stderr


def test_the_exit_code_depends_on_the_kind_of_failure(terminal: Terminal, tmp_path: Path) -> None:
    wrong = Terminal(tmp_path)
    url = json.loads((terminal.home / "endpoint.json").read_text())["baseUrl"]
    wrong.environment |= {"BACKROOM_URL": url, "BACKROOM_KEY": "key_wrong"}
    assert "401" in wrong.run("products", code=3).stderr
    refused = terminal.run("orders", "show", "ord_none", "--json", code=1)
    assert json.loads(refused.stderr)["error"]["code"] == "not_found"
    terminal.run("orders", "--limit", "many", code=2)
    wrong.environment |= {"BACKROOM_URL": "http://127.0.0.1:9"}
    process = wrong.start("products")
    assert process.stderr is not None
    assert "waiting" in process.stderr.readline(), "it tries again, and says so"
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)


def test_import_prints_the_errors_of_a_file_as_a_table(terminal: Terminal) -> None:
    file = terminal.home / "shirts.csv"
    file.write_text("slug,name,price,sku,stock\nshirt,[b]Shirt[/b],9,CMD-1,9\nbad,Bad,x,CMD-2,1\n")
    done = terminal.run("import", "shirts.csv", "--report", "failed.csv", code=5)
    assert "not_an_amount" in done.stdout and "price" in done.stdout
    assert "not_an_amount" in (terminal.home / "failed.csv").read_text()
    file.write_text("slug,price\nshirt,8\n")
    tried = terminal.json("import", "shirts.csv", "--dry-run")
    assert (tried["updated"], tried["dryRun"]) == (1, True)
    assert "8" in terminal.run("import", "shirts.csv", "--dry-run").stdout
    (found,) = terminal.lines("products", "--search", "cmd-1")
    assert found["price"] == "9.00"
    listed = terminal.run("products", "--search", "cmd-1").stdout
    assert "[b]Shirt[/b]" in listed, "a name is not markup"
    assert "CMD-1" in terminal.run("products", "show", found["id"]).stdout


def test_import_asks_for_unknown_columns(terminal: Terminal) -> None:
    file = terminal.home / "supplier.csv"
    file.write_text("Artikelname,Preisliste,Farbcode\nKanne,4.50,#fff\n")
    needs = terminal.run("import", "supplier.csv", code=6)
    assert "Preisliste" in needs.stdout and "--mapping" in needs.stderr
    asked = terminal.run("import", "supplier.csv", "--ask", typed="name\nprice\n-\n\nSupplier\n")
    assert "Kanne" in asked.stderr and "COMPLETED" in asked.stdout
    file.write_text("Artikelname,Preisliste,Farbcode\nKrug,4.50,#fff\n")
    job = terminal.json("import", "supplier.csv", "--mapping", "Supplier")
    assert job["created"] == 1
    given = '{"Artikelname": "name", "Preisliste": "price"}'
    assert terminal.json("import", "supplier.csv", "--mapping", given)["unchanged"] == 1


def test_import_in_a_terminal_asks_and_shows_progress(terminal: Terminal) -> None:
    (terminal.home / "wares.csv").write_text("Warenname,Preisliste,Farbcode\nTopf,4.50,#fff\n")
    keyboard, screen = pty.openpty()
    process = terminal.start("import", "wares.csv", stdin=screen, stderr=screen)
    os.close(screen)
    os.write(keyboard, b"name\nprice\n-\n\n\n")
    said = b""
    with suppress(OSError):  # the other end was closed
        while more := os.read(keyboard, 4_096):
            said += more
    assert process.wait(60) == 0, said.decode()
    os.close(keyboard)
    assert b"Uploading" in said and b"Importing" in said and "━".encode() in said
    assert process.stdout is not None and "COMPLETED" in process.stdout.read()


def test_import_asks_for_an_ambiguous_encoding(terminal: Terminal) -> None:
    file = terminal.home / "old.csv"
    file.write_bytes("slug,name,price\ntricko,Červené tričko,9\n".encode("cp1250"))
    needs = terminal.run("import", "old.csv", code=6)
    assert "Červené" in needs.stdout and "--encoding" in needs.stderr
    asked = terminal.run("import", "old.csv", "--ask", typed="cp1250\n")
    assert "Červené" in asked.stderr and "COMPLETED" in asked.stdout
    job = terminal.json("import", "old.csv", "--encoding", "windows-1250")
    assert (job["unchanged"], job["encoding"]) == (1, "cp1250")


def test_an_export_is_imported_again_unchanged(terminal: Terminal) -> None:
    terminal.run("export", "products", "-o", "all.csv")
    assert "already exists" in terminal.run("export", "products", "-o", "all.csv", code=2).stderr
    again = terminal.json("import", "all.csv")
    assert again["unchanged"] == again["total"] > 0
    terminal.run("export", "products", "--filter", "search=cmd-1", "--format", "jsonl")
    assert len((terminal.home / "products.jsonl").read_text().splitlines()) == 1


def test_a_report_is_a_table_or_a_file(terminal: Terminal) -> None:
    terminal.run("orders", "create", "--item", "CMD-1:2", "--paid")
    period = ("--from", "2026-01-01", "--to", "2026-12-31")
    table = terminal.run("report", "sales", "--by", "product", *period).stdout
    assert "gross" in table and table.splitlines()[-1].startswith("total")
    totals = terminal.json("report", "money", *period)["report"]["totals"]
    assert float(totals["payments"]) > 0
    terminal.run("report", "sales", "--by", "product", *period, "-o", "sold.csv")
    assert (terminal.home / "sold.csv").read_text("utf-8-sig").startswith("product,label,orders")
    refused = terminal.run("report", "tax", "--by", "product", *period, code=1).stderr
    assert "must be one of: day" in refused


def test_an_order_is_closed_and_keeps_a_part(terminal: Terminal) -> None:
    made = terminal.json("orders", "create", "--item", "CMD-1:2", "--paid")
    close = ("orders", "close", made["number"], "--reason", "Withdrew")
    kept = str(float(made["total"]) - 3)
    preview = terminal.run(*close, "--keep", kept, "--dry-run").stdout
    assert "order.closed" in preview and "3.00 " in preview
    assert terminal.json("orders", "show", made["number"])["closedAt"] is None
    closed = terminal.json(*close, "--keep", kept, "--method", "CASH", "--no-restock")
    assert [(one["amount"], one["method"]) for one in closed["refunds"]] == [("3.00", "CASH")]
    assert (closed["closeReason"], closed["balanceDue"]) == ("Withdrew", "0.00")
    assert float(closed["kept"]) == float(kept)
    refused = terminal.run(*close, "--keep", made["total"], "--json", code=1).stderr
    assert json.loads(refused)["error"]["code"] == "order_closed"
    assert "0.00 " in terminal.run(*close).stdout, "closed again, it keeps less"
    assert terminal.json("orders", "show", made["number"])["kept"] == "0.00"
    terminal.run(*close[:3], code=2)  # without a reason


def test_webhooks_are_added_replayed_and_removed(terminal: Terminal, receiver: Receiver) -> None:
    made = terminal.json("webhooks", "add", receiver.url("/nth/2"), "--event", "order.created")
    terminal.run("orders", "create", "--item", "CMD-1")
    until(lambda: len(receiver.requests) == 1, 120)
    (delivery,) = receiver.requests
    terminal.run("replay", delivery.delivery)
    until(lambda: len(receiver.requests) >= 2, 120)
    again = receiver.requests[-1]
    assert verify(again.body, again.headers, made["secret"])["event"] == "order.created"
    listed = terminal.lines("deliveries", "--webhook", made["id"], "--replay")
    assert [each["id"] for each in listed] == [delivery.delivery]
    until(lambda: len(receiver.requests) >= 3, 120)
    assert delivery.delivery in terminal.run("deliveries", "--status", "DELIVERED").stdout
    assert receiver.url("/nth/2") in terminal.run("deliveries", "show", delivery.delivery).stdout
    since = ("--since", "2026-01-01T00:00:00Z")
    assert terminal.json("replay", "--webhook", made["id"], *since, "--dry-run")["count"] == 0
    terminal.run("replay", code=2)
    assert made["id"] in terminal.run("webhooks").stdout
    terminal.run("webhooks", "remove", made["id"])
    assert made["id"] not in terminal.run("webhooks").stdout


def orders_placed(terminal: Terminal) -> list[Any]:
    """The events so far, once there are any: the feed is half a minute late."""
    found = terminal.lines("events", "--type", "order.created")
    return found if len(found) > 1 else []


def test_events_are_printed_and_continue_after_a_cursor(terminal: Terminal) -> None:
    *found, last = until(lambda: orders_placed(terminal))
    assert {event["event"] for event in found} == {"order.created"}
    *more, _ = terminal.lines("events", "--after", last["next"])
    assert not {event["id"] for event in found} & {event["id"] for event in more}
    assert "order.created" in terminal.run("events").stdout
