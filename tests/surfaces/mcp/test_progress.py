"""Long calls over the protocol: progress and cancellation."""

import asyncio
from contextlib import ExitStack, suppress

import pytest
from mcp import Client

from garden.application import Garden
from garden.events.records import Caller
from garden.gateway.threads import THREADS
from garden.home.folder import Home
from garden.session import Session
from tests.support.gardens import NOTES, plant
from tests.support.mcp_lines import Lines
from tests.support.planted import opened
from tests.support.waiting import until_a_lock_is_awaited
from tests.surfaces.mcp.conftest import NEWER, OLDER, Connect, Converse, over_http, over_stdio

SECONDS_MAX = 60


def test_a_search_reports_its_progress_on_request(converse: Converse, ada: Session) -> None:
    plant(ada, *(f"users/ada/parts/p{number}/notes.md" for number in range(10)))

    async def scene(client: Client) -> None:
        steps: list[tuple[float, float | None, str | None]] = []
        reported = asyncio.Event()

        async def report(progress: float, total: float | None, message: str | None) -> None:
            steps.append((progress, total, message))
            reported.set()

        async with asyncio.timeout(SECONDS_MAX):
            search = {"root": "users/ada", "pattern": "x"}
            assert not (await client.call_tool("fs_search", search, progress_callback=report)).is_error
            await reported.wait()
        # Steps that follow too soon are dropped, but never the first.
        assert steps[0] == (1, 10, "users/ada/parts/p1/notes.md")

    converse(scene)


def test_a_progress_token_may_be_zero(lines: Lines, ada: Session) -> None:
    plant(ada, *(f"users/ada/parts/p{number}/notes.md" for number in range(3)))
    search = {"name": "fs_search", "arguments": {"root": "users/ada", "pattern": "x"}}
    lines.ask("tools/call", {**search, "_meta": {"progressToken": 0}})
    [told] = lines.others
    assert (told["method"], told["params"]["progressToken"]) == ("notifications/progress", 0)


@pytest.fixture(params=["stdio", "http older", "http newer"])
def connected(request: pytest.FixtureRequest, ready_home: Home) -> Connect:
    if request.param == "stdio":
        return over_stdio(ready_home, OLDER)
    mode = NEWER if request.param == "http newer" else OLDER
    return over_http(request.getfixturevalue("service"), mode)


def test_a_begun_write_is_finished_after_its_caller_cancels(
    connected: Connect, ready_home: Home, ada: Session, database: str
) -> None:
    plant(ada, NOTES)

    async def converse() -> None:
        async with connected() as client, asyncio.timeout(SECONDS_MAX):
            with opened(ready_home) as holder, ExitStack() as held:
                hold(holder, held, NOTES)
                call = asyncio.create_task(client.call_tool("fs_append", {"path": NOTES, "text": "Begun."}))
                await asyncio.to_thread(until_a_lock_is_awaited, database)
                call.cancel()
                with suppress(asyncio.CancelledError):
                    await call
                # Other calls do not wait for it.
                assert not (await client.call_tool("fs_hash", {"path": NOTES})).is_error
            while "Begun." not in str((await client.call_tool("fs_read", {"path": NOTES})).content):
                pass

    asyncio.run(converse())


def test_a_call_cancelled_before_its_turn_is_never_run(lines: Lines, garden: Garden, ada: Session) -> None:
    blocked = [f"users/ada/parts/p{number}/notes.md" for number in range(THREADS)]
    plant(ada, NOTES, *blocked)
    with ExitStack() as held:
        hold(garden, held, *blocked)
        waiting = [append(lines, path, "Late.") for path in blocked]
        # Every thread takes one of the blocked calls before this one.
        given_up = append(lines, NOTES, "Never.")
        lines.tell("notifications/cancelled", {"requestId": given_up})
        lines.ask("ping")
    for each in waiting:
        assert not lines.answer_to(each)["result"]["isError"]
    for _ in range(THREADS):
        assert "Never." not in str(lines.call("fs_read", path=NOTES))
    assert not [message for message in lines.others if message.get("id") == given_up]


def append(lines: Lines, path: str, text: str) -> int:
    return lines.send("tools/call", {"name": "fs_append", "arguments": {"path": path, "text": text}})


def hold(garden: Garden, held: ExitStack, *paths: str) -> None:
    """Hold the locks of documents, so that their writers wait."""
    for path in paths:
        held.enter_context(garden.services.store.document(Caller("ada", "holder"), path))
