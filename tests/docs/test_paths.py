"""Each path of the API that a page names is described, with the method that stands before it."""

import re

import pytest

from chalicelib.description import openapi
from tests.docs.test_names import PAGES

pytestmark = pytest.mark.thorough

NAMED = re.compile(
    r"(?<![\w.])(?P<methods>(?:GET|POST|PUT|PATCH|DELETE)(?:`?, `?[A-Z]+)*)? ?`?"
    r"(?P<start>(?:\$API)?/api|…)(?P<path>/[^\s`\"'?),]+)"
)
AN_ID = re.compile(r"\{\w+\}|\w+_\w*…|…|externalId:\d+|linen-shirt")


def is_named_by(described: str, start: str, path: str) -> bool:
    """Whether a named path is a described one, or its end."""
    wanted = path.strip("/.;:").split("/")
    known = described.strip("/").split("/")[1:]
    known = known[-len(wanted) :] if start == "…" else known
    return len(known) == len(wanted) and all(
        bool(AN_ID.fullmatch(given)) if one[0] == "{" else given == one
        for one, given in zip(known, wanted, strict=True)
    )


def test_each_path_that_a_page_names_is_described() -> None:
    paths = openapi.document()["paths"]
    named = {(page.name, found) for page in PAGES for found in NAMED.findall(page.read_text())}
    assert len(named) > 100
    wrong = [
        (page, methods, start + path)
        for page, (methods, start, path) in named
        if path not in ("/admin", "/api")
        and not any(
            is_named_by(described, start, path)
            and all(method.lower() in item for method in re.findall(r"[A-Z]+", methods))
            for described, item in paths.items()
        )
    ]
    assert sorted(wrong) == []
