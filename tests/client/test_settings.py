"""The client reads keys from the environment, or from a file that only its owner can read."""

import os
import stat
from pathlib import Path

import pytest
from backroom import Backroom, NotSignedIn, settings
from backroom.settings import Settings

KEPT = Settings("https://shop.example.com", "key_kept")


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {"XDG_CONFIG_HOME": str(tmp_path / "config")}


def test_a_saved_key_is_loaded(environment: dict[str, str]) -> None:
    file = settings.save(KEPT, environment)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert settings.load(environment) == KEPT
    settings.save(Settings(KEPT.url, "key_new"), environment)
    assert settings.load(environment).key == "key_new"
    assert [each.name for each in file.parent.iterdir()] == ["credentials.json"]


def test_a_file_readable_by_others_is_refused(environment: dict[str, str]) -> None:
    file = settings.save(KEPT, environment)
    for mode in (0o640, 0o604, 0o620):
        file.chmod(mode)
        with pytest.raises(NotSignedIn, match=r"chmod 600"):
            settings.load(environment)


def test_the_environment_overrides_the_file(environment: dict[str, str]) -> None:
    settings.save(KEPT, environment)
    given = {"BACKROOM_URL": "https://other.example.com", "BACKROOM_KEY": "key_given"}
    assert settings.load(environment | given) == Settings("https://other.example.com", "key_given")
    assert settings.load(environment | {"BACKROOM_KEY": "key_given"}).url == KEPT.url


def test_an_address_is_the_same_with_a_slash_at_its_end(environment: dict[str, str]) -> None:
    settings.save(Settings(f"{KEPT.url}/", KEPT.key), environment)
    assert settings.load(environment) == KEPT
    assert settings.load(environment | {"BACKROOM_URL": f"{KEPT.url}/"}) == KEPT
    given = {"BACKROOM_URL": f"{KEPT.url}//", "BACKROOM_KEY": KEPT.key}
    assert settings.load(environment | given) == KEPT


def test_a_saved_key_is_not_used_for_another_shop(environment: dict[str, str]) -> None:
    settings.save(KEPT, environment)
    with pytest.raises(NotSignedIn, match="BACKROOM_KEY"):
        settings.load(environment | {"BACKROOM_URL": "https://other.example.com"})


def test_a_missing_key_is_explained(environment: dict[str, str]) -> None:
    with pytest.raises(NotSignedIn, match="backroom login"):
        Backroom.from_environment(environment)
    file = settings.save(KEPT, environment)
    file.write_text("{")
    with pytest.raises(NotSignedIn, match="damaged"):
        settings.load(environment)


def test_no_key_is_printed() -> None:
    assert "key_kept" not in repr(KEPT)


def test_the_default_file_is_below_the_home_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    bare = {name: value for name, value in os.environ.items() if not name.startswith("XDG_")}
    assert settings.path(bare) == tmp_path / ".config/backroom/credentials.json"
    assert settings.path({"BACKROOM_CONFIG": "/elsewhere"}) == Path("/elsewhere")
