"""`infra/keys.py`: how an operator manages the keys of a stage."""

from pathlib import Path

import pytest

from infra import keys, local
from tests.support.shop import Shop

STAGE = ["--stage", "test"]


def printed(capsys: pytest.CaptureFixture[str], *command: str) -> str:
    capsys.readouterr()
    keys.main([*STAGE, *command])
    return capsys.readouterr().out


def test_an_operator_creates_a_working_key(shop: Shop, capsys: pytest.CaptureFixture[str]) -> None:
    key = printed(capsys, "create", "Nightly import", "ADMIN").split()[-1]
    assert shop.get("/api/admin/me", key=key).json["name"] == "Nightly import"


def test_an_operator_s_key_has_a_name_as_any_other(shop: Shop) -> None:
    for wrong in (" ", "x" * 101):
        with pytest.raises(SystemExit, match="name: "):
            keys.main([*STAGE, "create", wrong, "ADMIN"])


def test_the_stage_local_is_never_looked_for_on_aws(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    monkeypatch.setattr(keys, "LOCAL_ENDPOINT", tmp_path / "endpoint.json")
    with pytest.raises(SystemExit, match="Start `make run`"):
        keys.main(["--stage", "local", "list"])


def test_an_operator_lists_keys_without_their_secrets(
    shop: Shop, capsys: pytest.CaptureFixture[str]
) -> None:
    key = shop.mint("STAFF")
    id = shop.get("/api/admin/me", key=key).json["id"]
    lines = printed(capsys, "list")
    assert id in lines
    assert key not in lines


def test_an_operator_raises_and_resets_the_limits_of_a_key(
    shop: Shop, capsys: pytest.CaptureFixture[str]
) -> None:
    key = shop.mint("STAFF")
    id = shop.get("/api/admin/me", key=key).json["id"]
    output = printed(capsys, "limits", id, "--read", "600")
    assert output == f"{id}: 600 reads and 60 writes a minute.\n"
    raised = shop.get("/api/admin/me", key=key)
    assert raised.headers["X-RateLimit-Limit"] == "600"
    assert raised.json["limits"] == {"read": 600, "write": 60}
    assert "120" in printed(capsys, "limits", id)
    assert shop.get("/api/admin/me", key=key).headers["X-RateLimit-Limit"] == "120"


def test_an_operator_cannot_revoke_the_last_owner_key(
    shop: Shop, capsys: pytest.CaptureFixture[str]
) -> None:
    key = shop.mint("STAFF")
    id = shop.get("/api/admin/me", key=key).json["id"]
    printed(capsys, "revoke", id)
    assert shop.get("/api/admin/me", key=key).status == 401
    owner = shop.get("/api/admin/me").json["id"]
    with pytest.raises(SystemExit, match="last Owner"):
        keys.main([*STAGE, "revoke", owner])


def test_the_first_owner_key_of_a_stage_is_created_once(aws: None) -> None:
    first = keys.first_owner_key("backroom-test")
    assert first is not None
    assert Shop().get("/api/admin/me", key=first).json["role"] == "OWNER"
    assert keys.first_owner_key("backroom-test") is None


def test_an_owner_key_of_make_run_that_was_revoked_is_replaced(shop: Shop, tmp_path: Path) -> None:
    first = local.owner_key(tmp_path, "backroom-test")
    assert local.owner_key(tmp_path, "backroom-test") == first
    id = shop.get("/api/admin/me", key=first).json["id"]
    assert shop.delete(f"/api/admin/keys/{id}").status == 200
    second = local.owner_key(tmp_path, "backroom-test")
    assert shop.get("/api/admin/me", key=second).json["role"] == "OWNER"
    assert (tmp_path / "owner-key").stat().st_mode & 0o77 == 0


def test_a_limit_that_is_no_number_or_below_one_is_refused(
    shop: Shop, capsys: pytest.CaptureFixture[str]
) -> None:
    key = shop.mint("STAFF")
    id = shop.get("/api/admin/me", key=key).json["id"]
    for wrong in ("0", "many"):
        with pytest.raises(SystemExit):
            keys.main([*STAGE, "limits", id, "--read", wrong])
        assert "--read: must be a whole number of at least 1" in capsys.readouterr().err
    assert shop.get("/api/admin/me", key=key).json["limits"] == {"read": 120, "write": 60}


def test_an_operator_creates_an_expiring_key_and_sees_last_uses(
    shop: Shop, capsys: pytest.CaptureFixture[str]
) -> None:
    made = printed(capsys, "create", "Audit", "READER", "--expires", "2060-06-30")
    known = shop.get("/api/admin/me", key=made.split()[-1])
    assert known.json["expiresAt"] == "2060-06-30T00:00:00.000Z"
    (line,) = [one for one in printed(capsys, "list").splitlines() if "Audit" in one]
    assert "2060-06-30" in line and known.json["createdAt"][:10] in line.split("2060-06-30")[1]
    for wrong in ("soon", "2001-01-01"):
        with pytest.raises(SystemExit):
            keys.main([*STAGE, "create", "Audit", "READER", "--expires", wrong])
        assert "argument --expires: must be" in capsys.readouterr().err
