"""Prepares Chalice's own commands, and ends them with a message if something is missing."""

import argparse
import json
import os
import socket
import sys
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

_PROJECT = Path(__file__).resolve().parent.parent
_PUBLIC: Final = {
    "gatewayresponse.header.Access-Control-Allow-Origin": "'*'",
    "gatewayresponse.header.Access-Control-Expose-Headers": "'Retry-After'",
}
_CODES: Final = {  # by API Gateway's name of its answer
    "DEFAULT_4XX": "gateway_refused",
    "DEFAULT_5XX": "gateway_failed",
    "REQUEST_TOO_LARGE": "payload_too_large",
    "THROTTLED": "rate_limited",
}
# API Gateway's own answers have the shape of the API's, and a page of another site can read them.
GATEWAY_RESPONSES: Final[dict[str, Any]] = {
    name: {
        "responseParameters": _PUBLIC
        | ({"gatewayresponse.header.Retry-After": "'1'"} if name == "THROTTLED" else {}),
        "responseTemplates": {
            "application/json": f'{{"code":"{code}","message":$context.error.messageString}}'
        },
    }
    for name, code in _CODES.items()
}


def prepare() -> None:
    """Prepare the application for a command of Chalice that imports it.

    It ends the command with a message if it cannot work.
    """
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("command", nargs="?")
    parser.add_argument("--stage", default="dev")
    parser.add_argument("--profile")
    given, _ = parser.parse_known_args()
    if given.command in {"deploy", "package"}:
        _add_gateway_responses()
    if given.command == "deploy":
        _must_be_made(given.stage, given.profile)
    elif given.command == "local":
        _use_what_runs()


def _add_gateway_responses() -> None:
    """Add `GATEWAY_RESPONSES` to the API body that Chalice makes; set elsewhere, they would go."""
    from chalice.deploy.swagger import SwaggerGenerator

    generate = SwaggerGenerator.generate_swagger

    def generate_with_responses(generator: Any, app: Any, rest_api: Any = None) -> dict[str, Any]:
        body: dict[str, Any] = generate(generator, app, rest_api)
        return body | {"x-amazon-apigateway-gateway-responses": GATEWAY_RESPONSES}

    SwaggerGenerator.generate_swagger = generate_with_responses  # type: ignore[method-assign, assignment]


def _must_be_made(stage: str, profile: str | None) -> None:
    config = json.loads((_PROJECT / ".chalice/config.json").read_text())
    if stage not in config.get("stages", {}):
        raise SystemExit(
            f"The stage {stage} has no tables, queues and roles yet. This makes all of it:"
            f" .venv/bin/python infra/deploy.py --stage {stage}"
        )
    import boto3

    from infra import record

    record.refuse_elsewhere(stage, boto3.session.Session(profile_name=profile).region_name)


def _use_what_runs() -> None:
    """Use the tables, queues, bucket and settings of `make run`.

    This process serves the API, and the workers of `make run` do the rest.
    """
    try:
        found = json.loads((_PROJECT / ".local/endpoint.json").read_text())
        aws = urlsplit(found["awsEndpoint"])
        socket.create_connection((aws.hostname or "", aws.port or 80), timeout=5).close()
    except OSError:
        sentence = "There are no tables to work on: start `make run` in another terminal first."
        print(sentence, file=sys.stderr, flush=True)
        os._exit(1)  # Chalice calls this in a separate thread, and SystemExit would end only that
    import boto3

    from infra import local, steps
    from infra.emulator import credentials

    os.environ.update(credentials(found["awsKey"]) | {"AWS_ENDPOINT_URL": found["awsEndpoint"]})
    api = steps.function_names(local.STAGE)[0]
    deployed = boto3.client("lambda").get_function_configuration(FunctionName=api)
    own = deployed["Environment"]["Variables"]
    del own["BASE_PATH"]  # here the API is at the root
    os.environ.update(own)
    print(f"Served with the data of {found['baseUrl']}; the Owner key is {found['apiKey']}")
