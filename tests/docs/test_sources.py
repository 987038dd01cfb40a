"""All files and headings that texts refer to are in the repository."""

import ast
import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
# A path with a folder, or a page, as comments, docstrings and documents write them.
CITED = re.compile(r"(?<![\w/.*{<$-])((?:[\w.-]+/)*[\w.-]+\.md)(?:#([\w-]+))?")


@cache
def files() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files"], cwd=PROJECT, capture_output=True, text=True, check=True
    ).stdout.split("\n")
    return [PROJECT / name for name in listed if (PROJECT / name).is_file()]


def citations(path: Path) -> Iterator[tuple[str, str]]:
    if path.suffix in {".py", ".md", ".yaml", ".toml", ".js", ".json", ".in"}:
        for found in CITED.finditer(path.read_text(encoding="utf-8")):
            yield found[1], found[2] or ""


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    titles = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return set(map(anchor, titles))


def anchor(title: str) -> str:
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


def target(citing: Path, cited: str) -> Path | None:
    places = (citing.parent / cited, PROJECT / cited, PROJECT / "docs" / cited)
    return next((place for place in places if place.exists()), None)


def test_every_cited_page_is_in_the_repository() -> None:
    missing = [
        f"{path.relative_to(PROJECT)}: {cited}"
        for path in files()
        for cited, _ in citations(path)
        if target(path, cited) is None and path != Path(__file__)
    ]
    assert missing == []


def test_every_cited_anchor_is_a_heading() -> None:
    missing = []
    for path in files():
        for cited, anchor in citations(path):
            page = target(path, cited)
            if anchor and page and anchor not in anchors(page):
                missing.append(f"{path.relative_to(PROJECT)}: {cited}#{anchor}")
    assert missing == []


def test_every_decision_is_linked_from_the_page_or_module_that_it_is_about() -> None:
    notes = set((PROJECT / "docs/decisions").glob("*.md"))
    cited = [(path, page) for path in files() if path not in notes for page, _ in citations(path)]
    linked = {found.resolve() for path, page in cited if (found := target(path, page))}
    assert {note.name for note in notes - linked} == set()


def test_the_index_of_decisions_has_each() -> None:
    index = PROJECT / "docs/decisions/README.md"
    linked = {page for page, _ in citations(index)}
    assert {note.name for note in index.parent.glob("*.md") if note != index} <= linked


def test_a_release_has_at_most_40_lines_of_the_changelog() -> None:
    releases = (PROJECT / "CHANGELOG.md").read_text(encoding="utf-8").split("\n## ")[1:]
    assert releases
    for release in releases:
        _, *lines = filter(None, release.splitlines())
        assert len(lines) <= 40, lines[0]


def test_a_page_of_more_than_2_000_words_begins_with_its_contents() -> None:
    missing = []
    for page in (PROJECT / "docs").rglob("*.md"):
        text = page.read_text(encoding="utf-8")
        if len(text.split()) > 2_000:
            beginning = text.partition("\n## ")[0]
            titles = re.findall(r"^## (.+)$", text, re.MULTILINE)
            missing += [
                f"{page.name}: {one}" for one in titles if f"(#{anchor(one)})" not in beginning
            ]
    assert missing == []


@pytest.mark.parametrize("words", ["the pl" + "an", "spec" + ".md", "design" + ".md"])
def test_no_text_refers_to_documents_outside_the_repository(words: str) -> None:
    places = [path for path in files() if path.suffix in {".py", ".md"}]
    naming = [
        path.relative_to(PROJECT).as_posix()
        for path in places
        if re.search(rf"\b{re.escape(words)}\b", path.read_text(encoding="utf-8"))
    ]
    assert naming == []


def test_the_code_cites_the_rules_that_it_carries_out() -> None:
    cited = {anchor for path in files() if path.suffix == ".py" for _, anchor in citations(path)}
    assert {"order-status", "payment-status", "events", "limits", "answers-and-retries"} <= cited


def test_each_large_package_describes_its_modules() -> None:
    """The docstring of a package with more than 12 modules names each module and folder in it."""
    missing = []
    for top in ("chalicelib", "infra", "bench"):
        for init in (PROJECT / top).rglob("__init__.py"):
            folder = init.parent
            inside = {path.stem for path in folder.glob("*.py")} - {"__init__", "__main__"}
            inside |= {path.parent.name for path in folder.glob("*/__init__.py")}
            if len(inside) > 12:
                words = set(
                    re.findall(r"\w+", ast.get_docstring(ast.parse(init.read_text())) or "")
                )
                missing += [f"{folder.relative_to(PROJECT)}: {name}" for name in inside - words]
    assert missing == []
    large = {path.parent for path in files() if path.suffix == ".py"}
    large = {folder for folder in large if len(list(folder.glob("*.py"))) > 13}
    assert [
        folder for folder in large if not (folder / "__init__.py").read_text().startswith('"')
    ] == []
