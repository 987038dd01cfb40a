"""Write the client's models and operations, and the synchronous client.

The models and operations come from the description of the API, the synchronous client from the
asynchronous one.

    python clients/python/generate.py < openapi.json      (or `make client`)

Each schema becomes a TypedDict or an alias, each operation a method of `AsyncOperations`, and each
list a second method that walks through all of it. Nothing is chosen by hand, and nothing is left
out: it stops where the description says what it does not know (docs/decisions/python-client.md).
"""

from __future__ import annotations

import json
import keyword
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).resolve().parent / "src" / "backroom"
METHODS = ("get", "post", "put", "patch", "delete")
_WIDTH = 96
_HEAD = '"""{what}\n\nWritten by `generate.py` from the description of the API: do not edit.\n"""\n'
_PLAIN = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
_AMOUNT = {"number", "string"}
_DELIVERY_ID = {
    "type": "string",
    "description": "Of the delivery: the same on every attempt. Use it to drop repeats.",
}
_DERIVED = ("client.py", "transport.py")
_WITHOUT_ASYNCIO = (
    (r"\basync (?=def|with|for)", ""),
    (r"\bawait ", ""),
    (r"\bAwaitable\[([\w.]+)\]", r"\1"),
    (r"\basync_sleep\b", "sleep"),
    (r"\bbackroom\.asynchronous\.", "backroom."),
    (r"\bAsync(?=[A-Z])", ""),
    (r"\b(__)?a(?=enter__|exit__|close\b|read\b|iter_bytes\b)", r"\1"),
)

Schema = dict[str, Any]


def generate_files(description: Schema) -> dict[str, str]:
    """Return the formatted text of each generated file by its name."""
    writer = Writer(description)
    operations = writer.write_operations()  # before the models: it names those that are needed
    written = {"asynchronous/operations.py": operations, "models.py": writer.write_models()}
    files = {name: _format_code(text, name) for name, text in written.items()}
    by_hand = {name: (PACKAGE / "asynchronous" / name).read_text() for name in _DERIVED}
    for name, text in {**by_hand, "operations.py": files["asynchronous/operations.py"]}.items():
        files[name] = _format_code(to_synchronous(text, name), name)
    return files


def to_synchronous(text: str, name: str) -> str:
    """Return the same module for programs without asyncio."""
    for pattern, replacement in _WITHOUT_ASYNCIO:
        text = re.sub(pattern, replacement, text)
    if name not in _DERIVED:
        return text
    first, _, rest = text.partition('"""\n')
    says = f"Written by `generate.py` from `asynchronous/{name}`: do not edit."
    return f'{first}\n\n{says}\n"""\n{rest}'


class Writer:
    def __init__(self, description: Schema) -> None:
        self._description = description
        self._schemas: dict[str, Schema] = dict(description["components"]["schemas"])
        self._needed: dict[str, Schema] = {}
        self._used: set[str] = set()  # by the operations

    # ---- Types ----

    def type_of(self, schema: Schema | bool, name: str) -> str:
        """Return the type of a schema. `name`: of the class, if it needs one of its own."""
        if isinstance(schema, bool) or not schema.keys() - {"description", "title", "examples"}:
            return "Any"
        if "$ref" in schema:
            return self._use_reference(schema["$ref"].rpartition("/")[2])
        if "const" in schema:
            return f"Literal[{schema['const']!r}]"
        if "enum" in schema:
            return f"Literal[{', '.join(map(repr, schema['enum']))}]"
        for word in ("anyOf", "oneOf"):
            if word in schema:
                return self._union_type(schema[word], name)
        if "allOf" in schema:
            assert len(schema["allOf"]) == 1, f"{name}: allOf of several"
            return self.type_of(schema["allOf"][0], name)
        kind = schema.get("type")
        if isinstance(kind, list):
            return self._union_type([{**schema, "type": each} for each in kind], name)
        if kind == "array":
            return f"list[{self.type_of(schema.get('items', True), _singular(name))}]"
        if kind == "object" or "properties" in schema:
            return self._object_type(schema, name)
        return _PLAIN[kind]

    def _union_type(self, options: list[Schema], name: str) -> str:
        if {each.get("type") for each in options} - {"null"} == _AMOUNT:
            null = any(each.get("type") == "null" for each in options)
            return "Amount | None" if null else "Amount"
        own = [each for each in options if "properties" in each]
        found: list[str] = []
        for place, option in enumerate(options):
            called = f"{name}{place + 1}" if len(own) > 1 and option in own else name
            found += self.type_of(option, called).split(" | ")
        if "None" in found:
            found = [each for each in found if each != "None"] + ["None"]
        return " | ".join(dict.fromkeys(found))

    def _object_type(self, schema: Schema, name: str) -> str:
        if not schema.get("properties"):
            values = schema.get("additionalProperties", True)
            return f"dict[str, {self.type_of(values or True, name + 'Value')}]"
        assert self._schemas.get(name, schema) == schema, f"two schemas want the name {name}"
        self._schemas[name] = schema
        return self._use_reference(name)

    def _use_reference(self, reference: str) -> str:
        name = _class_name(reference)
        if name not in self._needed:
            self._needed[name] = self._schemas[reference]
            # So that what it refers to is needed, too.
            self._write_definition(name, self._needed[name])
        return name

    # ---- Models ----

    def write_models(self) -> str:
        received = "\n|".join(self._use_received_events())
        parts = [self._write_definition(name, self._needed[name]) for name in sorted(self._needed)]
        # What is an alias of literals first: classes may name what follows, aliases may not.
        parts.sort(key=lambda part: ("TypeAlias" not in part, '= "' in part))
        return "\n".join(
            [
                _HEAD.format(what="What the API takes and answers."),
                "from __future__ import annotations\n",
                "from collections.abc import Sequence",
                "from decimal import Decimal",
                "from typing import Any, Literal\n",
                "from typing_extensions import NotRequired, Required, TypeAlias, TypedDict\n",
                'Amount: TypeAlias = "Decimal | float | str"',
                *parts,
                f"ReceivedEvent: TypeAlias = (\n{received}\n)",
                '"""What `verify` returns. Its `event` tells the kinds apart."""',
            ]
        )

    def _use_received_events(self) -> Iterator[str]:
        """Yield the class of each event that a receiver gets: its body, with its delivery's id."""
        for item in self._description["webhooks"].values():
            content = item["post"]["requestBody"]["content"]["application/json"]
            name = content["schema"]["$ref"].rpartition("/")[2]
            body = self._schemas[name]
            self._schemas[name] = {
                **body,
                "required": ["id", *body["required"]],
                "properties": {"id": _DELIVERY_ID, **body["properties"]},
            }
            yield self._use_reference(name)

    def _write_definition(self, name: str, schema: Schema) -> str:
        if not schema.get("properties"):
            written = self.type_of({key: schema[key] for key in schema if key != "title"}, name)
            if schema.get("type") == "array":  # a list of one of several classes fits
                written = written.replace("list[", "Sequence[", 1)
            alias = written if written.startswith("Literal") else json.dumps(written)
            return f"{name}: TypeAlias = {alias}\n{_write_docstring(schema, '')}\n"
        required = set(schema.get("required", ()))
        members = {
            member: self.type_of(inner, name + _class_name(member))
            for member, inner in schema["properties"].items()
        }
        if any(not each.isidentifier() or keyword.iskeyword(each) for each in members):
            kinds = {
                member: f"{'Required' if member in required else 'NotRequired'}[{kind}]"
                for member, kind in members.items()
            }
            return f"{name} = TypedDict({name!r}, {kinds!r})\n"
        lines = [f"class {name}(TypedDict):", _write_docstring(schema, "    ")]
        for member, kind in members.items():
            whole = kind if member in required else f"NotRequired[{kind}]"
            lines.append(f"    {member}: {whole}")
            lines.append(_write_docstring(schema["properties"][member], "    "))
        return "\n".join(line for line in lines if line) + "\n\n"

    # ---- Operations ----

    def write_operations(self) -> str:
        methods = [
            method
            for operation in self._list_operations()
            for method in self._write_methods(operation)
        ]
        models = sorted(self._used)
        return "\n".join(
            [
                _HEAD.format(what="One method for each operation of the API."),
                "from __future__ import annotations\n",
                "from collections.abc import AsyncIterator, Sequence",
                "from datetime import date, datetime",
                "from typing import Any, Literal\n",
                f"from backroom.models import {', '.join(models)}",
                "from backroom.asynchronous.transport import AsyncTransport, walk",
                "from backroom.shared import AUTOMATIC\n\n",
                "class AsyncOperations:",
                "    _transport: AsyncTransport\n",
                *methods,
            ]
        )

    def _list_operations(self) -> Iterator[tuple[str, str, Schema]]:
        for path, item in sorted(self._description["paths"].items()):
            for method in METHODS:
                if method in item:
                    yield method.upper(), path, item[method]

    def _write_methods(self, listed: tuple[str, str, Schema]) -> Iterator[str]:
        method, path, operation = listed
        name = method_name(operation["operationId"])
        wanted = [self._resolve(each) for each in operation.get("parameters", ())]
        in_path = [each["name"] for each in wanted if each["in"] == "path"]
        in_query = {each["name"]: each for each in wanted if each["in"] == "query"}
        in_header = [
            each["name"]
            for each in wanted
            if each["in"] == "header" and each["name"] != "If-None-Match"  # every answer is whole
        ]
        positional = [f"{_variable_name(each)}: str" for each in in_path]
        named, sent = [], []
        media, body = self._body_type(operation, _class_name(name))
        is_required = self._resolve(operation.get("requestBody", {})).get("required", False)
        if media == "multipart/form-data":
            positional += ["file: bytes", "file_name: str"]
            sent.append("file=(file_name, file)")
        elif media is not None:
            positional.append(f"body: {body}" + ("" if is_required else " | None = None"))
            sent.append("body=body")
        for each in in_query.values():
            named.append(self._write_query_parameter(each))
        if in_query:
            pairs = ", ".join(f"{each!r}: {_variable_name(each)}" for each in in_query)
            sent.append(f"query={{{pairs}}}")
        for each in in_header:
            given = "str = AUTOMATIC" if each == "Idempotency-Key" else "str | None = None"
            named.append(f"{_variable_name(each)}: {given}")
        if in_header:
            pairs = ", ".join(f"{each!r}: {_variable_name(each)}" for each in in_header)
            sent.append(f"headers={{{pairs}}}")
        named.append("timeout: float | None = None")
        sent.append("timeout=timeout")
        signature = ", ".join(["self", *positional, "*", *named])
        answer, schema = self._answer_type(operation, _class_name(name))
        template = re.sub(r"{\w+}", "{}", path)
        parameters = f"({', '.join(map(_variable_name, in_path))},)" if in_path else "()"
        call = ", ".join([repr(method), repr(template), parameters, *sent])
        yield "\n".join(
            [
                f"    async def {name}({signature}) -> {answer}:",
                _write_method_docstring(method, path, operation),
                f"        answer: {answer} = await self._transport.call({call})",
                "        return answer\n",
            ]
        )
        item = self._find_item_type(schema, _class_name(name))
        if item and in_query.keys() & {"cursor", "page"}:
            steers = {"cursor", "page"}
            # A list by number answers no page beyond 6 MB; one by cursor ends such a page early.
            begin = {"cursor": "*"} if in_query.keys() >= steers else {}
            kept = [text for text in named if text.partition(":")[0] not in steers]
            kept = [text.replace("limit: int | None = None", "limit: int = 100") for text in kept]
            pairs = ", ".join(
                f"{each!r}: {_variable_name(each)}" for each in in_query if each not in steers
            )
            listed_by = name.startswith("list_")
            walks = (
                f"iter_{name.removeprefix('list_') if listed_by else _to_snake_case(item) + 's'}"
            )
            signature = ", ".join(["self", *positional, "*", *kept])
            summary = f"Yield all items of `{name}`, page by page."
            yield "\n".join(
                [
                    f"    def {walks}({signature}) -> AsyncIterator[{item}]:",
                    f'        """{summary} `limit`: of a page."""',
                    f"        asked: dict[str, Any] = {{{pairs}}}",
                    "        return walk(",
                    f"            lambda at: self._transport.call({method!r}, {template!r},"
                    f" {parameters}, query={{**asked, **at}}, timeout=timeout),",
                    f"            begin={begin})\n",
                ]
            )

    def _resolve(self, parameter: Schema) -> Schema:
        found: Any = parameter
        while "$ref" in found:
            place: Any = self._description
            for part in found["$ref"].removeprefix("#/").split("/"):
                place = place[part]
            found = place
        return dict(found)

    def _note_use(self, kind: str) -> str:
        for word in re.findall(r"\w+", re.sub(r"Literal\[[^]]*\]", "", kind)):
            if word in self._needed or word == "Amount":
                self._used.add(word)
        return kind

    def _write_query_parameter(self, parameter: Schema) -> str:
        schema = parameter["schema"]
        kind = self.type_of(schema, _class_name(parameter["name"]))
        if found := re.fullmatch(r"list\[(.*)\]", kind):
            # Members may also be named in one text, comma-separated.
            one = "str" if parameter["name"] == "fields" else found[1]
            kind = f"{one} | Sequence[{one}]" if one != "str" else "str | Sequence[str]"
        elif kind == "float":
            kind = "Amount"
        elif "date" in _list_formats(schema) or parameter["name"] in ("from", "to"):
            kind = f"{kind} | date | datetime"
        if parameter.get("required"):
            return f"{_variable_name(parameter['name'])}: {self._note_use(kind)}"
        kind = " | ".join(dict.fromkeys([*kind.split(" | "), "None"]))
        return f"{_variable_name(parameter['name'])}: {self._note_use(kind)} = None"

    def _body_type(self, operation: Schema, name: str) -> tuple[str | None, str]:
        if "requestBody" not in operation:
            return None, ""
        content = self._resolve(operation["requestBody"])["content"]
        assert len(content) == 1, f"{name}: several kinds of body"
        media, described = next(iter(content.items()))
        if media == "multipart/form-data":
            return media, ""
        return media, self._note_use(self.type_of(described["schema"], name + "Body"))

    def _answer_type(self, operation: Schema, name: str) -> tuple[str, Schema | None]:
        kinds: dict[str, Schema | None] = {}
        for status, response in operation["responses"].items():
            if not status.startswith("2"):
                continue
            content = self._resolve(response).get("content", {})
            if not content:
                kinds["None"] = None
            for media, described in content.items():
                if media.endswith("json"):
                    schema = described.get("schema", {})
                    kinds[self._note_use(self.type_of(schema, name + "Answer"))] = schema
                else:
                    kinds["str"] = None
        assert kinds, f"{name} answers nothing"
        return " | ".join(kinds), next(iter(kinds.values()))

    def _find_item_type(self, schema: Schema | None, name: str) -> str | None:
        """Return the type of the items of an answer's list; None if the answer has no list."""
        if schema is None:
            return None
        whole = self._resolve(schema) if "$ref" in schema else schema
        data = whole.get("properties", {}).get("data", {})
        if data.get("type") != "array":
            return None
        return self._note_use(self.type_of(data["items"], name + "Item"))


def _list_formats(schema: Schema) -> str:
    parts = [schema, *schema.get("anyOf", ())]
    return " ".join(str(each.get("format", "")) for each in parts)


def method_name(operation_id: str) -> str:
    """Return the method of an operation: `listOrders` → `list_orders`."""
    return _to_snake_case(operation_id)


def _to_snake_case(name: str) -> str:
    words = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name)
    return re.sub(r"\W+", "_", words).strip("_").lower()


def _variable_name(name: str) -> str:
    made = _to_snake_case(name)
    return made + "_" if keyword.iskeyword(made) else made


def _class_name(name: str) -> str:
    words = re.split(r"[^A-Za-z0-9]+", name)
    return "".join(word[:1].upper() + word[1:] for word in words)


def _singular(name: str) -> str:
    return name.removesuffix("s") if not name.endswith("ss") else name


def _write_docstring(schema: Schema, indent: str) -> str:
    told = " ".join(str(schema.get("description", "")).split())
    return _quote_docstring(told, indent) if told else ""


def _write_method_docstring(method: str, path: str, operation: Schema) -> str:
    summary = operation.get("summary", "").strip().rstrip(".")
    told = " ".join(operation.get("description", "").split())
    role = f", from the role {operation['x-role']} on" if "x-role" in operation else ""
    return _quote_docstring(f"{summary}.", "        ", told, f"`{method} {path}`{role}.")


def _quote_docstring(first: str, indent: str, *more: str) -> str:
    def wrap(text: str) -> str:
        safe = text.replace("\\", "\\\\").replace('"""', "'''")
        return textwrap.fill(
            safe,
            _WIDTH,
            initial_indent=indent,
            subsequent_indent=indent,
            break_long_words=False,
            break_on_hyphens=False,
        ).removeprefix(indent)

    paragraphs = [wrap(each) for each in (first, *more) if each]
    text = f"\n\n{indent}".join(paragraphs)
    end = f"\n{indent}" if len(paragraphs) > 1 else " " if text.endswith('"') else ""
    return f'{indent}"""{text}{end}"""'


def _format_code(text: str, name: str) -> str:
    ruff = [sys.executable, "-m", "ruff"]
    configured = ["--config", str(PACKAGE.parents[1] / "pyproject.toml")]
    for step in (
        ["check", "--fix", "--quiet", "--exit-zero", *configured],
        ["format", *configured],
    ):
        done = subprocess.run(
            [*ruff, *step, "--stdin-filename", str(PACKAGE / name), "-"],
            input=text,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise SystemExit(done.stderr)
        text = done.stdout
    return text


def main() -> None:
    for name, text in generate_files(json.load(sys.stdin)).items():
        (PACKAGE / name).write_text(text)


if __name__ == "__main__":
    main()
