"""Compiled modules for the package.

Chalice packs sources only, and a function cannot keep what it compiles, so that it would compile
everything again at each cold start (docs/costs.md). They go where Chalice takes files from:
next to our modules, and for the libraries into `vendor/`, whose files join the libraries' own in
the zip. Each carries its source's hash: one that is out of date is not used, and next to our
modules it is renewed by the next import, as by `chalice deploy`.
"""

import compileall
import importlib.util
import py_compile
import shutil
from pathlib import Path

# What a cold start imports (tests/infra/test_package.py).
_LIBRARIES = (
    "annotated_types",
    "anyascii",
    "aws_lambda_powertools",
    "chalice",
    "jmespath",
    "multipart",
    "orjson",
    "pydantic",
    "pydantic_core",
    "typing_extensions",
    "typing_inspection",
)
_CHECKED = py_compile.PycInvalidationMode.CHECKED_HASH


def add(project: Path) -> None:
    """Compiles the modules of a project and what its functions import of the libraries here."""
    vendor = project / "vendor"
    shutil.rmtree(vendor, ignore_errors=True)
    for name in _LIBRARIES:
        found = importlib.util.find_spec(name)
        assert found is not None and found.origin is not None, name
        source = Path(found.origin)
        base = source.parent.parent if source.name == "__init__.py" else source.parent
        files = source.parent.rglob("*.py") if source.name == "__init__.py" else [source]
        for file in files:
            _compile(file, vendor, file.relative_to(base))
    compileall.compile_dir(
        project / "chalicelib", quiet=1, force=True, invalidation_mode=_CHECKED, stripdir=project
    )


def _compile(source: Path, vendor: Path, module: Path) -> None:
    py_compile.compile(
        str(source),
        importlib.util.cache_from_source(str(vendor / module)),
        dfile=str(module),  # what a traceback calls it
        doraise=True,
        invalidation_mode=_CHECKED,
    )
