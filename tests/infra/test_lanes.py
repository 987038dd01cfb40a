"""The API keeps a share of the account's concurrency, even of a small one."""

import pytest

from infra import deploy, lanes
from tests.infra.test_templates import function_of, mappings
from tests.support.templates import load_template


@pytest.mark.parametrize("limit", [10, 20, 40, 50, 91, 92, 100, 198, 1_000])
def test_the_workers_get_half_of_the_account_or_the_minimum(limit: int) -> None:
    total = lanes.COLUMNS[lanes.choose_column(limit)]
    assert total <= max(limit / 2, lanes.COLUMNS["least"]) < limit


def test_an_account_of_default_size_gets_the_default_lanes() -> None:
    assert lanes.choose_column(1_000) == "usual"


def test_each_column_of_the_template_has_its_total_and_the_minimum_of_aws() -> None:
    template = load_template("triggers.yaml")
    columns = template["Mappings"]["Concurrency"]
    assert set(template["Parameters"]["Lanes"]["AllowedValues"]) == set(columns)
    for name, total in lanes.COLUMNS.items():
        assert sum(columns[name].values()) == total, name
    for column in columns.values():
        assert 1 <= column["FanOut"] <= 10
        assert all(2 <= n <= 1_000 for lane, n in column.items() if lane != "FanOut")


def test_the_chosen_lanes_are_deployed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lanes, "account_limit", lambda: 10)
    assert deploy._with_lanes({"A": "b"}) == {"A": "b", "Lanes": "least"}
    assert deploy._with_lanes({"Lanes": "few"})["Lanes"] == "few"
    widths = {
        (function_of(each["FunctionName"]), width["Fn::FindInMap"][2])
        for each in mappings().values()
        if (width := each.get("ScalingConfig", {}).get("MaximumConcurrency", 2)) != 2
        or (width := each.get("ParallelizationFactor"))
    }
    assert widths == {
        ("import_chunk", "Imports"),
        ("run_job", "Jobs"),
        ("deliver", "Deliveries"),
        ("deliver", "Retries"),
        ("fan_out", "FanOut"),
    }


def test_a_small_account_gets_a_hint_about_its_quota() -> None:
    said = lanes.summary(10, lanes.choose_column(10))
    assert "runs 10 functions at once" in said and "1 are left for the API" in said
    assert "request-service-quota-increase" in said
    assert "increase" not in lanes.summary(1_000, "usual")
    assert "wide" in lanes.summary(1_000, "wide")
