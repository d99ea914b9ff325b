"""The review card: a client that shows pages in the chat has a person approve or deny a diff there."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest
from mcp import Client
from mcp.client.extension import advertise
from mcp_types import CallToolResult, ElicitResult, TextResourceContents

from garden.application import Garden
from garden.home.folder import Home
from garden.surfaces.mcp.review import URI
from tests.support.gardens import NOTES, asking_garden
from tests.support.mcp_service import Service
from tests.surfaces.mcp.conftest import NEWER, OLDER, over_http, over_stdio

APPS = advertise("io.modelcontextprotocol/ui", {"mimeTypes": ["text/html;profile=mcp-app"]})
WORDS = {"path": NOTES, "text": "Slept well."}


@pytest.fixture
def garden(ready_home: Home) -> Iterator[Garden]:
    with asking_garden(ready_home) as garden:
        yield garden


@pytest.fixture(params=[OLDER, NEWER])
def play(request: pytest.FixtureRequest, service: Service) -> Callable[..., None]:
    """Plays a scene with a client of each protocol that shows cards."""

    def play(scene: Callable[[Client], Awaitable[None]], **options: Any) -> None:
        async def run() -> None:
            async with over_http(service, request.param)(**{"extensions": [APPS], **options}) as client:
                await scene(client)

        asyncio.run(run())

    return play


async def asked(client: Client) -> tuple[dict[str, Any], str]:
    """Make a call that is asked about; returns its details and the card's code."""
    answer = await client.call_tool("fs_append", WORDS)
    assert answer.meta is not None
    assert answer.structured_content["error"]["code"] == "permission_required"
    code = answer.meta["memory-garden/review"]["code"]
    # What the model sees has no code.
    assert code not in json.dumps(answer.model_dump(mode="json", include={"content", "structured_content"}))
    return answer.structured_content["error"]["details"], code


async def answered(client: Client, approval_id: str, code: str, approve: object = True) -> CallToolResult:
    return await client.call_tool(
        "review_answer", {"approvalId": approval_id, "code": code, "approve": approve}
    )


@pytest.mark.parametrize("approve", [True, False])
def test_a_person_answers_on_the_card(play: Callable[..., None], garden: Garden, approve: bool) -> None:
    async def scene(client: Client) -> None:
        details, code = await asked(client)
        assert "+Slept well." in details["diff"]
        state = (await answered(client, details["approvalId"], code, approve)).structured_content["result"]
        assert state == {"state": "approved" if approve else "denied"}
        sent_again = (await client.call_tool("fs_append", WORDS)).structured_content
        assert sent_again["ok"] is approve
        late = (await answered(client, details["approvalId"], code)).structured_content["result"]
        assert late == {"state": "used" if approve else "denied"}

    play(scene)
    [found] = garden.decisions.list(garden.session("ada", "grace", role="reviewer").caller)
    assert found.decided_by == "person"


def test_without_the_code_of_this_very_card_nothing_is_answered(
    play: Callable[..., None], garden: Garden
) -> None:
    async def scene(client: Client) -> None:
        details, code = await asked(client)
        other = garden.session("ada", "else").call("fs.append", WORDS)["error"]["details"]["approvalId"]
        guesses = [(details["approvalId"], ""), (details["approvalId"], "0" * 64), (other, code)]
        for approval_id, guess in guesses:
            refused = (await answered(client, approval_id, guess)).structured_content["error"]
            assert refused["code"] == "permission_denied"
        malformed = (await answered(client, details["approvalId"], code, "yes")).structured_content["error"]
        assert malformed["code"] == "invalid_input"

    play(scene)
    found = garden.decisions.list(garden.session("ada", "grace", role="reviewer").caller)
    assert {each.state for each in found} == {"pending"}


@pytest.mark.parametrize("extension", [None, advertise("io.modelcontextprotocol/ui", {"mimeTypes": 1})])
def test_a_client_that_shows_no_cards_has_no_tool_for_them(
    play: Callable[..., None], garden: Garden, extension: Any
) -> None:
    async def scene(client: Client) -> None:
        tools = (await client.list_tools()).tools
        assert "review_answer" not in {tool.name for tool in tools}
        assert not any(tool.meta for tool in tools)
        answer = await client.call_tool("fs_append", WORDS)
        assert answer.meta is None or "memory-garden/review" not in answer.meta
        approval_id = answer.structured_content["error"]["details"]["approvalId"]
        session = garden.session("ada", "companion")
        code = garden.gates.approvals.card_code(session.access, approval_id)
        refused = (await answered(client, approval_id, code)).structured_content["error"]
        assert refused["code"] == "unknown_tool"

    play(scene, extensions=[extension] if extension else [])


def test_only_tools_that_are_asked_about_have_the_card(play: Callable[..., None]) -> None:
    async def scene(client: Client) -> None:
        shown = {tool.name: tool.meta["ui"] for tool in (await client.list_tools()).tools if tool.meta}
        assert shown == {
            "fs_append": {"resourceUri": URI},
            "review_answer": {"resourceUri": URI, "visibility": ["app"]},
        }

    play(scene)


def test_the_newer_protocol_says_that_the_server_has_the_extension(service: Service) -> None:
    async def scene() -> None:
        async with over_http(service, "auto")(extensions=[APPS]) as client:
            assert client.server_capabilities.extensions == {"io.modelcontextprotocol/ui": {}}

    asyncio.run(scene())


def test_the_card_is_a_page_that_reaches_no_host(play: Callable[..., None]) -> None:
    async def scene(client: Client) -> None:
        [card] = (await client.read_resource(URI)).contents
        assert isinstance(card, TextResourceContents)
        assert card.mime_type == "text/html;profile=mcp-app"
        assert card.meta is not None
        assert card.meta["ui"]["csp"] == {"connectDomains": [], "resourceDomains": []}
        assert "://" not in card.text
        assert "innerHTML" not in card.text

    play(scene)


def test_the_card_comes_before_a_form(play: Callable[..., None]) -> None:
    async def never(_context: object, _params: object) -> ElicitResult:
        raise AssertionError

    play(_ask_only, elicitation_callback=never)


async def _ask_only(client: Client) -> None:
    await asked(client)


@pytest.mark.usefixtures("garden")
def test_the_card_is_shown_over_stdio_too(ready_home: Home) -> None:
    async def scene() -> None:
        async with over_stdio(ready_home, OLDER)(extensions=[APPS]) as client:
            details, code = await asked(client)
            assert (await answered(client, details["approvalId"], code)).structured_content["ok"]
            assert (await client.call_tool("fs_append", WORDS)).structured_content["ok"]

    asyncio.run(scene())
