"""The address and the key of a shop: from the environment, or else from a file.

Only its owner may read the file. It has the shops by the name of their profile.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from backroom.errors import BackroomError


class NotSignedIn(BackroomError):
    """There is no key, or none that may be used."""


@dataclass(frozen=True)
class Settings:
    """The address and the key of a shop. Its representation has no key."""

    url: str
    key: str

    def __repr__(self) -> str:
        return f"Settings(url={self.url!r}, key=…)"


def path(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the file with the keys: `BACKROOM_CONFIG`, or one in the user's configuration."""
    if named := environment.get("BACKROOM_CONFIG"):
        return Path(named)
    home = environment.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(home) / "backroom" / "credentials.json"


def profile(environment: Mapping[str, str] = os.environ) -> str:
    """Return the name of the profile that is used: `BACKROOM_PROFILE`, or `default`."""
    return environment.get("BACKROOM_PROFILE") or "default"


def state_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the folder where `listen` saves its position in the feed."""
    home = environment.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(home) / "backroom"


def load(environment: Mapping[str, str] = os.environ) -> Settings:
    """Return the shop to use: of the environment, or else of the profile in the file.

    Raises NotSignedIn if there is none, or if the address of another shop comes without its key.
    """
    url, key = (
        _normalize_address(environment.get("BACKROOM_URL") or ""),
        environment.get("BACKROOM_KEY"),
    )
    if url and key:
        return Settings(url, key)
    name, known = profile(environment), profiles(environment)
    if name not in known:
        missing = f"There is no profile {name}, only {', '.join(known)}" if known else ""
        raise NotSignedIn(
            f"{missing or 'Not signed in'}: run `backroom login`, or set BACKROOM_URL and"
            " BACKROOM_KEY."
        )
    kept = known[name]
    if url and not key and url != kept.url:  # a key is sent to its own shop alone
        raise NotSignedIn("BACKROOM_URL is set without BACKROOM_KEY: set both, or neither.")
    return Settings(url or kept.url, key or kept.key)


def save(
    settings: Settings,
    environment: Mapping[str, str] = os.environ,
    profile: str = "default",
) -> Path:
    """Save a shop under the name of a profile, and return the file, which only its owner reads."""
    return _write_profiles({**profiles(environment), profile: settings}, environment)


def remove(profile: str, environment: Mapping[str, str] = os.environ) -> Path:
    """Remove a profile from the file, and return the file.

    Raises NotSignedIn if the file has no profile of this name.
    """
    known = profiles(environment)
    if profile not in known:
        raise NotSignedIn(f"{path(environment)} has no profile {profile}.")
    return _write_profiles({name: known[name] for name in known if name != profile}, environment)


def profiles(environment: Mapping[str, str] = os.environ) -> dict[str, Settings]:
    """Return all saved shops by their profile. Raises NotSignedIn if the file may not be used."""
    file = path(environment)
    try:
        mode = stat.S_IMODE(file.stat().st_mode)
    except FileNotFoundError:
        return {}
    if os.name == "posix" and mode & 0o077:
        raise NotSignedIn(f"{file} has mode {mode:o}, so others can read the key: chmod 600 {file}")
    try:
        kept = json.loads(file.read_text())
        return {
            str(name): Settings(_normalize_address(str(each["url"])), str(each["key"]))
            for name, each in kept["profiles"].items()
        }
    except (ValueError, KeyError, TypeError, AttributeError):
        raise NotSignedIn(f"{file} is damaged: remove it, and run `backroom login`.") from None


def write_private(target: Path, text: str) -> None:
    """Write a file of mode 600, whole or not at all."""
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    unfinished = target.with_name(f".{target.name}.{os.getpid()}")
    unfinished.unlink(missing_ok=True)
    with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(target)


def _normalize_address(url: str) -> str:
    """Return the address without a slash at its end, so that equal shops have equal addresses."""
    return url.rstrip("/")


def _write_profiles(kept: Mapping[str, Settings], environment: Mapping[str, str]) -> Path:
    target = path(environment)
    shops = {name: {"url": each.url, "key": each.key} for name, each in kept.items()}
    write_private(target, json.dumps({"profiles": shops}, indent=2) + "\n")
    return target
