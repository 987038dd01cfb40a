"""However few functions an account runs, the API keeps a share of them."""

import pytest
from cfnlint.decode import cfn_yaml

from infra import lanes
from tests.infra.test_templates import INFRA


@pytest.mark.parametrize("limit", [10, 20, 50, 100, 208, 1_000])
def test_what_is_not_the_api_gets_half_of_the_account_or_the_least_there_is(limit: int) -> None:
    chosen = lanes.chosen(limit)
    assert sum(chosen.values()) <= max(limit // 2, sum(lanes._LEAST.values()))
    assert sum(chosen.values()) < limit
    assert all(chosen[name] >= least for name, least in lanes._LEAST.items())


def test_an_account_of_the_usual_size_gets_what_is_wanted() -> None:
    assert lanes.chosen(1_000) == lanes._WANTED


def test_the_template_takes_each_and_wants_the_same_by_itself() -> None:
    parameters = cfn_yaml.load(str(INFRA / "triggers.yaml"))["Parameters"]
    for name, wanted in lanes._WANTED.items():
        assert parameters[name]["Default"] == wanted, name
        assert parameters[name]["MinValue"] == lanes._LEAST[name], name


def test_a_small_account_is_told_what_each_gets_and_how_to_get_more() -> None:
    said = lanes.told(10, {name: str(n) for name, n in lanes.chosen(10).items()})
    assert "runs 10 functions at once" in said and "1 are left for the API" in said
    assert "request-service-quota-increase" in said
    assert "increase" not in lanes.told(1_000, {k: str(n) for k, n in lanes._WANTED.items()})
