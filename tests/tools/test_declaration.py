"""Every tool's declaration is complete, and its example works."""

import re
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import pytest
from pydantic.alias_generators import to_camel

from garden import tools
from garden.session import Session
from garden.tools.declaration import Tool
from garden.tools.registry import REGISTRY
from garden.writing.callers import Role
from tests.support.examples import FOR_MAINTAINERS, IN_ORDER, arguments_of
from tests.support.gardens import result

every_tool = pytest.mark.parametrize("tool", REGISTRY.values(), ids=lambda tool: tool.name)


def test_the_registry_knows_every_tool_that_a_module_declares() -> None:
    modules = [import_module(f"{tools.__name__}.{each.name}") for each in iter_modules(tools.__path__)]
    declared = [tool for module in modules for tool in getattr(module, "TOOLS", ())]
    assert list(REGISTRY.items()) == [
        (tool.name, tool) for tool in sorted(declared, key=lambda tool: tool.name)
    ]


@every_tool
def test_a_tool_explains_itself(tool: Tool[Any]) -> None:
    assert re.fullmatch(r"(?:[a-z]+\.)?[a-z_]+", tool.name)
    assert tool.title
    assert not tool.title.endswith(".")
    for words in (tool.summary, tool.description):
        assert words.endswith(".")
        assert "  " not in words
        assert "\n" not in words
    assert tool.traits.roles <= set(Role)
    assert tool.traits.roles


@every_tool
def test_an_example_is_a_request_that_the_tool_takes(tool: Tool[Any]) -> None:
    request = tool.request.model_validate(dict(tool.example))
    sent = request.model_dump(mode="json", by_alias=True, exclude_unset=True)
    assert sent == dict(tool.example)


@every_tool
def test_every_field_is_camel_case_and_described(tool: Tool[Any]) -> None:
    for name, field in tool.request_schema["properties"].items():
        assert name == to_camel(name), name
        said = {"change", "status", "toolCallId", "transactionId", "agentActionId"}
        assert field.get("description") or name in said, name
    assert tool.request_schema["additionalProperties"] is False


def test_only_tools_that_write_are_closed_to_anybody() -> None:
    for tool in REGISTRY.values():
        if not tool.traits.writes and tool.name != "propose_change":
            assert tool.traits.roles == frozenset(Role), tool.name
        if tool.traits.writes:
            assert Role.REVIEWER not in tool.traits.roles, tool.name
    for name in ("fs.move", "md.repair", "md.restore", "md.undo"):
        assert REGISTRY[name].traits.roles == {Role.MAINTAINER}


def test_no_tool_deletes() -> None:
    assert not [name for name in REGISTRY if re.search("delete|remove|unlink", name)]


def test_the_tools_are_listed_with_their_purpose(ada: Session) -> None:
    listed = result(ada, "tools.list")
    assert [each["name"] for each in listed] == list(REGISTRY)
    assert all(set(each) == {"name", "summary", "writes", "allowed"} for each in listed)
    assert {each["name"] for each in listed if not each["allowed"]} == FOR_MAINTAINERS


def test_every_tool_is_explained_with_its_schemas_and_an_example(ada: Session) -> None:
    for tool in REGISTRY.values():
        page = result(ada, "tools.help", tool=tool.name)
        told = {
            "name": tool.name, "title": tool.title, "summary": tool.summary, "description": tool.description,
            "writes": tool.traits.writes, "roles": sorted(tool.traits.roles), "example": dict(tool.example),
            "requestSchema": tool.request_schema, "resultSchema": tool.result_schema,
        }  # fmt: skip
        assert page == told


def test_the_examples_can_be_sent_one_after_the_other(ada: Session) -> None:
    results: dict[str, Any] = {}
    for name in IN_ORDER:
        results[name] = result(ada, name, **arguments_of(name, results))
    assert set(REGISTRY) - set(IN_ORDER) == FOR_MAINTAINERS
