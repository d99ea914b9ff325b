"""The protocol over stdio: only protocol on stdout, any input, and no answer lost at the end."""

import asyncio
import json
import os
import select
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp.shared.message import SessionMessage

from garden.application import Garden
from garden.home.folder import Home
from garden.home.settings import Settings
from garden.serving_stdio import serve_stdio
from garden.session import Session
from garden.surfaces.mcp.messages import LINE_BYTES_MAX
from garden.surfaces.mcp.stdio_streams import Conversation, Outgoing
from garden.surfaces.mcp.tool_list import tools_for
from garden.writing.callers import InvalidCallerError, Role
from tests.support.databases import TestServer
from tests.support.folders import run_folder
from tests.support.gardens import NOTES, plant
from tests.support.mcp_lines import INITIALIZE, Lines
from tests.support.planted import opened, put_database
from tests.support.processes import command, environment
from tests.support.served import home_of_its_own
from tests.support.waiting import until_a_lock_is_awaited
from tests.surfaces.mcp.conftest import server_command
from tests.surfaces.mcp.test_progress import append, hold


def test_a_client_is_greeted_and_told_the_tools_while_the_database_does_not_answer(home: Home) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        put_database(home, f"postgresql://ada@127.0.0.1:{silent.getsockname()[1]}/garden")
        with Lines(server_command(), environment(home.path)) as server:
            assert server.greet()["result"]["serverInfo"]["name"] == "memory-garden"
            told = {tool["name"] for tool in server.ask("tools/list")["result"]["tools"]}
            assert told == {tool.name for tool in tools_for(Role.AGENT, "lean")}
            assert server.ask("prompts/list")["result"]["prompts"]
            # Refuses the connection that the server is still waiting for.
            silent.close()


def test_a_garden_that_can_t_be_opened_is_an_answer_and_is_tried_again(home: Home) -> None:
    put_database(home, "postgresql://ada@127.0.0.1:1/garden")
    with Lines(server_command(), environment(home.path)) as server:
        server.greet()
        for _ in range(2):
            result = server.call("tools_list")
            assert result["isError"]
            assert result["structuredContent"]["error"]["code"] == "unavailable"
            assert result["structuredContent"]["error"]["hint"]
        refused = server.ask("resources/read", {"uri": "garden://users/ada/notes.md"})
        assert refused["error"]["data"]["code"] == "unavailable"


def test_the_error_of_a_home_that_can_t_be_made_names_no_place_on_the_host(folder: Path) -> None:
    (folder / "file").write_text("No folder.")
    with Lines(server_command(), environment(folder / "file" / "home")) as server:
        server.greet()
        result = server.call("tools_list")
        assert result["structuredContent"]["error"]["code"] == "unavailable"
        assert str(folder) not in json.dumps(result)


@pytest.mark.parametrize(
    ("user", "actor", "role"), [("A B", "me", "agent"), ("ada", "", "agent"), ("ada", "me", "king")]
)
def test_an_impossible_caller_is_refused_before_the_conversation(
    home: Home, user: str, actor: str, role: str
) -> None:
    with pytest.raises(InvalidCallerError):
        serve_stdio(Settings(home=home.path), user, actor=actor, role=role)


def test_a_refused_start_is_an_error_on_stderr_alone(home: Home) -> None:
    with subprocess.Popen(
        command("mcp", "--user", "A B"), env=environment(home.path), stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as server:  # fmt: skip
        # Its input stays open and empty meanwhile.
        assert server.wait(timeout=60) == 1
        assert server.stdout is not None
        assert server.stderr is not None
        assert server.stdout.read() == ""
        assert "user's id" in server.stderr.read()


NO_MESSAGES: tuple[tuple[bytes, int, Any], ...] = (
    (b"no json", -32700, None),
    (b'{"jsonrpc": "2.0", "id": 7', -32700, None),
    (b"\xff\xfe", -32700, None),
    (b"[" * 100_000, -32700, None),
    (b"[]", -32600, None),
    (b"7", -32600, None),
    (b'{"jsonrpc": "1.0", "id": 8, "method": "ping"}', -32600, 8),
    (b'{"id": "nine", "method": "ping"}', -32600, "nine"),
    (b'{"jsonrpc": "2.0", "id": 10, "method": 5}', -32600, 10),
    (b'{"jsonrpc": "2.0", "id": 11, "method": "ping", "params": {"a": {"b": 1, "b": 2}}}', -32700, 11),
    (b'{"jsonrpc": "2.0", "id": {}, "method": "ping"}', -32600, None),
    (b'"' + b"x" * (2 * LINE_BYTES_MAX) + b'"', -32600, None),
)


@pytest.fixture(scope="module")
def shared_lines(server: TestServer) -> Iterator[Lines]:
    """A greeted server for all tests that leave it as it was; Ada has notes, and a large document."""
    with home_of_its_own(server, run_folder()) as home, opened(home) as garden:
        session = garden.session("ada")
        plant(session, NOTES, LARGE)
        for number in range(6):
            session.fs.append(LARGE, f"{number} " + "word " * 30_000)
        with Lines(server_command(), environment(home.path)) as lines:
            lines.greet()
            yield lines


def test_a_line_that_is_no_message_is_refused_and_the_conversation_goes_on(shared_lines: Lines) -> None:
    lines = shared_lines
    for line, code, request_id in NO_MESSAGES:
        lines.put(line)
        refused = lines.next()
        assert refused["error"]["code"] == code, line[:60]
        assert refused["id"] == request_id, line[:60]
        assert lines.ask("ping")["result"] == {}


HALF = "\ud83d"
LARGE = "users/ada/parts/large/notes.md"


def test_half_a_surrogate_pair_reaches_the_tool_that_refuses_it(shared_lines: Lines) -> None:
    lines = shared_lines
    refused = lines.call("fs_append", path=NOTES, text=f"a {HALF}")
    assert refused["structuredContent"]["error"]["code"] == "not_text"


def test_the_refusal_of_half_a_surrogate_pair_has_the_requests_id(shared_lines: Lines) -> None:
    lines = shared_lines
    assert lines.call(HALF)["structuredContent"]["error"]["code"] == "unknown_tool"
    assert lines.call("fs_read", path=HALF)["isError"]
    assert lines.ask(HALF)["error"]["code"] == -32601
    assert lines.ask("resources/read", {"uri": f"garden://{HALF}"})["error"]["code"] == -32602
    lines.put(json.dumps({"id": 70, "method": HALF}).encode())
    assert lines.next()["id"] == 70
    lines.put(json.dumps({"jsonrpc": "2.0", "id": None, "method": HALF}).encode())
    assert lines.next()["error"]["code"] == -32600


def test_messages_of_wrong_shapes_are_refused_one_by_one(shared_lines: Lines) -> None:
    lines = shared_lines
    wrong: list[tuple[str, Any]] = [
        ("tools/call", None),
        ("tools/call", {"name": 7}),
        ("tools/call", {"name": "fs_read", "arguments": []}),
        ("tools/list", {"cursor": "2"}),
        ("resources/read", {}),
        ("prompts/get", {"name": "weekly_review", "arguments": {"since": 7}}),
        ("completion/complete", {"ref": {"type": "ref/nothing"}}),
        ("initialize", {}),
        ("dance", {}),
    ]
    for method, params in wrong:
        assert lines.ask(method, params)["error"]["code"] in {-32601, -32602}, method
    for method in ("notifications/cancelled", "notifications/progress", "notifications/dance"):
        lines.tell(method, {"requestId": [], "progressToken": {}})
    assert lines.ask("ping")["result"] == {}


def test_empty_lines_and_other_line_ends_are_accepted(shared_lines: Lines) -> None:
    lines = shared_lines
    lines.put(b"\n\r\n   ")
    lines.put(b'{"jsonrpc":"2.0","id":"a","method":"ping"}\r')
    assert lines.next() == {"jsonrpc": "2.0", "id": "a", "result": {}}


def test_a_large_answer_reaches_a_slow_reader_whole(shared_lines: Lines) -> None:
    lines, request = shared_lines, {"name": "fs_read", "arguments": {"path": LARGE}}
    asked = [lines.send("tools/call", request) for _ in range(5)]
    for each in asked:
        text = lines.answer_to(each)["result"]["structuredContent"]["result"]
        assert text.count("word") == 6 * 30_000


def test_requests_from_a_file_are_answered_into_a_file(ready_home: Home, folder: Path) -> None:
    requests = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": INITIALIZE},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call",
         "params": {"name": "md_plant", "arguments": {"path": NOTES}}},
    ]  # fmt: skip
    (folder / "in").write_text("".join(json.dumps(each) + "\n" for each in requests))
    with (folder / "in").open("rb") as stdin, (folder / "out").open("wb") as stdout:
        done = subprocess.run(
            server_command(), env=environment(ready_home.path), stdin=stdin, stdout=stdout, check=False
        )
    assert done.returncode == 0
    answers = [json.loads(line) for line in (folder / "out").read_text().splitlines()]
    assert [answer["id"] for answer in answers] == [1, 2]
    assert answers[1]["result"]["structuredContent"]["ok"]


def test_an_empty_input_ends_the_server(ready_home: Home) -> None:
    done = subprocess.run(
        server_command(),
        env=environment(ready_home.path),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_only_protocol_reaches_stdout_even_if_a_child_prints() -> None:
    program = (
        "import os, subprocess, sys\n"
        "from garden.surfaces.mcp.stdio_streams import claim_descriptors\n"
        "with claim_descriptors() as (reading, writing):\n"
        "    print('printed', flush=True)\n"
        "    os.write(1, b'written\\n')\n"
        "    subprocess.run(['echo', 'by a child'])\n"
        "    os.write(writing, b'{}\\n')\n"
        "print('afterwards')\n"
    )
    done = subprocess.run(
        [server_command()[0], "-c", program], capture_output=True, text=True, check=True, env=dict(os.environ)
    )
    assert done.stdout == "{}\nafterwards\n"
    assert done.stderr == "printed\nwritten\nby a child\n"


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, None], ids=["SIGTERM", "SIGINT", "EOF"])
def test_a_write_under_way_at_the_end_is_finished_and_answered(
    lines: Lines, garden: Garden, ada: Session, database: str, how: signal.Signals | None
) -> None:
    plant(ada, NOTES)
    with ExitStack() as held:
        hold(garden, held, NOTES)
        asked = append(lines, NOTES, "At the last moment.")
        until_a_lock_is_awaited(database)
        if how is None:
            lines.end_input()
        else:
            lines.process.send_signal(how)
    assert lines.answer_to(asked)["result"]["structuredContent"]["ok"]
    assert lines.process.wait(timeout=60) == 0
    assert "At the last moment." in str(ada.fs.read(NOTES).result)


def test_a_client_that_leaves_ends_the_server(ready_home: Home) -> None:
    with Lines(server_command(), environment(ready_home.path)) as server:
        server.greet()
        assert server.process.stdout is not None
        server.process.stdout.close()
        server.send("ping")
        server.end_input()
        assert server.process.wait(timeout=60) == 0


def test_an_answer_is_written_at_once_if_the_pipe_is_empty_and_never_blocks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reading, writing = os.pipe()
    written: list[int] = []
    write = os.write

    def noted(handle: int, data: bytes) -> int:
        written.append(len(data))
        return write(handle, data)

    async def send_two() -> None:
        outgoing = Outgoing(writing, Conversation())
        line = types.JSONRPCResponse(jsonrpc="2.0", id=1, result={"text": "x" * 40_000})
        await outgoing.send(SessionMessage(line))
        assert len(written) == 1
        second = asyncio.ensure_future(outgoing.send(SessionMessage(line)))
        await asyncio.sleep(0.2)
        # There is room for a part of it; a thread waits for the rest.
        assert not second.done()
        assert max(written[1:]) <= select.PIPE_BUF
        while not second.done():
            await asyncio.to_thread(os.read, reading, 1 << 16)
            await asyncio.sleep(0.01)
        outgoing.close()

    monkeypatch.setattr(os, "write", noted)
    try:
        asyncio.run(asyncio.wait_for(send_two(), 20))
        assert sum(written) == 2 * written[0]
    finally:
        os.close(reading)
        os.close(writing)
