"""The surfaces, each as one function: a role, a tool and its arguments in, an envelope out."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

import httpx2
import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from garden.application import Garden
from tests.support.processes import command, environment, spawn_garden
from tests.support.served import NO_AUTHORITIES
from tests.surfaces.cli.conftest import Command

Envelope = dict[str, Any]
Ask = Callable[[str, str, dict[str, Any]], Envelope]
"""Called with a role, a tool's name and its arguments."""
ACTOR = "companion"
ROLES = ("agent", "reviewer", "maintainer")


@contextmanager
def python(garden: Garden, user_id: str) -> Iterator[Ask]:
    """The Python API."""

    def ask(role: str, tool: str, args: dict[str, Any]) -> Envelope:
        return garden.session(user_id, ACTOR, role=role).call(tool, args)

    yield ask


@contextmanager
def command_line(garden: Garden, user_id: str) -> Iterator[Ask]:
    """The command `garden call`, run in this process; tests of the command start real ones."""
    with pytest.MonkeyPatch.context() as patch:
        run = Command(garden.home.path, patch)

        def ask(role: str, tool: str, args: dict[str, Any]) -> Envelope:
            who = ("--user", user_id, "--actor", ACTOR, "--role", role)
            done = run("call", tool, "-", *who, given=json.dumps(args).encode())
            envelope: Envelope = done.json
            assert done.code == (0 if envelope["ok"] else 1), done.err
            return envelope

        yield ask


@contextmanager
def http(garden: Garden, user_id: str) -> Iterator[Ask]:
    """The service, over HTTP."""
    with _service(garden) as url, ExitStack() as stack:
        clients = {
            role: stack.enter_context(
                httpx2.Client(base_url=url, headers=_token(garden, user_id, role), verify=NO_AUTHORITIES)
            )
            for role in ROLES
        }

        def ask(role: str, tool: str, args: dict[str, Any]) -> Envelope:
            answer = clients[role].post(f"/v1/tools/{tool}", json=args, timeout=60)
            envelope: Envelope = answer.json()
            assert envelope["ok"] is (answer.status_code == 200), answer.text
            return {name: envelope[name] for name in ("ok", "result", "meta", "error") if name in envelope}

        yield ask


@contextmanager
def mcp_stdio(garden: Garden, user_id: str) -> Iterator[Ask]:
    """The Model Context Protocol, over stdin and stdout."""

    def server(role: str) -> StdioServerParameters:
        program, *arguments = command("mcp", "--user", user_id, "--actor", ACTOR, "--role", role)
        return StdioServerParameters(
            command=str(program),
            args=[str(each) for each in arguments],
            env=dict(environment(garden.home.path)),
        )

    with start_blocking_portal() as portal, ExitStack() as stack:
        clients = {
            role: stack.enter_context(portal.wrap_async_context_manager(Client(server(role))))
            for role in ROLES
        }
        yield partial(_ask_over_mcp, portal, clients)


@contextmanager
def mcp_http(garden: Garden, user_id: str) -> Iterator[Ask]:
    """The Model Context Protocol, over HTTP."""
    with _service(garden) as url, start_blocking_portal() as portal, ExitStack() as stack:

        def client(role: str) -> Client:
            http = httpx2.AsyncClient(
                headers=_token(garden, user_id, role), timeout=60, verify=NO_AUTHORITIES
            )
            stack.enter_context(portal.wrap_async_context_manager(http))
            return Client(streamable_http_client(f"{url}/mcp", http_client=http))

        clients = {
            role: stack.enter_context(portal.wrap_async_context_manager(client(role))) for role in ROLES
        }
        yield partial(_ask_over_mcp, portal, clients)


SURFACES = {
    "python": python,
    "command line": command_line,
    "HTTP": http,
    "MCP over stdio": mcp_stdio,
    "MCP over HTTP": mcp_http,
}


def _ask_over_mcp(
    portal: BlockingPortal, clients: dict[str, Client], role: str, tool: str, args: dict[str, Any]
) -> Envelope:
    answer = portal.call(clients[role].call_tool, tool.replace(".", "_"), args)
    envelope: Envelope = answer.structured_content
    assert envelope["ok"] is not answer.is_error
    return envelope


@contextmanager
def _service(garden: Garden) -> Iterator[str]:
    """A process that serves the garden; gives its address."""
    process = spawn_garden("serve", "--port", "0", "--processes", "1", home=garden.home.path)
    try:
        assert process.stdout is not None
        said = process.stdout.readline()
        assert said.startswith("Listening on http://127.0.0.1:"), said + process.communicate()[1]
        yield said.removeprefix("Listening on ").strip()
    finally:
        process.terminate()
        _, complaints = process.communicate(timeout=60)
        assert process.returncode == 0, complaints


def _token(garden: Garden, user_id: str, role: str) -> dict[str, str]:
    issued = garden.tokens.create(user_id, role=role, actor=ACTOR, expires_at=None)
    return {"authorization": f"Bearer {issued.secret}"}
