"""`infra/counts.py` counts the days of the stage, not those of the machine that it runs on."""

from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import boto3
import pytest

from chalicelib.values import clock
from infra import counts
from tests.orders.build import placed
from tests.support.shop import Shop


def test_sales_are_counted_in_the_time_zone_of_the_stage(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    zone = {"TIMEZONE": "Pacific/Auckland"}

    def configuration(FunctionName: str) -> Any:
        assert FunctionName == "backroom-test-check_counts"
        return {"Environment": {"Variables": zone}}

    deployed = SimpleNamespace(get_function_configuration=configuration)
    monkeypatch.setattr(boto3, "client", {"lambda": deployed}.__getitem__)
    monkeypatch.setenv("TIMEZONE", zone["TIMEZONE"])
    late = f"{(clock.now() - timedelta(days=2)).date()}T23:00:00Z"  # the next day in Auckland
    placed(shop, orderDate=late, paymentStatus="PAID")
    capsys.readouterr()
    monkeypatch.setenv("TIMEZONE", "UTC")
    counts.main(["--stage", "test", "--repair"])
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if not line.endswith(" 0 wrong totals")] == []
    zone.clear()
    counts.main(["--stage", "test"])
    assert "paid: 1, should be 0" in capsys.readouterr().out
