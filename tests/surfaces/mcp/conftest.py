"""Real clients of the SDK, over stdio and HTTP, with the older protocol and the newer one."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
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
from tests.support.served import NO_AUTHORITIES

Connect = Callable[..., AbstractAsyncContextManager[Client]]
Converse = Callable[..., None]
OLDER, NEWER = "legacy", "2026-07-28"


@pytest.fixture
def ada(garden: Garden) -> Session:
    """A session of Ada's companion, in this process."""
    return garden.session("ada", "companion")


@pytest.fixture
def service(garden: Garden) -> Iterator[Service]:
    """The endpoint, served over HTTP from this process."""
    with served(garden) as service:
        yield service


@pytest.fixture
def lines(ready_home: Home) -> Iterator[Lines]:
    """A line client of `garden mcp`, after the greeting."""
    with Lines(server_command(), environment(ready_home.path)) as opened:
        opened.greet()
        yield opened


def server_command(user: str = "ada", role: str = "agent", *more: str) -> list[str | Path]:
    return list(command("mcp", "--user", user, "--actor", "companion", "--role", role, *more))


@pytest.fixture
def converse(service: Service) -> Converse:
    """Plays a scene over HTTP twice, once with each protocol: `converse(scene, **options of the client)`."""

    def play(scene: Callable[[Client], Awaitable[None]], **options: Any) -> None:
        async def play_with(mode: str) -> None:
            async with over_http(service, mode)(**options) as client:
                await scene(client)

        for mode in (OLDER, NEWER):
            asyncio.run(play_with(mode))

    return play


def over_stdio(home: Home, mode: str) -> Connect:
    @asynccontextmanager
    async def connect(
        user: str = "ada", role: str = "agent", more: tuple[str, ...] = (), **options: Any
    ) -> AsyncIterator[Client]:
        program, *arguments = server_command(user, role, *more)
        server = StdioServerParameters(
            command=str(program), args=[str(each) for each in arguments], env=environment(home.path)
        )
        async with Client(server, mode=mode, read_timeout_seconds=60, **options) as client:
            yield client

    return connect


def over_http(service: Service, mode: str) -> Connect:
    @asynccontextmanager
    async def connect(
        user: str = "ada", role: str = "agent", profile: str = "full", **options: Any
    ) -> AsyncIterator[Client]:
        headers = {"authorization": f"Bearer {user}.{role}"}
        async with httpx2.AsyncClient(headers=headers, timeout=60, verify=NO_AUTHORITIES) as http:
            transport = streamable_http_client(f"{service.url}?profile={profile}", http_client=http)
            async with Client(transport, mode=mode, read_timeout_seconds=60, **options) as client:
                yield client

    return connect
