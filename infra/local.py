"""Backroom on this machine: the three steps of a deployment on an emulated AWS (`make run`)."""

import argparse
import json
import os
import shutil
import signal
import sys
import time
from pathlib import Path
from typing import Any

import boto3

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from infra import package, stacks, steps
from infra.emulator import CREDENTIALS, Emulator

STAGE = "local"
_PROJECT = package.PROJECT
_LOCAL_ONLY = {
    "MAIL_FROM": "backroom@example.com",
    # A receiver under development listens on loopback.
    "WEBHOOK_ALLOWED_NETWORKS": "127.0.0.0/8,::1/128",
}


def deploy(port: int, cache: Path) -> dict[str, str]:
    """Deploys what the source says now; what the tables, queues and bucket hold stays."""
    made = steps.resources(STAGE, {"DeletionProtection": "false"})
    built = package.build(cache)
    key = f"deployments/{built.digest}.zip"
    boto3.client("s3").put_object(Bucket=made["Bucket"], Key=key, Body=built.zip.read_bytes())
    # The emulator gives an API whose routes changed another id, and after a restart its stream
    # mappings skip events. Both stacks hold no data, so each start makes them anew.
    stacks.delete(steps.stack(STAGE, "triggers"))
    stacks.delete(steps.stack(STAGE, "app"))
    steps.ensure_master_key(STAGE)
    template = package.native(
        built,
        stage=STAGE,
        bucket=made["Bucket"],
        key=key,
        roles=steps.roles(made),
        environment=steps.environment(STAGE, made) | _LOCAL_ONLY,
        api_id="backroom",
    )
    stacks.apply(steps.stack(STAGE, "app"), template, {}, bucket=made["Bucket"])
    steps.triggers(STAGE, made, {"Size": "local"})
    return made


def endpoint(port: int, key: str) -> dict[str, str]:
    """What a client needs to know."""
    base_url = f"http://127.0.0.1:{port}/_aws/execute-api/backroom/{STAGE}"
    return {
        "baseUrl": base_url,
        "apiKey": key,
        "consoleUrl": f"{base_url}/console",
        "awsEndpoint": f"http://127.0.0.1:{port}",
    }


def owner_key(home: Path, table: str) -> str:
    """The Owner key of this data: made once, kept beside the data."""
    kept = home / "owner-key"
    if not kept.exists():
        key = steps.mint_owner(table, "local owner")
        kept.touch(mode=0o600)
        kept.write_text(key)
    return kept.read_text()


def announce(local: Path, port: int, found: dict[str, str]) -> None:
    """Prints the way in, and writes it for programs: per port, and last for whichever is newest."""
    key, base = found["apiKey"], found["baseUrl"]
    authorized = f'-H "Authorization: Bearer {key}"'
    print(
        f"""
Backroom is running.

  API       {base}
  Console   {found["consoleUrl"]}
  Owner key {key}

  curl {base}/api/products
  curl {authorized} '{base}/api/admin/products?search=shirt'
  curl {authorized} -F file=@infra/sample-catalogue.csv {base}/api/admin/products/import

Ctrl-C stops it; the data stays for the next start (FRESH=1 begins anew). The log follows.
""",
        flush=True,
    )
    for target in (local / str(port) / "endpoint.json", local / "endpoint.json"):
        unfinished = target.with_suffix(f".{os.getpid()}")
        unfinished.write_text(json.dumps(found, indent=2) + "\n")
        unfinished.replace(target)


def follow(emulator: Emulator) -> None:
    """Prints the functions' log until the emulator ends or this process is told to stop."""
    with open(emulator.log, errors="replace") as log:
        log.seek(0, os.SEEK_END)
        while emulator.is_running():
            line = log.readline()
            if line:
                print(line, end="", flush=True)
            else:
                time.sleep(0.3)
    raise SystemExit("the emulator ended")


def main() -> None:
    """Starts, deploys, announces, follows; stops all of it on Ctrl-C and SIGTERM."""
    options = _options()
    local: Path = options.local_dir.resolve()
    home = local / str(options.port)
    if options.fresh:
        shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True, exist_ok=True)
    emulator = Emulator(options.emulator_python, options.port, home)
    os.environ.update(CREDENTIALS | {"AWS_ENDPOINT_URL": emulator.endpoint})
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        emulator.start()
        made = deploy(options.port, local / "packages")
        announce(local, options.port, endpoint(options.port, owner_key(home, made["Table"])))
        follow(emulator)
    except KeyboardInterrupt:
        print("\nstopping …", flush=True)
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        (home / "endpoint.json").unlink(missing_ok=True)
        emulator.stop()


def _interrupt(*_: Any) -> None:
    raise KeyboardInterrupt


def _options() -> argparse.Namespace:
    environment = os.environ
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=int(environment.get("PORT") or 4566))
    fresh = environment.get("FRESH", "") not in {"", "0"}
    parser.add_argument("--fresh", action="store_true", default=fresh)
    parser.add_argument("--local-dir", type=Path, default=_PROJECT / ".local")
    emulator_python = _PROJECT / ".venv-emulator/bin/python"
    parser.add_argument("--emulator-python", type=Path, default=emulator_python)
    return parser.parse_args()


if __name__ == "__main__":
    main()
