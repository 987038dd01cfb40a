"""The time of a cold start by memory size of the function, from compiled modules and from sources.

AWS gives a vCPU at 1,769 MB, and less in proportion; here a control group of the kernel does, which
takes root. The package is the one that is deployed, boto3 is the emulator's own.
"""

import os
import subprocess
import tempfile
import time
import zipfile
from pathlib import Path
from statistics import median

from infra import package

SIZES = (256, 512, 1024, 1769, 3008)
RUNS = 3
_PERIOD = 20_000  # microseconds, as Lambda's
_PYTHON = package.PROJECT / ".venv-emulator/bin/python"
_CODE = (
    'from app import app; app.serve("/api/admin/products"); '
    "from chalicelib.storage import table; table.client()"
)
_ROOT = Path("/sys/fs/cgroup")


def main() -> None:
    group = _ROOT / ("cpu/backroom-bench" if (_ROOT / "cpu").exists() else "backroom-bench")
    try:
        group.mkdir(exist_ok=True)
    except OSError as error:
        print(f"needs a control group: {error}")
        return
    with tempfile.TemporaryDirectory() as home:
        compiled, sources = Path(home, "compiled"), Path(home, "sources")
        for folder in (compiled, sources):
            with zipfile.ZipFile(package.build(package.CACHE).zip) as zipped:
                zipped.extractall(folder)
        for module in sources.rglob("*.pyc"):
            module.unlink()
        print("seconds until the catalogue can answer its first request: median (least)")
        for megabytes in SIZES:
            _limit(group, megabytes)
            print(f"{megabytes:>5} MB", *(_seconds(group, f) for f in (sources, compiled)))
    group.rmdir()


def _limit(group: Path, megabytes: int) -> None:
    quota = _PERIOD * megabytes // 1769
    if (group / "cpu.max").exists():
        (group / "cpu.max").write_text(f"{quota} {_PERIOD}")
    else:
        (group / "cpu.cfs_period_us").write_text(str(_PERIOD))
        (group / "cpu.cfs_quota_us").write_text(str(quota))


def _seconds(group: Path, folder: Path) -> str:
    found = []
    for _ in range(RUNS):
        start = time.perf_counter()
        inside = f"echo $$ > {group}/cgroup.procs; exec {_PYTHON} -B -c '{_CODE}'"
        known = {
            "PYTHONPATH": str(folder),
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_LAMBDA_FUNCTION_NAME": "api",
        }
        subprocess.run(["sh", "-c", inside], env=os.environ | known, cwd=folder, check=True)
        found.append(time.perf_counter() - start)
    kind = "compiled" if folder.name == "compiled" else "sources only"
    return f"  {kind} {median(found):.2f} ({min(found):.2f})"


if __name__ == "__main__":
    main()
