"""In Lambda, a request imports only the slice that answers it."""

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from app import app
from chalicelib.request import routes

_SERVE = """
import json, sys
from app import app
app.serve(sys.argv[1])
"""
_MODULES = "print(json.dumps([name for name in sys.modules if name.startswith('chalicelib.')]))"
_METHODS = """
found = app.routes[sys.argv[1]].items()
print(json.dumps({method: entry.view_name for method, entry in found}))
"""
_DESCRIPTION = """
app.serve("/api/openapi.json")
from chalicelib.description import openapi
print(json.dumps(openapi.document()))
"""


def after(first: str, code: str) -> Any:
    """The output of the code in a function whose first request has this path."""
    done = subprocess.run(
        [sys.executable, "-c", _SERVE + code, first],
        env=os.environ | {"AWS_LAMBDA_FUNCTION_NAME": "api"},
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


@pytest.mark.parametrize("path", list(app.routes))
def test_the_imported_modules_serve_their_path(path: str) -> None:
    own = {entry.view_function.__module__ for entry in app.routes[path].values()}
    assert own - {routes.__name__} <= set(app.modules_of(path))


def test_a_function_serves_all_methods_of_its_first_path() -> None:
    path = "/api/admin/webhooks/{id}"
    there = {method: entry.view_name for method, entry in app.routes[path].items()}
    assert after(path, _METHODS) == there


def test_a_product_request_does_not_import_orders_imports_and_webhooks() -> None:
    ours = after("/api/admin/products/{id}", _MODULES)
    assert "chalicelib.products.routes" in ours
    others = ("orders", "customers", "imports", "webhooks", "console", "summary", "openapi")
    assert not [name for name in ours if name.split(".")[1] in others]


def test_the_chalice_command_line_imports_all_routes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_CHALICE_CLI_MODE", "true")
    assert after("", "print(json.dumps(sorted(app.routes)))") == sorted(app.routes)


def test_an_event_that_is_no_request_is_refused_as_by_chalice() -> None:
    for event in ({}, {"resource": None, "warm": True}):
        assert app(event, None)["statusCode"] == 500


def test_a_worker_imports_no_routes() -> None:
    of_slices = [name for name in after("", _MODULES) if name.endswith(".routes")]
    assert of_slices == ["chalicelib.request.routes"]


def test_the_description_does_not_depend_on_the_import_order() -> None:
    one, other = after("/api/admin/orders", _DESCRIPTION), after("/api/products", _DESCRIPTION)
    assert json.dumps(one) == json.dumps(other)
