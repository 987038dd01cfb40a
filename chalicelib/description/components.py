"""From pydantic's schemas to those of the description."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from chalicelib.description import public_names

Schema = dict[str, Any]

REFERENCE: Final = "#/components/schemas/{model}"


def public(node: object) -> Any:
    """Return a node with public names, and texts on one line.

    Titles go: generators take them for names, and some repeat.
    """
    if isinstance(node, list):
        return [public(inner) for inner in node]
    if not isinstance(node, dict):
        return node
    schema_made = {
        key: (
            {name: public(inner) for name, inner in value.items()}
            if key == "properties"
            else public(value)
        )
        for key, value in node.items()
        if key != "title"
    }
    if isinstance(text := schema_made.get("description"), str):
        schema_made["description"] = one_line(text)
    if "$ref" in schema_made:
        name = str(schema_made["$ref"]).rpartition("/")[2]
        schema_made["$ref"] = REFERENCE.format(model=public_names.schema(name))
    return schema_made


def describe_defaults(schema: Schema) -> Schema:
    """Return the schema of a body, which says its defaults in the texts of its properties.

    Generators take a property with a `default` for one that is always there (openapi-typescript),
    or send it (openapi-generator).
    """
    if "properties" not in schema:
        return schema
    properties = dict(schema["properties"])
    for name, field in properties.items():
        if "default" in field:
            properties[name] = {key: value for key, value in field.items() if key != "default"}
            value = field["default"]
            default = value if isinstance(value, str) else json.dumps(value)
            text = field["description"].rstrip(".")
            properties[name]["description"] = f"{text}. Default: `{default}`."
    return {**schema, "properties": properties}


def referenced_schemas(paths: object, definitions: Mapping[str, Schema]) -> dict[str, Schema]:
    """Return the schemas that something refers to, and those that they refer to."""
    schemas: dict[str, Schema] = {}
    wanted = list(references(paths))
    while wanted:
        name = wanted.pop()
        if name in definitions and name not in schemas:
            schemas[name] = definitions[name]
            wanted += references(schemas[name])
    return dict(sorted(schemas.items()))


def references(node: object) -> Iterator[str]:
    """Yield the names of the schemas that a node refers to."""
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"].rpartition("/")[2]
        node = list(node.values())
    if isinstance(node, list):
        for inner in node:
            yield from references(inner)


def one_line(text: str) -> str:
    return " ".join(text.split())


def plain_schemas() -> Any:
    """Return pydantic's generator, without titles made from names and blank defaults."""
    from pydantic.json_schema import GenerateJsonSchema

    class Plain(GenerateJsonSchema):
        def field_title_should_be_set(self, schema: object) -> bool:
            return False

        def default_schema(self, schema: Any) -> Any:
            schema_made = super().default_schema(schema)
            if schema_made.get("default", ...) in ("", None, []):
                del schema_made["default"]
            return schema_made

    return Plain
