"""Tools described for models: the prompt, and the lists in the formats of model services.

The rules are those that the services publish for their tool schemas.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

import mcp_types
import pytest
from jsonschema import Draft202012Validator

from garden.application import Garden
from garden.grammar.errors import GardenError
from garden.home.folder import Home
from garden.tools.declaration import Tool
from garden.tools.descriptions import tool_list, tools_in
from garden.tools.registry import REGISTRY, wire_name
from garden.tools.slim_schemas import slim_schema
from tests.support.gardens import ok
from tests.support.planted import opened

TOOLS = tuple(REGISTRY.values())
NAME = re.compile("[a-zA-Z0-9_-]{1,64}")
DESCRIPTION_CHARACTERS_MAX = 1024
GEMINI_KEYS = {
    "type", "format", "title", "description", "nullable", "enum", "items", "properties", "required", "anyOf",
    "minItems", "maxItems", "minLength", "maxLength", "minimum", "maximum", "pattern", "propertyOrdering",
}  # fmt: skip


def check_name(described: Mapping[str, Any], tool: Tool[Any]) -> None:
    assert NAME.fullmatch(described["name"])
    assert described["name"] == wire_name(tool.name)
    assert 0 < len(described["description"]) <= DESCRIPTION_CHARACTERS_MAX
    assert tool.name.count(".") == 0 or tool.name not in described["description"]


def check_schema(schema: Mapping[str, Any], tool: Tool[Any]) -> None:
    Draft202012Validator.check_schema(schema)
    assert schema["type"] == "object"
    Draft202012Validator(schema).validate(dict(tool.example))


def test_the_list_for_anthropic_keeps_its_rules() -> None:
    for described, tool in zip(tool_list("anthropic", TOOLS), TOOLS, strict=True):
        assert set(described) == {"name", "description", "input_schema"}
        check_name(described, tool)
        check_schema(described["input_schema"], tool)


def test_the_list_for_openai_keeps_its_rules() -> None:
    for described, tool in zip(tool_list("openai", TOOLS), TOOLS, strict=True):
        assert set(described) == {"type", "function"}
        assert described["type"] == "function"
        assert set(described["function"]) == {"name", "description", "parameters"}
        check_name(described["function"], tool)
        check_schema(described["function"]["parameters"], tool)


def test_the_list_for_mcp_is_read_by_the_protocols_own_types() -> None:
    for described, tool in zip(tool_list("mcp", TOOLS), TOOLS, strict=True):
        read = mcp_types.Tool.model_validate(described)
        assert read.model_dump(mode="json", by_alias=True, exclude_none=True) == described
        check_name(described, tool)
        check_schema(described["inputSchema"], tool)


def test_an_unknown_profile_is_refused_with_those_there_are() -> None:
    with pytest.raises(GardenError, match="no profile 'lite'") as refused:
        tools_in(cast("Any", "lite"), TOOLS)
    assert refused.value.hint == "There are lean, full."


def gemini_schemas(schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield schema
    inner = [*schema.get("properties", {}).values(), *schema.get("anyOf", ())]
    for each in [*inner, *([schema["items"]] if "items" in schema else [])]:
        yield from gemini_schemas(each)


def test_the_list_for_gemini_uses_its_part_of_openapi_only() -> None:
    (listed,) = tool_list("gemini", TOOLS)
    assert set(listed) == {"functionDeclarations"}
    for described, tool in zip(listed["functionDeclarations"], TOOLS, strict=True):
        check_name(described, tool)
        fields = slim_schema(tool.request).get("properties", {})
        assert ("parameters" in described) is bool(fields)
        for schema in gemini_schemas(described.get("parameters", {"type": "STRING"})):
            assert set(schema) <= GEMINI_KEYS
            assert ("anyOf" in schema) is ("type" not in schema)
            assert schema.get("type", "OBJECT") in {
                "STRING",
                "NUMBER",
                "INTEGER",
                "BOOLEAN",
                "ARRAY",
                "OBJECT",
            }
            assert ("items" in schema) is (schema.get("type") == "ARRAY")
            assert bool(schema.get("properties")) is (schema.get("type") == "OBJECT")
            assert set(schema.get("required", ())) <= set(schema.get("properties", {}))
            assert all(isinstance(each, str) for each in schema.get("enum", ()))
        assert set(described.get("parameters", {}).get("properties", {})) == set(fields)


@pytest.mark.parametrize("role", ["agent", "reviewer", "maintainer"])
def test_the_prompt_has_every_tool_that_the_caller_may_use_with_parameters_and_example(
    garden: Garden, role: str
) -> None:
    prompt = garden.session("tilda", role=role).prompt()
    allowed = [tool for tool in TOOLS if role in tool.traits.roles]
    assert re.findall(r"^### (\S+)$", prompt, re.MULTILINE) == [tool.name for tool in allowed]
    for tool in allowed:
        (part,) = re.findall(rf"^### {re.escape(tool.name)}$.*?(?=^###|\Z)", prompt, re.MULTILINE | re.DOTALL)
        assert tool.summary in part
        for name in tool.request_schema.get("required", ()):
            assert re.search(rf"^- {name} \(.+, needed\): ", part, re.MULTILINE), (tool.name, name)
        (example,) = re.findall("^- Example: (.*)$", part, re.MULTILINE)
        assert json.loads(example) == json.loads(json.dumps(dict(tool.example)).replace("ada", "tilda"))
    assert ("ifMatch" in prompt.rpartition("###")[2]) is (role != "reviewer")


def test_another_format_is_refused_and_the_formats_are_named(garden: Garden) -> None:
    with pytest.raises(GardenError, match="no format 'claude'") as refused:
        garden.session("ada", "companion").tool_list("claude")  # type: ignore[arg-type]
    assert refused.value.hint == "There are anthropic, openai, mcp, gemini."


def test_a_list_of_values_reads_as_a_list_of_values(garden: Garden) -> None:
    assert "- status (pending|written|committed|failed or list of pending|written|committed|failed)" in (
        garden.session("ada", "companion").prompt()
    )


def test_examples_of_the_prompt_can_be_sent_as_they_are(garden: Garden) -> None:
    tilda = garden.session("tilda")
    for name in ("md.plant", "fs.write", "fs.append"):
        (example,) = re.findall(rf"(?ms)^### {name}\n.*?^- Example: (.*?)$", tilda.prompt())
        ok(tilda, name, **json.loads(example))


def test_a_tool_that_is_denied_or_of_a_later_phase_is_in_no_list(ready_home: Home) -> None:
    policy = '[gateway]\nphase = "observe"\n[gateway.actors.scribe]\nphase = "tend"\n'
    policy += '[gateway.actors.scribe.permissions]\n"fs.write" = "deny"\n"fs.append" = "ask"\n'
    (ready_home.path / "garden.toml").write_text(policy)
    with opened(ready_home) as garden:
        reader, scribe = (
            {each["name"] for each in garden.session("ada", actor).tool_list("anthropic")}
            for actor in ("reader", "scribe")
        )
        for actor, listed in (("reader", reader), ("scribe", scribe)):
            session = garden.session("ada", actor)
            helped = session.call("tools.help", {})["result"]
            assert {wire_name(line.partition(":")[0]) for line in helped} == listed
            lines = session.call("tools.list", {})["result"]
            assert {wire_name(line["name"]) for line in lines if line["allowed"]} == listed
    assert "fs_read" in reader & scribe
    assert {"fs_write", "fs_append"} & reader == set()
    assert {"fs_write", "fs_append"} & scribe == {"fs_append"}
