"""Real clients of the SDK, on every way in: over stdio and HTTP, in the older protocol and the newer one."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from garden.application import Garden
from garden.home.folder import Home
from garden.session import Session
from tests.support.mcp_lines import Lines
from tests.support.mcp_service import Service, served
from tests.support.processes import command, environment

Connect = Callable[..., AbstractAsyncContextManager[Client]]
OLDER, NEWER = "legacy", "2026-07-28"


@pytest.fixture
def ada(garden: Garden) -> Session:
    """Ada's companion at work, in this process."""
    return garden.session("ada", "companion")


@pytest.fixture
def service(garden: Garden) -> Iterator[Service]:
    """The endpoint over HTTP."""
    with served(garden) as service:
        yield service


@pytest.fixture
def lines(ready_home: Home) -> Iterator[Lines]:
    """The server over stdio, greeted, and a client that can say anything to it."""
    with Lines(server_command(), environment(ready_home.path)) as opened:
        opened.greet()
        yield opened


def server_command(user: str = "ada", role: str = "agent") -> list[str | Path]:
    return list(command("mcp", "--user", user, "--actor", "companion", "--role", role))


@pytest.fixture(params=["stdio older", "stdio newer", "http older", "http newer"])
def connect(request: pytest.FixtureRequest, ready_home: Home) -> Connect:
    """What connects a client, by the way that the parameter names."""
    transport, _, protocol = str(request.param).partition(" ")
    mode = OLDER if protocol == "older" else NEWER
    if transport == "stdio":
        return over_stdio(ready_home, mode)
    return over_http(request.getfixturevalue("service"), mode)


def over_stdio(home: Home, mode: str) -> Connect:
    @asynccontextmanager
    async def connect(user: str = "ada", role: str = "agent", **options: Any) -> AsyncIterator[Client]:
        program, *arguments = server_command(user, role)
        server = StdioServerParameters(
            command=str(program), args=[str(each) for each in arguments], env=environment(home.path)
        )
        async with Client(server, mode=mode, read_timeout_seconds=60, **options) as client:
            yield client

    return connect


def over_http(service: Service, mode: str) -> Connect:
    @asynccontextmanager
    async def connect(user: str = "ada", role: str = "agent", **options: Any) -> AsyncIterator[Client]:
        headers = {"authorization": f"Bearer {user}.{role}"}
        async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
            transport = streamable_http_client(service.url, http_client=http)
            async with Client(transport, mode=mode, read_timeout_seconds=60, **options) as client:
                yield client

    return connect
