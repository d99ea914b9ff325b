"""News of changes: subscriptions in the older protocol, a stream in the newer one."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from mcp import MCPError
from mcp.client.subscriptions import ResourcesListChanged, ResourceUpdated
from mcp_types import ResourceListChangedNotification, ResourceUpdatedNotification

from garden.application import Garden
from garden.home.folder import Home
from garden.session import Session
from tests.support.gardens import CRITIC, NOTES, plant
from tests.support.mcp_lines import Lines
from tests.support.processes import environment
from tests.surfaces.mcp.conftest import NEWER, OLDER, Connect, over_http, over_stdio, server_command

SECONDS_MAX = 60

# The SDK's client warns whoever subscribes as the older protocol has it.
pytestmark = pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")


@pytest.fixture(params=["stdio", "http"])
def older(request: pytest.FixtureRequest, ready_home: Home) -> Connect:
    if request.param == "stdio":
        return over_stdio(ready_home, OLDER)
    return over_http(request.getfixturevalue("service"), OLDER)


@pytest.fixture(params=["stdio", "http"])
def newer(request: pytest.FixtureRequest, ready_home: Home) -> Connect:
    if request.param == "stdio":
        return over_stdio(ready_home, NEWER)
    return over_http(request.getfixturevalue("service"), NEWER)


class News:
    """What a client was told."""

    def __init__(self) -> None:
        self._told: asyncio.Queue[str] = asyncio.Queue()

    async def hear(self, message: Any) -> None:
        if isinstance(message, ResourceUpdatedNotification):
            self._told.put_nowait(str(message.params.uri))
        elif isinstance(message, ResourceListChangedNotification):
            self._told.put_nowait("list")

    async def next(self) -> str:
        async with asyncio.timeout(SECONDS_MAX):
            return await self._told.get()

    @property
    def nothing_more(self) -> bool:
        return self._told.empty()


def test_a_subscriber_is_told_of_what_others_change(older: Connect, ada: Session, garden: Garden) -> None:
    plant(ada, NOTES, CRITIC)

    async def converse() -> None:
        news = News()
        async with older(message_handler=news.hear) as client:
            await client.subscribe_resource(f"garden://{NOTES}")
            await client.subscribe_resource("garden://history/ada/parts/critic/profile")
            # Of these it is not to hear: another's, and what it has not subscribed to.
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


def test_a_conversation_that_is_begun_twice_is_one(lines: Lines, ada: Session) -> None:
    plant(ada, NOTES, CRITIC)
    lines.ask("resources/subscribe", {"uri": f"garden://{NOTES}"})
    lines.tell("notifications/initialized")
    lines.ask("resources/unsubscribe", {"uri": f"garden://{NOTES}"})
    lines.ask("resources/subscribe", {"uri": f"garden://{CRITIC}"})
    ada.fs.append(NOTES, "First.")
    ada.md.patch_section(CRITIC, "concerns v1", {"append": "- deadlines"})
    assert lines.others == []
    assert lines.next()["params"] == {"uri": f"garden://{CRITIC}"}


def test_a_garden_that_could_not_be_opened_once_has_its_subscribers_later(
    folder: Path, database: str
) -> None:
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


def test_who_has_seen_the_list_is_told_when_it_changes(older: Connect, ada: Session) -> None:
    plant(ada, NOTES)

    async def converse() -> None:
        news = News()
        async with older(message_handler=news.hear) as client:
            await client.list_resources()
            ada.fs.append(NOTES, "This changes no list.")
            plant(ada, CRITIC)
            assert await news.next() == "list"
            assert news.nothing_more

    asyncio.run(converse())


def test_ones_own_changes_are_news_as_well(older: Connect, ada: Session) -> None:
    plant(ada, NOTES)

    async def converse() -> None:
        news = News()
        async with older(message_handler=news.hear) as client:
            await client.subscribe_resource(f"garden://{NOTES}")
            await client.call_tool("fs_append", {"path": NOTES, "text": "By myself."})
            assert await news.next() == f"garden://{NOTES}"

    asyncio.run(converse())


@pytest.mark.parametrize("uri", ["garden://users/ben/notes.md", "file:///etc/passwd"])
def test_nobody_subscribes_to_what_is_not_theirs(older: Connect, uri: str) -> None:
    async def converse() -> None:
        async with older() as client:
            with pytest.raises(MCPError) as refused:
                await client.subscribe_resource(uri)
            assert refused.value.code == -32602

    asyncio.run(converse())


def test_a_stream_brings_what_it_asked_for_and_nothing_else(
    newer: Connect, ada: Session, garden: Garden
) -> None:
    plant(ada, NOTES)

    async def converse() -> None:
        async with newer() as client:
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


def test_a_stream_that_was_closed_leaves_nothing_behind(newer: Connect, ada: Session) -> None:
    plant(ada, NOTES)

    async def converse() -> None:
        async with newer() as client:
            for number in range(3):
                async with (
                    client.listen(resource_subscriptions=[f"garden://{NOTES}"]) as stream,
                    asyncio.timeout(SECONDS_MAX),
                ):
                    ada.fs.append(NOTES, "Again.", idempotency_key=str(number))
                    assert await anext(stream) == ResourceUpdated(f"garden://{NOTES}")
            assert not (await client.call_tool("fs_hash", {"path": NOTES})).is_error

    asyncio.run(converse())
