"""The package that is deployed to the functions."""

import json
import os
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from infra import package
from tests.support.programs import ran

pytestmark = pytest.mark.thorough

_IMPORT = """
import json, sys
import app
from chalicelib.storage import table
table.client()
here = sys.argv[1]
specs = [getattr(m, "__spec__", None) for m in list(sys.modules.values())]
files = {s.origin: s.cached for s in specs if s and str(s.origin).startswith(here)}
print(json.dumps(files))
"""


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("function")
    with zipfile.ZipFile(package.build(package.CACHE).zip) as zipped:
        assert len(zipped.namelist()) == len(set(zipped.namelist()))
        zipped.extractall(target)
    return target


def test_a_cold_start_compiles_nothing(unpacked: Path) -> None:
    environment = {"PYTHONPATH": str(unpacked), "AWS_DEFAULT_REGION": "us-east-1"}
    options: Any = {"cwd": unpacked, "env": os.environ | environment}
    imported = json.loads(ran(sys.executable, "-B", "-c", _IMPORT, unpacked, **options).stdout)
    ours = {path for path in imported if "/chalicelib/" in path}
    libraries = {path for path in imported if "/pydantic/" in path}
    assert ours and libraries
    sources = {path for path in imported if path.endswith(".py")} - {str(unpacked / "app.py")}
    assert [path for path in sources if not Path(imported[path]).exists()] == []


def test_a_module_compiled_from_another_source_is_not_used(unpacked: Path) -> None:
    module = unpacked / "chalicelib/values/money.py"
    source = module.read_text()
    module.write_text(source + "\nmarked = True\n")
    code = "from chalicelib.values import money; assert money.marked"
    ran(sys.executable, "-B", "-c", code, cwd=unpacked)
    module.write_text(source)


def test_the_package_contains_no_path_of_the_build_machine(unpacked: Path) -> None:
    home, compiled = str(package.PROJECT).encode(), list(unpacked.rglob("*.pyc"))
    assert len(compiled) > 100
    assert [path for path in compiled if home in path.read_bytes()] == []


def test_the_package_contains_no_tools_and_no_tests(unpacked: Path) -> None:
    found = {path.name for path in unpacked.iterdir()}
    assert not found & {"pip", "setuptools", "boto3", "botocore", "tests", "infra", "bench"}


def test_the_package_has_what_the_reference_of_the_api_serves(unpacked: Path) -> None:
    code = "from chalicelib.console import reference; print(len(reference.load_files()))"
    environment = {"PYTHONPATH": str(unpacked)}
    assert ran(sys.executable, "-S", "-c", code, cwd=unpacked, env=environment).stdout == "4\n"


def test_what_api_gateway_answers_itself_has_a_code_and_can_be_read_by_a_page() -> None:
    template = package.build(package.CACHE).template
    (body,) = (
        resource["Properties"]["DefinitionBody"]
        for resource in template["Resources"].values()
        if resource["Type"] == "AWS::Serverless::Api"
    )
    answers = body["x-amazon-apigateway-gateway-responses"]
    assert {"DEFAULT_4XX", "DEFAULT_5XX"} <= answers.keys()
    for answer in answers.values():
        header = "gatewayresponse.header.Access-Control-Allow-Origin"
        assert answer["responseParameters"][header] == "'*'"
        text = answer["responseTemplates"]["application/json"]
        told = json.loads(text.replace("$context.error.messageString", '"Too Many Requests"'))
        assert told["code"] and told["message"] == "Too Many Requests"
