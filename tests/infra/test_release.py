"""The release in the package, in the table, and what `deploy.py` makes of it."""

import tomllib
from argparse import Namespace
from pathlib import Path

import pytest

import chalicelib
from chalicelib.listing import RELEASE
from chalicelib.reindexing.store import ALL, note_end
from chalicelib.storage import table
from infra import deploy, release
from tests.support.dynamodb_double import Double
from tests.support.shop import Shop

PROJECT = Path(__file__).resolve().parents[2]
PRODUCTS = "/api/admin/products"


def test_the_client_has_the_release_of_the_service(shop: Shop) -> None:
    package = tomllib.loads((PROJECT / "clients/python/pyproject.toml").read_text())
    assert shop.get("/api").json["release"] == package["project"]["version"]


def test_each_log_line_has_the_release(shop: Shop, capsys: pytest.CaptureFixture[str]) -> None:
    shop.get(PRODUCTS)
    assert f'"release":"{chalicelib.__version__}"' in capsys.readouterr().out


def test_a_release_is_not_skipped_before_its_reindexing_has_ended(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.post(PRODUCTS, {"name": "Mug", "price": 9})
    table.delete(RELEASE)
    release.refuse_to_skip("prod")  # never deployed
    release.note_deployment()
    release.refuse_to_skip("prod")
    formats = {kind.name: kind.number + 1 for kind in release._KINDS}
    table.update(RELEASE, assign={"formats": formats, "release": "0.8.0"})
    unrelated = (
        *("_make_consent", "_given_parameters", "_given_environment"),
        *("_refuse_another_currency", "_refuse_a_scaled_schedule", "_refuse_the_other_way"),
    )
    for each in unrelated:
        monkeypatch.setattr(deploy, each, lambda *_: None)
    monkeypatch.setattr(deploy.keys, "use_table", lambda table: None)
    with pytest.raises(SystemExit, match=r"prod has release 0\.8\.0.*\(product.*reindex\.py"):
        deploy._deploy_stage(Namespace(stage="prod", from_package=None), {"Table": "here"})
    release.note_deployment()
    table.update(RELEASE, assign={"formats": formats})
    release.refuse_to_skip("prod")  # the same release again
    monkeypatch.setattr(release, "__version__", "0.8.0")
    release.refuse_to_skip("prod")  # rolled back
    monkeypatch.setattr(release, "__version__", "0.7.0")
    with pytest.raises(SystemExit):
        release.refuse_to_skip("prod")


def test_a_deployment_keeps_what_was_noted_of_the_reindexing(dynamodb: Double) -> None:
    note_end(records.kind for records in ALL)
    release.note_deployment()
    item = table.get(RELEASE)
    assert item is not None
    assert item["release"] == item["reindexed"] == chalicelib.__version__
