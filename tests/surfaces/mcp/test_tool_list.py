"""The list of tools: what it costs a model, and that it never differs between two calls."""

import asyncio
import json

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from garden.home.folder import Home
from garden.home.settings import Profile
from garden.surfaces.mcp.tool_list import envelope_schema, tools_for
from garden.tools.registry import REGISTRY, wire_name
from garden.writing.callers import Role
from tests.support.mcp_lines import Lines
from tests.support.mcp_service import Service
from tests.support.processes import environment
from tests.surfaces.mcp.conftest import NEWER, OLDER, over_http, over_stdio, server_command

CHARACTERS_OF_A_TOKEN = 4
TOKENS_MAX: dict[Profile, int] = {"lean": 1500, "full": 6000}


@pytest.mark.parametrize("profile", TOKENS_MAX)
@pytest.mark.parametrize("role", Role)
def test_a_profile_costs_a_model_no_more_than_it_may(profile: Profile, role: Role) -> None:
    tools = [tool.model_dump(by_alias=True, exclude_none=True) for tool in tools_for(role, profile)]
    text = json.dumps({"tools": tools}, ensure_ascii=False, separators=(",", ":"))
    assert len(text) / CHARACTERS_OF_A_TOKEN <= TOKENS_MAX[profile]


def test_the_list_is_the_same_text_in_every_call_and_process(ready_home: Home) -> None:
    texts = set()
    for seed in ("1", "2"):
        env = {**environment(ready_home.path), "PYTHONHASHSEED": seed}
        with Lines(server_command("ada", "maintainer", "--profile", "full"), env) as server:
            server.greet()
            texts |= {json.dumps(server.ask("tools/list")["result"]) for _ in range(2)}
    assert len(texts) == 1


@pytest.mark.parametrize("mode", [OLDER, NEWER])
def test_the_address_names_the_profile_and_a_wrong_one_is_refused(service: Service, mode: str) -> None:
    async def scene(profile: str) -> None:
        async with over_http(service, mode)(profile=profile) as client:
            if profile in TOKENS_MAX:
                listed = [tool.name for tool in (await client.list_tools()).tools]
                assert listed == [tool.name for tool in tools_for(Role.AGENT, profile)]
            else:
                with pytest.raises(MCPError, match="must be lean or full"):
                    await client.list_tools()

    for profile in (*TOKENS_MAX, "huge"):
        asyncio.run(scene(profile))


def test_the_schemas_of_answers_are_listed_on_request_and_clients_check_by_them(ready_home: Home) -> None:
    async def scene() -> None:
        connect = over_stdio(ready_home, OLDER)
        async with connect(more=("--profile", "full", "--output-schemas")) as client:
            await check(client)

    async def check(client: Client) -> None:
        for tool in (await client.list_tools()).tools:
            [own] = [each for each in REGISTRY.values() if wire_name(each.name) == tool.name]
            assert tool.output_schema == envelope_schema(own)
        # The client itself compares the answer with the schema.
        assert (await client.call_tool("tools_help", {})).structured_content["ok"]

    asyncio.run(scene())
