"""The deployed shop that is checked: its requests, its keys, its AWS."""

import json
import os
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.message import Message
from functools import cached_property
from typing import Any, TypeVar

import boto3

from chalicelib.api_keys import store as api_keys
from chalicelib.api_keys.model import Role
from infra import keys, local, record, stacks, steps

_PLENTY = 9_000  # requests a minute of a key
_EDGE = "backroom-verify"
Found = TypeVar("Found")


@dataclass(frozen=True)
class Answer:
    status: int
    headers: "Message[str, str]"
    """Whatever the case of a name."""
    text: bytes
    seconds: float

    @property
    def json(self) -> Any:
        return json.loads(self.text)


@dataclass
class Stage:
    """The stage that is checked.

    `is_trial`: made for this and deleted afterwards, so a check may break it. `load`: products that
    the check of load imports.
    """

    name: str
    is_trial: bool = False
    load: int = 1_000
    receiver: str = ""
    """The address of the receiver of webhooks (`webhooks.run_receiver`)."""
    key_of: dict[str, str] = field(default_factory=dict)
    _key_ids: list[str] = field(default_factory=list)

    @property
    def is_emulated(self) -> bool:
        return "AWS_ENDPOINT_URL" in os.environ

    def aws(self, service: str) -> Any:
        client: Any = boto3.client
        return client(service)

    @cached_property
    def resource_outputs(self) -> stacks.Outputs:
        """Return the outputs of the first stack."""
        return stacks.outputs(steps.stack_name(self.name, "resources"))

    @property
    def base_url(self) -> str:
        """Asked for each time: deployed by Chalice, the API has another address."""
        if self.name == local.STAGE:
            return local.describe_endpoint(os.environ["AWS_ENDPOINT_URL"], "", "")["baseUrl"]
        app = stacks.outputs(steps.stack_name(self.name, "app"))
        if not app:
            if not record.chalice_record(self.name).exists():
                record.pull(self.name, self.resource_outputs["Bucket"])
            api = record.chalice_api(self.name)
            app = {"RestApiId": api["rest_api_id"], "Address": api["rest_api_url"]}
        if self.is_emulated:
            path = f"/_aws/execute-api/{app['RestApiId']}/{self.name}"
            return os.environ["AWS_ENDPOINT_URL"] + path
        return app["Address"].rstrip("/")

    def resource_names(self, step: str, kind: str) -> list[str]:
        """Return the names (of queues: the URLs) of one stack's resources of that type."""
        cloudformation = self.aws("cloudformation")
        pages = cloudformation.get_paginator("list_stack_resources")
        found = pages.paginate(StackName=steps.stack_name(self.name, step))
        each = (one for page in found for one in page["StackResourceSummaries"])
        return [one["PhysicalResourceId"] for one in each if one["ResourceType"] == kind]

    def function_settings(self, function: str = "deliver") -> dict[str, str]:
        """Return the environment of a function."""
        name = f"backroom-{self.name}-{function}" if function else f"backroom-{self.name}"
        found = self.aws("lambda").get_function_configuration(FunctionName=name)
        return dict(found["Environment"]["Variables"])

    # ---- Requests ----

    def role_key(self, role: str) -> str:
        """Return a key of that role without effective limits; `forget_keys` revokes it."""
        if role not in self.key_of:
            keys.use_table(self.resource_outputs["Table"])
            caller, self.key_of[role] = api_keys.mint(f"verify {role}", Role(role))
            api_keys.limit(caller.id, read=_PLENTY, write=_PLENTY)
            self._key_ids.append(caller.id)
        return self.key_of[role]

    def forget_keys(self) -> None:
        for id in self._key_ids:
            api_keys.revoke(id)
        self._key_ids.clear()
        self.key_of.clear()

    def call(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        role: str | None = "OWNER",
        headers: Mapping[str, str] | None = None,
        kind: str = "application/json",
    ) -> Answer:
        """Send one request. `body`: bytes as they are, anything else as JSON."""
        known = {} if role is None else {"Authorization": f"Bearer {self.role_key(role)}"}
        sent = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        if sent is not None:
            known["Content-Type"] = kind
        return send_request(method, self.base_url + path, sent, {**known, **(headers or {})})

    def call_json(self, method: str, path: str, body: object = None, **options: Any) -> Any:
        """Return the JSON of a request that must succeed."""
        answer = self.call(method, f"/api/admin{path}", body, **options)
        if answer.status >= 300:
            raise RuntimeError(f"{method} {path}: {answer.status} {answer.text.decode()[:300]}")
        return answer.json

    def wait_for_job(self, job: str, seconds: float = 300) -> Any:
        """Return the job, once it has ended."""

        def find_ended() -> Any:
            job_now = self.call_json("GET", f"/jobs/{job}")
            return job_now if job_now["status"] in {"COMPLETED", "FAILED"} else None

        return wait_until(find_ended, seconds, f"job {job} did not end")


def send_request(
    method: str, url: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
) -> Answer:
    """Send one request, and return its answer, whatever its status.

    Redirects are followed as by urllib.
    """
    request = urllib.request.Request(url, body, dict(headers or {}), method=method)
    began = time.monotonic()
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return Answer(answer.status, answer.headers, answer.read(), time.monotonic() - began)
    except urllib.error.HTTPError as error:
        return Answer(error.code, error.headers, error.read(), time.monotonic() - began)


def encode_form(fields: Mapping[str, str], file: bytes) -> tuple[bytes, str]:
    """Return a form with a CSV file as its last part, as a browser posts it, and its media type."""
    parts = [
        f'--{_EDGE}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in fields.items()
    ]
    head = 'Content-Disposition: form-data; name="file"; filename="verify.csv"'
    parts.append(f"--{_EDGE}\r\n{head}\r\nContent-Type: text/csv\r\n\r\n")
    body = "".join(parts).encode() + file + f"\r\n--{_EDGE}--\r\n".encode()
    return body, f"multipart/form-data; boundary={_EDGE}"


def wait_until(
    found: Callable[[], Found | None], seconds: float, otherwise: str, pause: float = 1.0
) -> Found:
    """Return the first result of `found` that is not empty.

    Raises TimeoutError with the text `otherwise` after so many seconds.
    """
    ends = time.monotonic() + seconds
    while not (result := found()):
        if time.monotonic() > ends:
            raise TimeoutError(f"{otherwise} within {seconds:.0f} s")
        time.sleep(pause)
    return result
