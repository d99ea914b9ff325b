"""The intake: it identifies, bounds, authenticates and counts every request, and answers every error.

It is the one place that turns an error into an HTTP answer; connections answer only what never becomes a
request.
"""

import asyncio
import itertools
import logging
import re
import secrets
import time
import traceback
from collections.abc import Awaitable, Callable, MutableMapping
from http import HTTPStatus
from typing import Any

import structlog
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.routing import Match

from garden.gateway.dispatcher import InternalError
from garden.gateway.processes import SharedCounts
from garden.gateway.threads import OverloadedError, TooManyCallsError
from garden.grammar.errors import GardenError
from garden.home.logs import get_logger
from garden.home.settings import Serve
from garden.lint.secrets import secrets_in
from garden.surfaces.web.authentication import Authenticator
from garden.surfaces.web.metrics import Metrics
from garden.surfaces.web.problems import (
    BodyTooLargeError,
    MethodError,
    NoRouteError,
    NotAcceptedError,
    TooLateError,
    problem,
)

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

CALLER = "garden.caller"
"""The scope's key for the caller."""
ABORT = "garden.abort"
"""The scope's key for the function that cuts the connection."""
KNOWN = "garden.known"
"""The scope's key for the function that notes that the connection's caller was authenticated."""
MOUNTED_AT = "garden.mounted_at"
"""The scope's key for the path of the mount that answers."""

NO_SNIFFING = {"X-Content-Type-Options": "nosniff"}
"""The header by which a browser takes an answer for its declared type alone."""

# A client that was refused for lack of room must not keep its connection.
_CLOSING_STATUSES = frozenset({429, 503})
_NO_SNIFFING = [(name.lower().encode(), value.encode()) for name, value in NO_SNIFFING.items()]
_CLOSE = [(b"connection", b"close")]
_ID = re.compile(r"[A-Za-z0-9._~-]{1,128}")
_BUFFERED_BODIES_MAX = 16
# A body is held until its answer ends, and a stream may last: one user alone must not use up the memory.
_BUFFERED_BODIES_OF_USER_MAX = 8
_NO_ANSWER = 499
_LOGGER = "garden.web"


class Intake:
    """The outermost layer of the service, an ASGI application."""

    def __init__(
        self,
        inner: Application,
        authenticator: Authenticator,
        limits: Serve,
        metrics: Metrics,
        is_open: Callable[[str], bool],
        has_own_door: Callable[[str], bool],
        counts: SharedCounts,
    ) -> None:
        self._inner = inner
        self._authenticator = authenticator
        self.limits = limits
        self._metrics = metrics
        self._is_open = is_open
        self._has_own_door = has_own_door
        self._log = get_logger(_LOGGER)
        self._counts = counts
        self._buffered = 0
        # Random bytes for every request would release the interpreter lock once more.
        self._ids = itertools.count(1)
        self._id_prefix = secrets.token_hex(8)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; every error becomes an answer too."""
        if scope["type"] != "http":
            await self._inner(scope, receive, send)
            return
        headers = Headers(scope=scope)
        exchange = _Exchange(_request_id(headers, f"{self._id_prefix}{next(self._ids):016x}"), send)
        structlog.contextvars.bind_contextvars(request_id=exchange.request_id)
        self._metrics.in_flight.inc()
        try:
            await self._answer(scope, headers, receive, exchange)
        finally:
            self._metrics.in_flight.dec()
            self._count(scope, exchange)

    async def _answer(self, scope: Scope, headers: Headers, receive: Receive, exchange: "_Exchange") -> None:
        body = _Body(self, receive, headers, scope)
        try:
            if not self._has_own_door(scope["path"]):
                self._authenticator.inspect(headers)
            if not self._is_open(scope["path"]):
                scope[CALLER] = await self._authenticator.authenticate(headers)
                scope[KNOWN]()
            body.check_length()
            await self._inner(scope, body.receive, exchange.send)
        except GardenError as error:
            await self._refuse(error, scope, receive, exchange)
        except HTTPException as error:
            await self._refuse(_routing_error(error, scope), scope, receive, exchange)
        except ClientDisconnect:
            return
        except Exception:  # noqa: BLE001 - the outermost edge of every request
            # As text, since some log renderers show local variables, which hold the request.
            self._log.error("a request failed unexpectedly", exception=traceback.format_exc())
            fault = InternalError("Something went wrong here.", hint="The service's log says more.")
            await self._refuse(fault, scope, receive, exchange)
        finally:
            self._release(body)

    async def _refuse(
        self, error: GardenError, scope: Scope, receive: Receive, exchange: "_Exchange"
    ) -> None:
        if exchange.status is None:
            await problem(error)(scope, receive, exchange.send)

    def buffer(self, user_id: str, size: int) -> None:
        """Count part of a body, unless all bodies together are too large."""
        self._buffered += size
        self._counts.add(("bodies", user_id), size)
        if self._counts.total(("bodies", user_id)) > self.limits.body_bytes * _BUFFERED_BODIES_OF_USER_MAX:
            raise TooManyCallsError(
                "This user sends too much at once.",
                hint="Wait for the answers, then send it again.",
                details={"retryAfterMs": 1000},
            )
        if self._buffered > self.limits.body_bytes * _BUFFERED_BODIES_MAX:
            raise OverloadedError("Too much is being sent at once.", hint="Send it again in a moment.")

    def _release(self, body: "_Body") -> None:
        if body.size:
            self._buffered -= body.size
            self._counts.add(("bodies", body.user_id), -body.size)

    def _count(self, scope: Scope, exchange: "_Exchange") -> None:
        seconds = time.perf_counter() - exchange.started
        route = getattr(scope.get("route"), "path", None) or scope.get(MOUNTED_AT, "other")
        status = exchange.status or _NO_ANSWER
        method = scope["method"] if scope["method"] in _METHODS else "OTHER"
        self._metrics.request(method, route, status, seconds)
        level = logging.WARNING if status >= 500 else logging.DEBUG
        # structlog builds an entry before it checks the level, which takes longer than all the rest here.
        if logging.getLogger(_LOGGER).isEnabledFor(level):
            fields = {"method": method, "route": route, "status": status, "seconds": round(seconds, 6)}
            self._log.log(level, "request", **fields)


_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class _Exchange:
    """One request's id, start and status."""

    def __init__(self, request_id: str, send: Send) -> None:
        self.request_id = request_id
        self.started = time.perf_counter()
        self.status: int | None = None
        self._send = send

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            own = [(b"x-request-id", self.request_id.encode()), *_NO_SNIFFING]
            closing = _CLOSE if self.status in _CLOSING_STATUSES else []
            message["headers"] = [*message.get("headers", ()), *own, *closing]
        await self._send(message)


class _Body:
    """The body of a request while it arrives."""

    def __init__(self, intake: Intake, receive: Receive, headers: Headers, scope: Scope) -> None:
        self.size = 0
        self._scope = scope
        self._intake = intake
        self._receive = receive
        self._headers = headers
        self._complete = False
        self._deadline = 0.0

    @property
    def user_id(self) -> str:
        """The user who sends it; the console knows its callers before it reads their forms."""
        return getattr(self._scope.get(CALLER), "user_id", "")

    def check_length(self) -> None:
        """Refuse a body declared too large before any of it is read."""
        length = self._headers.get("content-length", "0")
        if not length.isascii() or not length.isdigit():
            raise NotAcceptedError("Content-Length must be a number.", hint="Leave it to the HTTP library.")
        if int(length) > self._intake.limits.body_bytes:
            raise self._too_large()

    async def receive(self) -> Message:
        """Receive the next part, within the bounds of time and size."""
        if self._complete:
            return await self._receive()
        loop = asyncio.get_running_loop()
        self._deadline = self._deadline or loop.time() + self._intake.limits.body_seconds
        try:
            async with asyncio.timeout_at(self._deadline):
                message = await self._receive()
        except TimeoutError:
            raise TooLateError(
                f"The body did not arrive within {self._intake.limits.body_seconds} seconds.",
                hint="Send the whole request at once.",
            ) from None
        if message["type"] == "http.request":
            self._count(len(message.get("body", b"")))
            self._complete = not message.get("more_body", False)
        return message

    def _count(self, size: int) -> None:
        if self.size + size > self._intake.limits.body_bytes:
            raise self._too_large()
        self.size += size
        self._intake.buffer(self.user_id, size)

    def _too_large(self) -> BodyTooLargeError:
        return BodyTooLargeError(
            f"The body is larger than {self._intake.limits.body_bytes} bytes.",
            hint="A document may have 1 MiB; move older entries elsewhere.",
        )


def _request_id(headers: Headers, default: str) -> str:
    given = headers.get("x-request-id", "")
    # A secret in it would be logged.
    return given if _ID.fullmatch(given) and not any(secrets_in(given)) else default


def _routing_error(error: HTTPException, scope: Scope) -> GardenError:
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        # The router names the methods of the first route at this address only.
        routes = [each for each in scope["app"].routes if each.matches(scope)[0] is not Match.NONE]
        return MethodError(sorted({method for each in routes for method in getattr(each, "methods", ())}))
    return NoRouteError("No route has this address.", hint="GET /openapi.json lists the routes.")
