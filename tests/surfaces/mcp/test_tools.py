"""The tools over the protocol: what is listed, what a call answers, and how a refusal looks."""

import asyncio
from typing import Any

import jsonschema
import pytest
from mcp import Client
from mcp_types import CallToolResult, TextContent

from garden.access.dispatcher import refusal
from garden.grammar.errors import GardenError
from garden.home.folder import Home
from garden.session import Session
from garden.surfaces.mcp.answers import tool_answer
from garden.surfaces.mcp.handlers import protocol_error
from garden.surfaces.mcp.tool_list import envelope_schema, wire_name
from garden.tools.registry import REGISTRY
from garden.tools.requests import UnknownToolError
from garden.writing.callers import Role
from tests.support.examples import IN_ORDER
from tests.support.gardens import NOTES, plant
from tests.surfaces.mcp.conftest import OLDER, Connect, over_stdio


def envelope_of(result: CallToolResult) -> dict[str, Any]:
    envelope: dict[str, Any] = result.structured_content
    assert result.is_error is not envelope["ok"]
    return envelope


def texts_of(result: CallToolResult) -> list[str]:
    return [content.text for content in result.content if isinstance(content, TextContent)]


async def called(client: Client, tool: str, /, **arguments: Any) -> CallToolResult:
    return await client.call_tool(wire_name(tool), arguments)


def test_every_tool_is_listed_as_the_registry_declares_it(connect: Connect) -> None:
    async def converse() -> None:
        async with connect(role="maintainer") as client:
            listed = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert list(listed) == [wire_name(name) for name in REGISTRY]
        for tool in REGISTRY.values():
            told = listed[wire_name(tool.name)]
            assert told.title == tool.title
            assert told.input_schema == tool.request_schema
            assert told.output_schema == envelope_schema(tool)
            hints = told.annotations
            assert hints is not None
            assert hints.read_only_hint is not tool.traits.writes
            assert hints.destructive_hint is tool.traits.replaces
            assert hints.idempotent_hint is tool.traits.idempotent
            assert hints.open_world_hint is False

    asyncio.run(converse())


def test_a_description_names_other_tools_as_they_are_called_here(connect: Connect) -> None:
    async def converse() -> None:
        async with connect() as client:
            described = {tool.name: tool.description or "" for tool in (await client.list_tools()).tools}
        assert "md_patch_section" in described["fs_write"]
        assert not [name for name, text in described.items() if any(dotted in text for dotted in DOTTED)]

    asyncio.run(converse())


DOTTED = [name for name in REGISTRY if "." in name]


@pytest.mark.parametrize("role", Role)
def test_only_what_a_role_may_use_is_listed(connect: Connect, role: Role) -> None:
    async def converse() -> None:
        async with connect(role=role) as client:
            listed = [tool.name for tool in (await client.list_tools()).tools]
        assert listed == [wire_name(tool.name) for tool in REGISTRY.values() if role in tool.traits.roles]

    asyncio.run(converse())


def test_every_tool_answers_with_the_envelope_that_its_schema_describes(connect: Connect) -> None:
    async def converse() -> None:
        async with connect() as client:
            # From here on the client itself compares each answer with the schema that was listed.
            await client.list_tools()
            for name in IN_ORDER:
                result = await called(client, name, **REGISTRY[name].example)
                envelope = envelope_of(result)
                assert envelope["ok"], (name, envelope)
                assert set(envelope) == {"ok", "result", "meta"}
                jsonschema.validate(envelope, envelope_schema(REGISTRY[name]))
                assert texts_of(result)[0]

    asyncio.run(converse())


def test_every_tool_refuses_with_an_envelope_and_words_that_help(connect: Connect) -> None:
    async def converse() -> None:
        async with connect(role="maintainer") as client:
            await client.list_tools()
            for name, tool in REGISTRY.items():
                result = await called(client, name, unheardOf=1)
                error = envelope_of(result)["error"]
                assert error["code"] == "invalid_input"
                jsonschema.validate(envelope_of(result), envelope_schema(tool))
                assert texts_of(result)[0].startswith("invalid_input: ")
                assert any("unheardOf" in text for text in texts_of(result))

    asyncio.run(converse())


@pytest.mark.parametrize(
    ("tool", "code"),
    [
        ("fs_delete", "delete_not_allowed"),
        ("fs.remove", "delete_not_allowed"),
        ("fs_move", "permission_denied"),
        ("dance", "unknown_tool"),
    ],
)
def test_what_is_no_tool_for_an_agent_is_refused_in_the_same_form(
    connect: Connect, tool: str, code: str
) -> None:
    async def converse() -> None:
        async with connect() as client:
            result = await client.call_tool(tool, {})
            assert envelope_of(result)["error"]["code"] == code
            assert result.is_error
            assert code in texts_of(result)[0]

    asyncio.run(converse())


def test_what_is_said_in_words_names_tools_as_they_are_called_here() -> None:
    envelope = refusal(UnknownToolError("No.", hint="tools.list.", details={"tools": DOTTED}))
    hinted = {"ok": True, "result": None, "meta": {"warnings": ["Use fs.move."], "hint": "See md.lint."}}
    spoken = protocol_error(GardenError("fs.read can't.", hint="Try md.plant.")).error
    told = [text["text"] for each in (envelope, hinted) for text in tool_answer(each)["content"]]
    for text in [*told, spoken.message]:
        assert not [dotted for dotted in DOTTED if dotted in text]
    # For programs it stays as it is on every surface.
    assert tool_answer(envelope)["structuredContent"]["error"]["details"] == {"tools": DOTTED}
    assert spoken.data["message"] == "fs.read can't."


def test_a_read_gives_the_text_itself_and_the_hash_to_go_on_with(connect: Connect, ada: Session) -> None:
    plant(ada, NOTES)
    text = ada.fs.read(NOTES).result

    async def converse() -> None:
        async with connect() as client:
            words, notes = texts_of(await called(client, "fs.read", path=NOTES))
            assert words == text
            assert str(ada.fs.hash(NOTES).result) in notes

    asyncio.run(converse())


def test_nobody_reaches_another_users_garden(connect: Connect, ada: Session) -> None:
    plant(ada, NOTES)

    async def converse() -> None:
        async with connect(user="ben") as client:
            envelope = envelope_of(await called(client, "fs.read", path=NOTES))
            assert envelope["error"]["code"] == "path_not_allowed"

    asyncio.run(converse())


@pytest.mark.parametrize("mode", [OLDER, "auto"])
def test_an_agent_is_told_whose_garden_it_works_in(ready_home: Home, mode: str) -> None:
    async def converse() -> None:
        async with over_stdio(ready_home, mode)() as client:
            assert "users/ada/notes.md" in (client.instructions or "")

    asyncio.run(converse())
