"""The protocol over HTTP, below a path of the service, which has let the caller in before.

The older protocols have sessions: each belongs to whoever opened it, and is not there for anybody else. The
newer one has none, and every request stands for itself.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from anyio import CancelScope
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp_types import INVALID_REQUEST, ErrorData, JSONRPCError
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.datastructures import Headers
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.types import Message, Receive, Scope, Send

from garden.access.threads import TooManyCallsError, Workers
from garden.application import Garden
from garden.events.records import Caller
from garden.surfaces.mcp.callers import Context
from garden.surfaces.mcp.garden_source import Open
from garden.surfaces.mcp.handlers import Handlers, protocol_error
from garden.surfaces.mcp.server import make_server
from garden.surfaces.mcp.sessions import Sessions

SESSIONS_MAX = 1000
SESSIONS_OF_CALLER_MAX = 64
IDLE_SECONDS_MAX = 30 * 60
BODY_BYTES_MAX = 4 * 1024 * 1024
_BATCH = ErrorData(code=INVALID_REQUEST, message="Send one message at a time: this protocol has no batches.")
_CALLER = "garden.caller"
_SESSION_ID = MCP_SESSION_ID_HEADER


class McpEndpoint:
    """The protocol for everybody who was let in: `app` is to be mounted, and `run` entered around it."""

    def __init__(
        self,
        garden: Garden,
        workers: Workers,
        *,
        sessions_max: int = SESSIONS_MAX,
        sessions_of_caller_max: int = SESSIONS_OF_CALLER_MAX,
        idle_seconds_max: float = IDLE_SECONDS_MAX,
    ) -> None:
        self._handlers = Handlers(Open(garden), workers, _caller)
        self._standing: set[CancelScope] = set()
        self._sessions = Sessions(sessions_of_caller_max, idle_seconds_max)
        self._manager = StreamableHTTPSessionManager(
            make_server(self._ready, lambda context: _caller(context).user_id),
            session_idle_timeout=idle_seconds_max,
            max_request_body_size=BODY_BYTES_MAX,
            max_sessions=sessions_max,
        )

    async def app(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, as an ASGI application does."""
        headers = Headers(scope=scope)
        if not _is_same_origin(headers):
            refused = PlainTextResponse("Requests of web pages from elsewhere are not answered.", 403)
            await refused(scope, receive, send)
            return
        caller: Caller = scope[_CALLER]
        # By this the SDK knows whose a session is: the same user, actor and role, whatever token is used.
        scope["user"] = AuthenticatedUser(
            AccessToken(token="", client_id=caller.actor, scopes=[caller.role], subject=_principal(caller))
        )
        if scope["method"] == "POST":
            beginning = await receive()
            if _is_batch(beginning):
                await _refused(_BATCH, HTTPStatus.BAD_REQUEST)(scope, receive, send)
                return
            receive = _from(beginning, receive)
        if _opens_session(scope["method"], headers):
            await self._open(scope, receive, send)
            return
        session_id = headers.get(_SESSION_ID, "")
        with self._sessions.used(session_id, caller):
            match scope["method"]:
                case "GET":
                    await self._stand(scope, receive, send)
                case "DELETE":
                    await self._end(session_id, scope, receive, send)
                case _:
                    await self._manager.handle_request(scope, receive, send)

    async def _open(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Open a session, if there is room for one more of this caller's."""
        caller: Caller = scope[_CALLER]
        try:
            in_the_way = self._sessions.in_the_way(caller)
        except TooManyCallsError as error:
            refused = _refused(protocol_error(error).error, HTTPStatus.TOO_MANY_REQUESTS)
            await refused(scope, receive, send)
            return
        with self._sessions.opening(caller) as opened:

            async def watched(message: Message) -> None:
                if _says_yes(message):
                    opened(Headers(raw=message["headers"])[_SESSION_ID])
                await send(message)

            if in_the_way is not None:
                self._sessions.ended(in_the_way)
                headers = [(_SESSION_ID.encode(), in_the_way.encode())]
                ending = {**scope, "method": "DELETE", "headers": headers}
                await self._end(in_the_way, ending, _nothing_more, _unheard)
            await self._manager.handle_request(scope, receive, watched)

    async def _end(self, session_id: str, scope: Scope, receive: Receive, send: Send) -> None:
        """End a session, if it is this caller's."""

        async def watched(message: Message) -> None:
            if _says_yes(message):
                self._sessions.ended(session_id)
            await send(message)

        await self._manager.handle_request(scope, receive, watched)

    async def _stand(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with a stream that lasts as long as the client stays, or until everything is to end."""
        began, ended = False, False

        async def watched(message: Message) -> None:
            nonlocal began, ended
            began = True
            ended = message["type"] == "http.response.body" and not message.get("more_body", False)
            await send(message)

        with CancelScope() as standing:
            self._standing.add(standing)
            try:
                await self._manager.handle_request(scope, receive, watched)
            finally:
                self._standing.discard(standing)
        if standing.cancelled_caught and began and not ended:
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    def stop(self) -> None:
        """End what would last for as long as its client wants; call it when the service is about to stop."""
        self._handlers.end_streams()
        for standing in list(self._standing):
            standing.cancel()

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Keep the sessions for as long as the block lasts."""
        async with self._manager.run():
            try:
                yield
            finally:
                self.stop()

    async def _ready(self) -> Handlers:
        return self._handlers


def _refused(error: ErrorData, status: HTTPStatus) -> JSONResponse:
    """Refuse a request as a whole, whatever the id of the message in it."""
    said = JSONRPCError(jsonrpc="2.0", id=None, error=error)
    return JSONResponse(said.model_dump(by_alias=True, exclude_unset=True), status)


def _is_batch(beginning: Message) -> bool:
    body: bytes = beginning.get("body", b"")
    return body.lstrip().startswith(b"[")


def _from(beginning: Message, receive: Receive) -> Receive:
    """Receive what begins with a piece that was looked at already."""
    taken = [beginning]

    async def again() -> Message:
        return taken.pop() if taken else await receive()

    return again


async def _nothing_more() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


async def _unheard(_message: Message) -> None:
    pass


def _says_yes(message: Message) -> bool:
    return message["type"] == "http.response.start" and bool(message["status"] == HTTPStatus.OK)


def _opens_session(method: str, headers: Headers) -> bool:
    version = headers.get(MCP_PROTOCOL_VERSION_HEADER)
    is_older = version is None or version in HANDSHAKE_PROTOCOL_VERSIONS
    return method == "POST" and is_older and _SESSION_ID not in headers


def _caller(context: Context) -> Caller:
    request: Any = context.request
    caller: Caller = request.scope[_CALLER]
    return caller


def _principal(caller: Caller) -> str:
    return f"{caller.user_id}/{caller.role}"


def _is_same_origin(headers: Headers) -> bool:
    """Tell whether no web page sent this, or one that came from the same address."""
    origin = headers.get("origin")
    try:
        return origin is None or urlsplit(origin).netloc == headers.get("host")
    except ValueError:
        return False
