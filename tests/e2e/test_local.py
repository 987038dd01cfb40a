"""What `make run` promises: data outlives it, nothing that it started does, ports keep apart."""

import os
import socket
import subprocess
from pathlib import Path

from tests.e2e.calls import call
from tests.e2e.running import Stack, free_port, local_command, running


def add(stack: Stack, name: str) -> None:
    new = {"name": name, "price": 9.5, "status": "ACTIVE"}
    status, made = call(f"{stack.base_url}/api/admin/products", stack.api_key, send=new)
    assert status == 201, made


def names(stack: Stack) -> list[str]:
    return [product["name"] for product in call(f"{stack.base_url}/api/products")[1]["data"]]


def is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def processes_of(home: Path) -> list[str]:
    """Command lines of the processes that keep their state under `home`."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if str(home).encode() in (process / "environ").read_bytes():
                found.append((process / "cmdline").read_text())
        except OSError:
            continue  # it ended, or belongs to somebody else
    return found


def test_data_outlives_a_stop_and_fresh_begins_anew(tmp_path: Path) -> None:
    port = free_port()
    with running(tmp_path, port, keeps=True) as first:
        add(first, "Enamel mug")
    with running(tmp_path, port, keeps=True) as second:
        assert second == first
        assert names(second) == ["Enamel mug"]
    with running(tmp_path, port, "--fresh", sample=True) as third:
        assert third.api_key != first.api_key
        assert len(names(third)) == 20, "the first page of the sample catalogue"


def test_a_stop_ends_all_that_was_started(tmp_path: Path) -> None:
    port = free_port()
    with running(tmp_path, port, keeps=True) as stack:
        names(stack)
        assert processes_of(tmp_path)
    assert processes_of(tmp_path) == []
    assert not is_open(port)
    assert not (tmp_path / "endpoint.json").exists()


def test_a_second_run_on_the_port_is_refused_and_harms_nothing(tmp_path: Path) -> None:
    port = free_port()
    with running(tmp_path, port) as stack:
        second = subprocess.run(
            local_command(tmp_path, port, "--fresh"),
            cwd=Path(__file__).resolve().parents[2],
            env=os.environ,
            capture_output=True,
            text=True,
            check=False,
        )
        assert second.returncode != 0
        assert f"already runs on port {port}" in second.stderr
        assert names(stack) == []


def test_two_ports_are_two_shops(stack: Stack, tmp_path: Path) -> None:
    with running(tmp_path, free_port()) as other:
        add(other, "Only here")
        assert "Only here" not in names(stack)
        assert call(f"{stack.base_url}/api/admin/me", other.api_key)[0] == 401
