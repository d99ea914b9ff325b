"""News of changes: subscriptions in the older protocol, a stream in the newer one."""

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from mcp import MCPError
from mcp.client.subscriptions import ResourcesListChanged, ResourceUpdated
from mcp_types import ResourceListChangedNotification, ResourceUpdatedNotification

from garden.application import Garden
from garden.events.records import Caller, Statement
from garden.home.folder import Home
from garden.session import Session
from tests.support.gardens import CRITIC, NOTES, plant
from tests.support.mcp_lines import Lines
from tests.support.mcp_service import Service
from tests.support.processes import environment
from tests.surfaces.mcp.conftest import NEWER, OLDER, Connect, over_http, over_stdio, server_command

SECONDS_MAX = 60

# The SDK's client warns of the older protocol's subscriptions.
pytestmark = pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")


@pytest.fixture(params=["stdio", "http"])
def connect(request: pytest.FixtureRequest, ready_home: Home) -> Callable[[str], Connect]:
    """Connects a client with a protocol, over stdio or HTTP."""
    if request.param == "stdio":
        return partial(over_stdio, ready_home)
    return partial(over_http, request.getfixturevalue("service"))


class News:
    """The notifications that a client received."""

    def __init__(self) -> None:
        self._received: asyncio.Queue[str] = asyncio.Queue()

    async def receive(self, message: Any) -> None:
        if isinstance(message, ResourceUpdatedNotification):
            self._received.put_nowait(str(message.params.uri))
        elif isinstance(message, ResourceListChangedNotification):
            self._received.put_nowait("list")

    async def next(self) -> str:
        async with asyncio.timeout(SECONDS_MAX):
            return await self._received.get()

    @property
    def nothing_more(self) -> bool:
        return self._received.empty()


def test_a_subscriber_receives_the_changes_of_others(
    connect: Callable[[str], Connect], ada: Session, garden: Garden
) -> None:
    plant(ada, NOTES, CRITIC)

    async def converse() -> None:
        news = News()
        async with connect(OLDER)(message_handler=news.receive) as client:
            await client.subscribe_resource(f"garden://{NOTES}")
            await client.subscribe_resource("garden://history/ada/parts/critic/profile")
            # It is not to receive another user's changes, nor those it has not subscribed to.
            plant(garden.session("ben"), "users/ben/notes.md")
            plant(ada, "users/ada/parts/critic/notes.md")
            ada.fs.append(NOTES, "First.")
            assert await news.next() == f"garden://{NOTES}"
            ada.md.patch_section(CRITIC, "concerns v1", {"append": "- deadlines"})
            assert await news.next() == "garden://history/ada/parts/critic/profile"
            await client.unsubscribe_resource(f"garden://{NOTES}")
            ada.fs.append(NOTES, "Second.")
            ada.md.patch_section(CRITIC, "concerns v1", {"append": "- Mondays"})
            assert await news.next() == "garden://history/ada/parts/critic/profile"
            assert news.nothing_more

    asyncio.run(converse())


def test_a_conversation_begun_twice_is_one(lines: Lines, ada: Session) -> None:
    plant(ada, NOTES, CRITIC)
    lines.ask("resources/subscribe", {"uri": f"garden://{NOTES}"})
    lines.tell("notifications/initialized")
    lines.ask("resources/unsubscribe", {"uri": f"garden://{NOTES}"})
    lines.ask("resources/subscribe", {"uri": f"garden://{CRITIC}"})
    ada.fs.append(NOTES, "First.")
    ada.md.patch_section(CRITIC, "concerns v1", {"append": "- deadlines"})
    assert lines.others == []
    assert lines.next()["params"] == {"uri": f"garden://{CRITIC}"}


def test_a_garden_opened_at_a_later_attempt_serves_subscribers(folder: Path, database: str) -> None:
    (folder / "home").write_text("No folder.")
    env = environment(folder / "home", {"GARDEN_DATABASE_URL": database})
    with Lines(server_command(), env) as lines:
        lines.greet()
        for _ in range(2):
            assert lines.ask("resources/list")["error"]["data"]["code"] == "unavailable"
        (folder / "home").unlink()
        assert lines.call("md_plant", path=NOTES)["structuredContent"]["ok"]
        assert lines.ask("resources/subscribe", {"uri": f"garden://{NOTES}"})["result"] == {}
        lines.call("fs_append", path=NOTES, text="First.")
        updated = lines.others[0] if lines.others else lines.next()
        assert updated["params"] == {"uri": f"garden://{NOTES}"}


def test_a_client_that_listed_the_resources_is_told_when_the_list_changes(
    service: Service, ada: Session
) -> None:
    plant(ada, NOTES)

    async def converse() -> None:
        news = News()
        async with over_http(service, OLDER)(message_handler=news.receive) as client:
            await client.list_resources()
            ada.fs.append(NOTES, "This changes no list.")
            plant(ada, CRITIC)
            assert await news.next() == "list"
            assert news.nothing_more

    asyncio.run(converse())


def test_a_client_receives_its_own_changes_too(service: Service, ada: Session) -> None:
    plant(ada, NOTES)

    async def converse() -> None:
        news = News()
        async with over_http(service, OLDER)(message_handler=news.receive) as client:
            await client.subscribe_resource(f"garden://{NOTES}")
            await client.call_tool("fs_append", {"path": NOTES, "text": "By myself."})
            assert await news.next() == f"garden://{NOTES}"

    asyncio.run(converse())


def test_an_event_without_a_possible_path_does_not_end_the_news(
    service: Service, ada: Session, garden: Garden
) -> None:
    plant(ada, NOTES)

    async def converse() -> None:
        news = News()
        async with over_http(service, OLDER)(message_handler=news.receive) as client:
            await client.subscribe_resource(f"garden://{NOTES}")
            tampered = Statement(type="observation", op="note", tool="events.log", path="nowhere")
            await asyncio.to_thread(garden.services.store.log, Caller("ada", "companion"), tampered)
            ada.fs.append(NOTES, "After it.")
            assert await news.next() == f"garden://{NOTES}"

    asyncio.run(converse())


def test_a_subscription_outside_the_own_garden_is_refused(service: Service) -> None:
    async def converse() -> None:
        async with over_http(service, OLDER)() as client:
            for uri in ("garden://users/ben/notes.md", "file:///etc/passwd"):
                with pytest.raises(MCPError) as refused:
                    await client.subscribe_resource(uri)
                assert refused.value.code == -32602

    asyncio.run(converse())


def test_a_stream_brings_the_requested_changes_and_no_others(
    connect: Callable[[str], Connect], ada: Session, garden: Garden
) -> None:
    plant(ada, NOTES)

    async def converse() -> None:
        async with connect(NEWER)() as client:
            wanted = [f"garden://{NOTES}", "garden://users/ben/notes.md"]
            listening = client.listen(resources_list_changed=True, resource_subscriptions=wanted)
            async with listening as stream, asyncio.timeout(SECONDS_MAX):
                plant(garden.session("ben"), "users/ben/notes.md")
                plant(ada, CRITIC)
                assert await anext(stream) == ResourcesListChanged()
                ada.md.patch_section(CRITIC, "concerns v1", {"append": "- Mondays"})
                ada.fs.append(NOTES, "First.")
                assert await anext(stream) == ResourceUpdated(f"garden://{NOTES}")

    asyncio.run(converse())


def test_a_closed_stream_leaves_nothing_behind(service: Service, ada: Session) -> None:
    plant(ada, NOTES)

    async def converse() -> None:
        async with over_http(service, NEWER)() as client:
            for number in range(3):
                async with (
                    client.listen(resource_subscriptions=[f"garden://{NOTES}"]) as stream,
                    asyncio.timeout(SECONDS_MAX),
                ):
                    ada.fs.append(NOTES, "Again.", idempotency_key=str(number))
                    assert await anext(stream) == ResourceUpdated(f"garden://{NOTES}")
            assert not (await client.call_tool("fs_hash", {"path": NOTES})).is_error

    asyncio.run(converse())
