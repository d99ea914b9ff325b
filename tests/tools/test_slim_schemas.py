"""The slim schema of a request: valid, complete by name, and fit for every example."""

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from garden.tools.declaration import Tool
from garden.tools.registry import REGISTRY
from garden.tools.slim_schemas import META, slim_schema
from garden.tools.wire import RecordedRequest, WriteRequest

every_tool = pytest.mark.parametrize("tool", REGISTRY.values(), ids=lambda tool: tool.name)
SHARED = {field.alias for field in WriteRequest.model_fields.values()}


@every_tool
def test_an_example_fits_both_schemas_and_in_the_slim_one_with_its_shared_fields_gathered(
    tool: Tool[Any],
) -> None:
    slim, example = Draft202012Validator(slim_schema(tool.request)), dict(tool.example)
    Draft202012Validator(tool.request_schema).validate(example)
    slim.validate(example)
    gathered = {
        name: value for name, value in example.items() if name in SHARED - slim.schema["properties"].keys()
    }
    if issubclass(tool.request, RecordedRequest):
        own = {name: value for name, value in example.items() if name not in gathered}
        slim.validate({**own, META: gathered})


@every_tool
def test_a_slim_schema_is_valid_and_has_nothing_that_models_pay_for_in_vain(tool: Tool[Any]) -> None:
    slim = slim_schema(tool.request)
    Draft202012Validator.check_schema(slim)
    for schema in schemas_in(slim):
        assert not {"title", "$ref", "$defs", "additionalProperties"} & schema.keys()
        assert {"type": "null"} not in schema.get("anyOf", ())
        assert schema.get("default", 1) is not None


@every_tool
def test_every_field_has_a_schema_or_is_named_where_models_read_it(tool: Tool[Any]) -> None:
    slim = slim_schema(tool.request)
    fields = slim["properties"]
    notes = f"{slim.get('description', '')} {fields.get(META, {}).get('description', '')}"
    named = set(notes.replace(",", " ").replace(".", " ").split())
    assert set(tool.request_schema["properties"]) <= set(fields) | named
    assert tool.request.rare <= set(tool.request_schema["properties"]) - set(slim.get("required", ()))


def schemas_in(schema: dict[str, Any]) -> list[dict[str, Any]]:
    inner = [*schema.get("properties", {}).values(), *schema.get("anyOf", ())]
    inner += [schema["items"]] if "items" in schema else []
    return [schema, *(each for outer in inner for each in schemas_in(outer))]
