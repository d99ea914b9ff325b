"""Requests for a session that another process of the service holds: they go to that process and back.

A session's id begins with the number of its process. A number leads to a socket of this service and nowhere
else, and the other process authenticates the request again.
"""

import asyncio
from pathlib import Path

import anyio
import httpx2
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

_SESSION_ID = MCP_SESSION_ID_HEADER.encode()
# Each hop has its own.
_NOT_PASSED_ON = frozenset(
    {b"connection", b"date", b"transfer-encoding", b"x-request-id", b"x-content-type-options"}
)
_ABORT, _MOUNTED_AT = "garden.abort", "garden.mounted_at"


class SessionForwarder:
    """Passes requests on to the processes that hold their sessions; used from the event loop alone."""

    def __init__(self, folder: Path, number: int) -> None:
        self._folder = folder
        self._number = b"%d" % number

    def find_process(self, scope: Scope) -> str | None:
        """Return the number of the other process that holds a request's session, if one does.

        Else the session gets the id by which it is known here.
        """
        headers = scope["headers"]
        number, _, own_id = dict(headers).get(_SESSION_ID, b"").partition(b"-")
        if number.isdigit() and number != self._number:
            return str(number, "ascii")
        if number == self._number:
            scope["headers"] = [(name, own_id if name == _SESSION_ID else value) for name, value in headers]
        return None

    def name_process(self, send: Send) -> Send:
        """Return a `send` that puts this process's number before a session's id."""

        async def send_named(message: Message) -> None:
            for at, (name, value) in enumerate(message.get("headers", ())):
                if name.lower() == _SESSION_ID:
                    message["headers"][at] = name, self._number + b"-" + value
            await send(message)

        return send_named

    async def forward(self, number: str, scope: Scope, receive: Receive, send: Send) -> bool:
        """Have another process answer; returns whether it is there."""
        # Below the mount every path means the same, and one with dots could lead out of it.
        url = httpx2.URL(f"http://garden{scope[_MOUNTED_AT]}", query=scope["query_string"])
        # The other process counts the request as one of the mount's.
        scope[_MOUNTED_AT] = "forwarded"
        incoming = Request(scope, receive)
        # This socket carries plain HTTP; loading the certificates would hold up the event loop.
        transport = httpx2.AsyncHTTPTransport(verify=False, uds=str(self._folder / f"{number}.sock"))
        async with httpx2.AsyncClient(transport=transport, timeout=None) as client:
            body = await incoming.body()
            outgoing = httpx2.Request(scope["method"], url, headers=scope["headers"], content=body)
            try:
                answer = await client.send(outgoing, stream=True)
                await _pass_back(answer, receive, send)
            except httpx2.ConnectError:
                return False
            except httpx2.TransportError:
                # The process died while it answered, so this connection ends as its own did.
                scope[_ABORT]()
        return True


async def _pass_back(answer: httpx2.Response, receive: Receive, send: Send) -> None:
    """Pass an answer back until it ends or the client leaves."""
    headers = [each for each in answer.headers.raw if each[0].lower() not in _NOT_PASSED_ON]
    with anyio.CancelScope() as passing:
        leaving = asyncio.create_task(_wait_until_client_left(receive))
        leaving.add_done_callback(lambda _: passing.cancel())
        try:
            await send({"type": "http.response.start", "status": answer.status_code, "headers": headers})
            async for chunk in answer.aiter_raw():
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
            await send({"type": "http.response.body", "body": b""})
        finally:
            leaving.cancel()


async def _wait_until_client_left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
