"""The protocol over HTTP, below a path of the service, which has authenticated the caller before.

The older protocols have sessions: each belongs to the caller who opened it, and does not exist for any other.
The newer protocol has none; every request stands alone.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from functools import partial
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from anyio import CancelScope
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.context import ServerRequestContext
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp_types import INVALID_REQUEST, ErrorData, JSONRPCError
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from garden.application import Garden
from garden.events.records import Caller
from garden.gateway.processes import ServiceProcess
from garden.gateway.threads import CallThreads, TooManyCallsError
from garden.surfaces.mcp.forwarding import SessionForwarder
from garden.surfaces.mcp.handlers import Handlers, protocol_error
from garden.surfaces.mcp.messages import find_json_problem
from garden.surfaces.mcp.server import make_server
from garden.surfaces.mcp.sessions import Sessions

SESSIONS_MAX = 1000
SESSIONS_OF_CALLER_MAX = 64
IDLE_SECONDS_MAX = 30 * 60
BODY_BYTES_MAX = 4 * 1024 * 1024
_BATCH = ErrorData(code=INVALID_REQUEST, message="Send one message at a time: this protocol has no batches.")
_GONE = ErrorData(code=INVALID_REQUEST, message="Session not found")
_SMALL_BODY_BYTES = 64 * 1024
_CALLER = "garden.caller"
_SESSION_ID = MCP_SESSION_ID_HEADER


class McpEndpoint:
    """The protocol for authenticated callers: mount `app`, and enter `run` around it."""

    def __init__(
        self,
        garden: Garden,
        threads: CallThreads,
        *,
        sessions_max: int = SESSIONS_MAX,
        sessions_of_caller_max: int = SESSIONS_OF_CALLER_MAX,
        idle_seconds_max: float = IDLE_SECONDS_MAX,
        process: ServiceProcess | None = None,
    ) -> None:
        process = process or ServiceProcess()
        folder = process.folder
        self._forwarder = None if folder is None else SessionForwarder(folder, process.number)

        async def open_garden() -> Garden:
            return garden

        async def load_handlers() -> Handlers:
            return self._handlers

        shown = garden.gates.policies, garden.settings.mcp
        self._handlers = Handlers(open_garden, threads, _caller, *shown)
        self._streams: set[CancelScope] = set()
        self._sessions = Sessions(sessions_of_caller_max, idle_seconds_max, process.counts)
        self._manager = StreamableHTTPSessionManager(
            make_server(load_handlers, lambda context: _caller(context).user_id),
            session_idle_timeout=idle_seconds_max,
            max_request_body_size=BODY_BYTES_MAX,
            max_sessions=sessions_max,
        )

    async def app(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; this is an ASGI application."""
        headers = Headers(scope=scope)
        if not _is_same_origin(headers):
            refusal = PlainTextResponse("Requests from web pages of other origins are refused.", 403)
            await refusal(scope, receive, send)
            return
        caller: Caller = scope[_CALLER]
        # The SDK takes this as the session's owner: user, actor and role, with any of the caller's tokens.
        scope["user"] = AuthenticatedUser(
            AccessToken(token="", client_id=caller.actor, scopes=[caller.role], subject=_principal(caller))
        )
        if scope["method"] == "POST":
            # The intake has limited its size, and answers for a client that leaves.
            body = await Request(scope, receive).body()
            problem = await _find_problem(body)
            if problem is not None:
                await _refusal(problem, HTTPStatus.BAD_REQUEST)(scope, receive, send)
                return
            receive = _receive_again(body, receive)
        if self._forwarder is not None:
            number = self._forwarder.find_process(scope)
            if number is not None:
                forward = partial(self._forward, number)
                if scope["method"] == "GET":
                    await self._serve_stream(forward, scope, receive, send)
                else:
                    await forward(scope, receive, send)
                return
            headers, send = Headers(scope=scope), self._forwarder.name_process(send)
        if _opens_session(scope["method"], headers):
            await self._open_session(scope, receive, send)
            return
        session_id = headers.get(_SESSION_ID, "")
        with self._sessions.keep_in_use(session_id, caller):
            match scope["method"]:
                case "GET":
                    await self._serve_stream(self._manager.handle_request, scope, receive, send)
                case "DELETE":
                    await self._end_session(session_id, scope, receive, send)
                case _:
                    await self._manager.handle_request(scope, receive, send)

    async def _open_session(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Open a session if this caller has room for one more, or an idle one that can end for it."""
        caller: Caller = scope[_CALLER]
        try:
            oldest = self._sessions.find_one_to_end(caller)
        except TooManyCallsError as error:
            refusal = _refusal(protocol_error(error).error, HTTPStatus.TOO_MANY_REQUESTS)
            await refusal(scope, receive, send)
            return
        with self._sessions.count_opening(caller) as name_session:

            async def send_and_note(message: Message) -> None:
                if _is_success(message):
                    name_session(Headers(raw=message["headers"])[_SESSION_ID])
                await send(message)

            if oldest is not None:
                self._sessions.forget(oldest)
                headers = [(_SESSION_ID.encode(), oldest.encode())]
                await self._end_session(
                    oldest, {**scope, "method": "DELETE", "headers": headers}, _receive_nothing, _discard
                )
            await self._manager.handle_request(scope, receive, send_and_note)

    async def _end_session(self, session_id: str, scope: Scope, receive: Receive, send: Send) -> None:
        """End a session if it is this caller's."""

        async def send_and_note(message: Message) -> None:
            if _is_success(message):
                self._sessions.forget(session_id)
            await send(message)

        await self._manager.handle_request(scope, receive, send_and_note)

    async def _forward(self, number: str, scope: Scope, receive: Receive, send: Send) -> None:
        assert self._forwarder is not None  # noqa: S101 - it named the number
        if not await self._forwarder.forward(number, scope, receive, send):
            await _refusal(_GONE, HTTPStatus.NOT_FOUND)(scope, receive, send)

    async def _serve_stream(self, answer: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a stream until the client leaves or the service stops."""
        began, ended = False, False

        async def send_and_note(message: Message) -> None:
            nonlocal began, ended
            began = True
            ended = message["type"] == "http.response.body" and not message.get("more_body", False)
            await send(message)

        with CancelScope() as stream:
            self._streams.add(stream)
            try:
                await answer(scope, receive, send_and_note)
            finally:
                self._streams.discard(stream)
        if stream.cancelled_caught and began and not ended:
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    def stop(self) -> None:
        """End all streams; call it when the service is about to stop."""
        self._handlers.end_streams()
        for stream in list(self._streams):
            stream.cancel()

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Keep the sessions while the block lasts."""
        async with self._manager.run():
            forgetting = asyncio.create_task(self._sessions.keep_forgetting())
            try:
                yield
            finally:
                forgetting.cancel()
                self.stop()


def _refusal(error: ErrorData, status: HTTPStatus) -> JSONResponse:
    """Refuse a whole request without looking at its message."""
    body = JSONRPCError(jsonrpc="2.0", id=None, error=error)
    return JSONResponse(body.model_dump(by_alias=True, exclude_unset=True), status)


async def _find_problem(body: bytes) -> ErrorData | None:
    """Return what is wrong with a body; of one that is too large the SDK says it."""
    if body.lstrip().startswith(b"["):
        return _BATCH
    if len(body) > BODY_BYTES_MAX:
        return None
    if len(body) < _SMALL_BODY_BYTES:
        return find_json_problem(body)
    return await asyncio.to_thread(find_json_problem, body)


def _receive_again(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that gives a body once more, and then what follows."""
    again: Iterator[Message] = iter([{"type": "http.request", "body": body, "more_body": False}])

    async def receive_next() -> Message:
        return next(again, None) or await receive()

    return receive_next


async def _receive_nothing() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


async def _discard(_message: Message) -> None:
    pass


def _is_success(message: Message) -> bool:
    return message["type"] == "http.response.start" and bool(message["status"] == HTTPStatus.OK)


def _opens_session(method: str, headers: Headers) -> bool:
    version = headers.get(MCP_PROTOCOL_VERSION_HEADER)
    is_older = version is None or version in HANDSHAKE_PROTOCOL_VERSIONS
    return method == "POST" and is_older and _SESSION_ID not in headers


def _caller(context: ServerRequestContext) -> Caller:
    request: Any = context.request
    caller: Caller = request.scope[_CALLER]
    return caller


def _principal(caller: Caller) -> str:
    return f"{caller.user_id}/{caller.role}"


def _is_same_origin(headers: Headers) -> bool:
    """Whether the request comes from no web page, or from one of this service's own address."""
    origin = headers.get("origin")
    try:
        return origin is None or urlsplit(origin).netloc == headers.get("host")
    except ValueError:
        return False
