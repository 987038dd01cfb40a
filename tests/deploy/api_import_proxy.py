"""An HTTP proxy in front of the emulator. It adds a call that `chalice deploy` needs and the
emulator lacks: importing a REST API from a Swagger document (ImportRestApi, PutRestApi).

It also fixes two answers. An API without minimum compression has "" for it, where AWS has no value.
A new function is pending for half a second, for which Chalice would wait in steps of five seconds.
"""

import http.client
import json
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import boto3


class ApiImportProxy:
    """Listens on a free port of loopback; forwards everything except the import of an API."""

    def __init__(self, emulator: str, credentials: Mapping[str, str]) -> None:
        gateway = boto3.client(
            "apigateway",
            endpoint_url=emulator,
            region_name=credentials["AWS_DEFAULT_REGION"],
            aws_access_key_id=credentials["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=credentials["AWS_SECRET_ACCESS_KEY"],
        )

        class Handler(_Handler):
            upstream = urlsplit(emulator).netloc
            importer = _Importer(gateway)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Importer:
    def __init__(self, gateway: Any) -> None:
        self._gateway = gateway

    def create(self, document: Mapping[str, Any], endpoint_type: str) -> str:
        api = self._gateway.create_rest_api(
            name=document["info"]["title"],
            binaryMediaTypes=document.get("x-amazon-apigateway-binary-media-types", []),
            endpointConfiguration={"types": [endpoint_type]},
        )
        self._fill(api["id"], document)
        return str(api["id"])

    def overwrite(self, api: str, document: Mapping[str, Any]) -> None:
        for resource in self._gateway.get_resources(restApiId=api, limit=500)["items"]:
            if resource["path"].count("/") == 1 and resource["path"] != "/":
                self._gateway.delete_resource(restApiId=api, resourceId=resource["id"])
        self._fill(api, document)

    def _fill(self, api: str, document: Mapping[str, Any]) -> None:
        root = self._gateway.get_resources(restApiId=api)["items"][0]["id"]
        made = {"": root}
        for path, operations in document["paths"].items():
            parts = path.strip("/").split("/") if path != "/" else []
            resource = root
            for depth, part in enumerate(parts, start=1):
                prefix = "/".join(parts[:depth])
                if prefix not in made:
                    made[prefix] = self._gateway.create_resource(
                        restApiId=api, parentId=resource, pathPart=part
                    )["id"]
                resource = made[prefix]
            for method, operation in operations.items():
                self._method(api, resource, method.upper(), operation)

    def _method(self, api: str, resource: str, method: str, operation: Mapping[str, Any]) -> None:
        target = {"restApiId": api, "resourceId": resource, "httpMethod": method}
        integration = operation["x-amazon-apigateway-integration"]
        self._gateway.put_method(**target, authorizationType="NONE")
        self._gateway.put_integration(
            **target,
            type=integration["type"].upper(),
            **({"integrationHttpMethod": "POST"} if "uri" in integration else {}),
            **{k: v for k, v in integration.items() if k in {"uri", "requestTemplates"}},
        )
        if "uri" in integration:
            return
        for response in integration.get("responses", {}).values():
            answer = {**target, "statusCode": response["statusCode"]}
            parameters = response.get("responseParameters", {})
            self._gateway.put_method_response(
                **answer, responseParameters=dict.fromkeys(parameters, True)
            )
            self._gateway.put_integration_response(**answer, responseParameters=parameters)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    upstream: str
    importer: _Importer

    def _serve(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        url = urlsplit(self.path)
        query = parse_qs(url.query)
        if self.command == "POST" and url.path == "/restapis" and query.get("mode") == ["import"]:
            endpoint_type = query.get("endpointConfigurationTypes", ["EDGE"])[0]
            self._answer(201, {"id": self.importer.create(json.loads(body), endpoint_type)})
        elif self.command == "PUT" and url.path.startswith("/restapis/"):
            api = url.path.split("/")[2]
            self.importer.overwrite(api, json.loads(body))
            self._answer(200, {"id": api})
        else:
            self._pass_on(body)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = _serve

    def _answer(self, status: int, value: object) -> None:
        self._reply(status, [("Content-Type", "application/json")], json.dumps(value).encode())

    def _pass_on(self, body: bytes) -> None:
        status, headers, answer = self._upstream(body)
        if self.path.startswith("/restapis/"):
            answer = answer.replace(
                b'"minimumCompressionSize": ""', b'"minimumCompressionSize": null'
            )
        if "/functions" in self.path:
            answer = answer.replace(b'"InProgress"', b'"Successful"')
            answer = answer.replace(b'"Pending"', b'"Active"')
        self._reply(status, headers, answer)

    def _upstream(self, body: bytes) -> tuple[int, list[tuple[str, str]], bytes]:
        connection = http.client.HTTPConnection(self.upstream, timeout=60)
        # The Host header is signed, so it is forwarded unchanged.
        connection.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
        for name, value in self.headers.items():
            connection.putheader(name, value)
        connection.endheaders(body)
        response = connection.getresponse()
        answer = response.read()
        connection.close()
        return response.status, response.getheaders(), answer

    def _reply(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
        self.send_response(status)
        for name, value in headers:
            if name.lower() not in {"content-length", "transfer-encoding", "connection"}:
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, file_format: str, *arguments: Any) -> None:
        pass
