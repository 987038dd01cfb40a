"""The reference of the API at `/console/reference`, and the guide at `/console/guide`.

The reference is Swagger UI, and the page that starts it.

Swagger UI comes with aws-lambda-powertools, which the functions carry anyway.
"""

import hashlib
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final

_LIBRARY: Final = "aws_lambda_powertools"
_BUNDLE: Final = "event_handler/openapi/swagger_ui"  # below it
_SCRIPT: Final = "swagger-ui-bundle.min.js"
_STYLES: Final = "swagger-ui.min.css"
PAGE: Final = "index.html"
_START: Final = "start.js"


@cache
def load_files() -> dict[str, str]:
    """Load what is served, by name."""
    library = find_spec(_LIBRARY)  # which imports nothing of it
    assert library is not None and library.submodule_search_locations
    ours, theirs = Path(__file__).parent, Path(library.submodule_search_locations[0], _BUNDLE)
    paths = (ours / PAGE, ours / _START, theirs / _SCRIPT, theirs / _STYLES)
    return {path.name: path.read_text(encoding="utf-8") for path in paths}


@cache
def load_guide() -> str:
    """Load the guide of the console, which `make examples` makes from docs/console.md."""
    return (Path(__file__).parent / "guide.html").read_text(encoding="utf-8")


@cache
def version() -> str:
    """Return a text that differs for other files."""
    return hashlib.sha256(repr(load_files()).encode()).hexdigest()[:12]
