"""No value of any parameter of any operation is a failure of ours."""

import base64
import re
from typing import Any
from urllib.parse import quote

import pytest

from chalicelib.description.openapi import document
from chalicelib.listing import cursor
from tests.support.shop import Shop

pytestmark = pytest.mark.thorough

_CHECK = "0" * 12
# What follows the check of a cursor, which anybody can make.
_BODIES = [
    '["x",1]', '["x",1e400]', '["x",null]', "[null,1]", '["x",-1]', '["x",0]', '["x",true]',
    '["x","1"]', '[["x"],1]', '{"a":1,"b":2}', "null", "7", '""', "[]", '["x",1,2]', "{",
    r'["\ud800",1]', f'["{"x" * 1200}",1]', r'["\u0000",1]', "[" * 1_400, f'["x",{"9" * 308}]',
]  # fmt: skip
_CURSORS = [base64.urlsafe_b64encode(f"{_CHECK}{body}".encode()).decode() for body in _BODIES]
_VALUES = [
    "", " ", ",", "0", "-1", "1.5", "NaN", "1e400", "9" * 308, "9" * 4_000, "-" + "9" * 40, "null",
    "true", "\x00", "\ud800", "\u2028", "\U0001f600", "é" * 300, "x" * 5_000, "*", "#", "/", "..",
    "{}", "[]", '{"a":1}', "%", "%ZZ", "0001-01-01", "9999-12-31", "9999-12-31T23:59:59-23:59",
    "0001-01-01T00:00:00+23:59", "10000-01-01", "20261123", "1795447561", "2026-02-30",
    "2026-11-23T25:00:00Z", "cus_1", "prod_" + "0" * 26, "ord_" + "Z" * 26, "active", "-updatedAt",
]  # fmt: skip
_DESCRIPTION = document()


def _parameters(operation: Any) -> list[Any]:
    shared = _DESCRIPTION["components"].get("parameters", {})
    return [
        shared[each["$ref"].rpartition("/")[2]] if "$ref" in each else each
        for each in operation.get("parameters", ())
    ]


_OPERATIONS = [
    pytest.param(method.upper(), path, parameters, id=f"{method} {path}")
    for path, item in _DESCRIPTION["paths"].items()
    for method, operation in item.items()
    if (parameters := _parameters(operation))
]


@pytest.mark.parametrize(("method", "path", "parameters"), _OPERATIONS)
def test_any_value_of_a_parameter_is_answered_or_refused(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, method: str, path: str, parameters: Any
) -> None:
    monkeypatch.setattr(cursor, "_checksum", lambda asked, body: _CHECK)
    owner = shop.as_("OWNER")
    for place, value in enumerate([*_VALUES, *_CURSORS]):
        # Each from an address of its own: the limits of the storefront do not answer instead.
        visitor = Shop(f"10.0.{place // 250}.{place % 250 + 1}")
        for parameter in parameters:
            answer = _asked(visitor, owner, method, path, parameter=parameter, value=value)
            assert answer.status < 500 and answer.status != 429, (parameter, value, answer.text)


@pytest.mark.parametrize("begin", ["", "prod_", "ord_", "cus_", "job_", "cnt_", "wh_", "key_"])
def test_a_record_with_an_id_too_long_for_a_key_is_not_found(shop: Shop, begin: str) -> None:
    for path, item in _DESCRIPTION["paths"].items():
        at = re.sub(r"{\w+}", f"{begin}{'x' * 3_000}", path)
        if path.startswith("/api/admin/") and at != path and "get" in item:
            assert shop.get(at).status == 404, path


def _asked(visitor: Shop, key: str, method: str, path: str, *, parameter: Any, value: str) -> Any:
    name, written = parameter["name"], quote(value, safe="", errors="surrogatepass")
    headers = {}
    if parameter["in"] == "path":
        path = path.replace(f"{{{name}}}", written)
    at = re.sub(r"{\w+}", "x_1", path)
    if parameter["in"] == "query":
        at = f"{at}?{name}={written}"
    if parameter["in"] == "header":
        headers = {name: value}
    return visitor.call(method, at, key=key, headers=headers)
