"""How `make run` prints the log lines of telemetry.py."""

import re

import pytest

from chalicelib import telemetry
from infra.log_lines import render_line

pytestmark = pytest.mark.usefixtures("configured")

AT = 1_800_000_020_000


def line(capsys: pytest.CaptureFixture[str], function: str = "") -> str:
    return render_line(function, capsys.readouterr().out.strip(), AT)


def test_a_request_is_printed_as_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    metrics = {"Requests": 1, "LatencyMs": 12.3, "ClientErrors": 0}
    asked = {"method": "POST", "route": "/api/admin/orders", "status": 201, "keyId": "key_1"}
    telemetry.log_metrics("request", metrics, requestId="r", **asked)
    assert re.fullmatch(r"\d\d:\d\d:\d\d  POST   /api/admin/orders → 201 in 12 ms", line(capsys))


def test_a_log_message_is_printed_with_its_nonzero_fields(
    capsys: pytest.CaptureFixture[str],
) -> None:
    telemetry.log_metrics("import finished", {"Created": 20, "Failed": 0}, jobId="job_1")
    told = line(capsys, "import_chunk")
    assert told.endswith(
        "  import_chunk: import finished  jobId=job_1  Created=20"
    ) or told.endswith("  import_chunk: import finished  Created=20  jobId=job_1")


def test_an_error_is_printed_with_its_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    try:
        raise ValueError("too bad")
    except ValueError:
        telemetry.error("it failed", jobId="job_1")
    told = line(capsys, "run_job")
    assert "run_job: ERROR: it failed" in told and "ValueError: too bad" in told
    assert "Traceback" in told and "\n" in told


def test_a_line_that_is_not_json_is_printed_unchanged() -> None:
    assert render_line("deliver", "Task timed out", AT).endswith("  deliver: Task timed out")
    assert render_line("deliver", "12", AT).endswith("  deliver: 12")
