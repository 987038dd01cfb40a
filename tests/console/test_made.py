"""The console's files are made by `make console`, which needs Node; nothing here does."""

import hashlib
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from chalicelib.console import routes

CONSOLE: Final = Path("console")
SOURCES: Final = CONSOLE / "src"
MADE: Final = Path(routes.__file__).parent / "static"
MADE_AGAIN: Final = "the console's files are not of these sources: run `make console`"


def digest(files: Iterable[tuple[str, Path]]) -> str:
    """As `console/build.mjs` computes it."""
    lines = (
        f"{name} {hashlib.sha256(path.read_bytes()).hexdigest()}\n" for name, path in sorted(files)
    )
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def test_the_files_are_of_the_present_sources_and_were_not_edited() -> None:
    digests = json.loads((MADE / "digests.json").read_text())
    build = [CONSOLE / name for name in ("build.mjs", "package-lock.json")]
    kept = [*build, *(path for path in SOURCES.rglob("*") if path.is_file())]
    sources = digest((path.relative_to(CONSOLE).as_posix(), path) for path in kept)
    made = [path for path in MADE.iterdir() if path.suffix in {".js", ".css", ".html"}]
    assert sources == digests["sources"], MADE_AGAIN
    assert digest((path.name, path) for path in made) == digests["files"], MADE_AGAIN


def test_no_module_imports_itself_by_way_of_others() -> None:
    imports = {
        path.resolve(): [
            (path.parent / target).resolve()
            for target in re.findall(r'(?:from |import |import\()"(\.[^"]+)"', path.read_text())
        ]
        for path in SOURCES.rglob("*.js")
    }
    assert sum(map(len, imports.values())) > 300
    while free := [path for path, used in imports.items() if not {*used} & imports.keys()]:
        for path in free:
            del imports[path]
    assert sorted(path.name for path in imports) == []
