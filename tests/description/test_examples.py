"""The examples in the API's description are answers of the code."""

import json
from typing import Any

import pytest
from pydantic import ConfigDict, TypeAdapter

import app
from chalicelib.description import openapi
from chalicelib.request.routes import operations
from chalicelib.webhooks.model import EventKind
from chalicelib.webhooks.schemas import event_shape
from tests.support import examples


@pytest.fixture(scope="module")
def made() -> Any:
    return examples.made()


def test_the_file_has_the_examples_that_the_code_makes(made: Any) -> None:
    there = json.loads(examples.FILE.read_text())
    for part in made:
        assert there[part].keys() == made[part].keys(), "run `make examples`"
        for name, example in made[part].items():
            assert there[part][name] == example, f"{name} has changed: run `make examples`"


def test_every_operation_has_an_example_request_and_answer() -> None:
    app.app.serve(openapi.PATH)
    described = openapi.document()["paths"]
    for method, path in operations:
        operation = described[path][method.lower()]
        good = [one for status, one in operation["responses"].items() if status.startswith("2")]
        answers = [media for one in good for media in one["content"].values()]
        assert all("example" in media for media in answers), (
            f"{method} {path}: tests/support/examples.py"
        )
        needs_body = method != "GET" and "requestBody" in operation
        bodies = operation["requestBody"]["content"].values() if needs_body else ()
        assert all("example" in media for media in bodies), (
            f"{method} {path}: tests/support/examples.py"
        )
        for parameter in operation["parameters"]:
            assert parameter["in"] != "path" or parameter["example"] != "…"


def test_every_error_status_has_an_example_made_by_the_code() -> None:
    app.app.serve(openapi.PATH)
    described = openapi.document()
    responses = described["components"]["responses"]
    for method, path in operations:
        for status, answer in described["paths"][path][method.lower()]["responses"].items():
            if "$ref" not in answer:
                assert status < "400"
                continue
            if status in {"431", "502", "504"}:  # API Gateway's own
                continue
            (media,) = responses[answer["$ref"].rpartition("/")[2]]["content"].values()
            assert media["examples"], f"{method} {path} {status}: tests/support/examples.py"
            for code, example in media["examples"].items():
                assert example["value"]["code"] == code and example["value"]["message"]


def test_every_event_kind_has_an_example_of_its_body(made: Any) -> None:
    webhooks = openapi.document()["webhooks"]
    assert webhooks.keys() == made["events"].keys() == {kind.value for kind in EventKind}
    for kind in EventKind:
        example = webhooks[kind.value]["post"]["requestBody"]["content"]["application/json"][
            "example"
        ]
        assert example == made["events"][kind.value]
        shape = TypeAdapter(list[event_shape(kind)[0]], config=ConfigDict(extra="forbid"))  # type: ignore[misc]
        shape.validate_json(json.dumps([example["data"]]), strict=True)


def test_no_example_contains_a_key_or_a_secret() -> None:
    text = examples.FILE.read_text()
    assert "bk_…" in text and "whsec_…" in text
    assert "X-Amz-Signature" not in text
