"""The request schema that models get with every list of tools: valid, and as short as can be."""

from collections.abc import Mapping
from typing import Any

from garden.tools.wire import RecordedRequest, Request, WriteRequest

Schema = dict[str, Any]

META = "meta"
_SHARED = tuple(str(field.alias) for field in WriteRequest.model_fields.values())
# Lengths and patterns are left out: a call is checked here anyway, and its refusal says what is wrong.
_KEPT = ("type", "description", "enum", "const", "minimum", "maximum")
_KINDS = {"array": " []", "boolean": " (true)"}


def slim_schema(request: type[Request]) -> Schema:
    """Return a request's schema with its shared optional fields in one object, and rare ones named only.

    A field that is not required is optional. Unknown fields are not excluded: the shared ones may also stand
    beside the others.
    """
    full = request.model_json_schema(by_alias=True)
    slim = _slim({**full, "description": None}, full.get("$defs", {}))
    fields, required = slim.setdefault("properties", {}), slim.get("required", ())
    rare = [_note(name, fields.pop(name)) for name in list(fields) if name in request.rare]
    if rare:
        slim["description"] = f"Also takes {', '.join(rare)}."
    if issubclass(request, RecordedRequest):
        shared = [name for name in _SHARED if name in fields and name not in required]
        notes = ", ".join(_note(name, fields.pop(name)) for name in shared)
        fields[META] = {"type": "object", "description": f"{notes}."}
    return slim


def _note(name: str, schema: Schema) -> str:
    return name + _KINDS.get(schema.get("type", ""), "")


def _slim(schema: Schema, definitions: Mapping[str, Schema]) -> Schema:
    schema = _merge_only_option(_inline(schema, definitions), definitions)
    slim = {name: schema[name] for name in _KEPT if schema.get(name) is not None}
    if schema.get("default"):
        slim["default"] = schema["default"]
    if "anyOf" in schema:
        slim["anyOf"] = [_slim(each, definitions) for each in schema["anyOf"]]
    if "items" in schema:
        slim["items"] = _slim(schema["items"], definitions)
    if "properties" in schema:
        slim["properties"] = {name: _slim(each, definitions) for name, each in schema["properties"].items()}
    if "required" in schema:
        slim["required"] = schema["required"]
    return slim


def _inline(schema: Schema, definitions: Mapping[str, Schema]) -> Schema:
    if "$ref" not in schema:
        return schema
    return {**definitions[schema["$ref"].removeprefix("#/$defs/")], **schema}


def _merge_only_option(schema: Schema, definitions: Mapping[str, Schema]) -> Schema:
    """Leave null out of a union, and single items where the union also has a list of them."""
    options = [each for each in schema.get("anyOf", ()) if each != {"type": "null"}]
    if options and options[-1].get("items") == {"anyOf": options[:-1]}:
        options = options[-1:]
    if len(options) != 1:
        return {**schema, "anyOf": options} if options else schema
    return {**_inline(options[0], definitions), **{name: schema[name] for name in schema if name != "anyOf"}}
