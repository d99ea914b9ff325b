"""HTTP connections, with bounds on their number and on the time and size of a request's head."""

import asyncio
import secrets
from http import HTTPStatus
from typing import Any

from starlette.responses import Response
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from garden.access.processes import SharedCounts
from garden.access.threads import OverloadedError
from garden.grammar.errors import GardenError
from garden.home.logs import get_logger
from garden.home.settings import Serve
from garden.surfaces.web.intake import ABORT
from garden.surfaces.web.problems import HeadTooLargeError, NotAcceptedError, TooLateError, problem

CONNECTIONS = ("connections",)
"""The name of the count of open connections."""
HEAD_BYTES_MAX = 64 * 1024
# Common clients do not use a connection again that was silent for five seconds.
_LAST_REQUEST_SECONDS = 6


def bounded_protocol(limits: Serve, counts: SharedCounts) -> type[HttpToolsProtocol]:
    """Return uvicorn's protocol class with the settings' bounds."""

    class Bounded(_BoundedProtocol):
        connections_max = limits.connections
        idle_seconds = limits.idle_seconds
        shared = counts

    return Bounded


class _BoundedProtocol(HttpToolsProtocol):
    connections_max: int
    idle_seconds: float
    shared: SharedCounts
    # Whether other processes take over: the next request of a silent client is still answered here.
    is_retiring = False
    _timer: asyncio.TimerHandle | None = None
    _head_bytes = 0
    # Whether a head has begun behind a request that is still being answered; no timer runs for it.
    _head_ahead = False

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self.shared.add(CONNECTIONS, 1)
        if len(self.connections) > self.connections_max:
            self._refuse(OverloadedError("Too many connections are open.", hint="Open it again in a moment."))
        else:
            self._expect_head()

    def data_received(self, data: bytes) -> None:
        waiting, ahead = self._timer is not None, self._head_ahead
        super().data_received(data)
        if self.transport.is_closing():
            return
        if (waiting and self._timer is not None) or (ahead and self._head_ahead):
            self._head_bytes += len(data)
            if self._head_bytes > HEAD_BYTES_MAX:
                self._refuse_large_head()
                return
        if self._timer is None and not self._is_busy():
            # Another request begins here, or white space that never becomes one.
            self._expect_head()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        if self._is_busy():
            self._head_ahead, self._head_bytes = True, 0

    def on_headers_complete(self) -> None:
        self._head_ahead = False
        self._stop_waiting()
        self.scope[ABORT] = self.transport.abort  # type: ignore[literal-required]
        super().on_headers_complete()
        if self.is_retiring:
            self.cycle.keep_alive = False

    def shutdown(self) -> None:
        """Close the connection once nothing is under way; uvicorn calls this when it stops."""
        if self.is_retiring and not self._is_busy():
            self.loop.call_later(_LAST_REQUEST_SECONDS, super().shutdown)
        else:
            super().shutdown()

    def connection_lost(self, exc: Exception | None) -> None:
        self.shared.add(CONNECTIONS, -1)
        self._stop_waiting()
        super().connection_lost(exc)

    def _is_busy(self) -> bool:
        # None before the first request, despite its type.
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is not None and not cycle.response_complete

    def send_400_response(self, msg: str) -> None:
        """Answer bytes that are no request; uvicorn calls this."""
        if self._is_next_to_answer():
            self._refuse(NotAcceptedError(msg, hint="Use an HTTP library."))
        else:
            # The client would take it for the answer to an earlier request, which may still succeed.
            self.transport.close()

    def _is_next_to_answer(self) -> bool:
        """Whether the arriving request is the next to answer, and its answer has not begun."""
        cycle: RequestResponseCycle | None = self.cycle
        if cycle is None or cycle.response_complete:
            return True
        return cycle.more_body and not cycle.response_started and not self.pipeline

    def _refuse_large_head(self) -> None:
        if self._is_busy():
            # An answer is being sent; a refusal can't interrupt it.
            self.transport.abort()
        else:
            self._refuse(
                HeadTooLargeError(
                    f"The head of the request is larger than {HEAD_BYTES_MAX} bytes.",
                    hint="Send fewer or shorter headers.",
                )
            )

    def _expect_head(self) -> None:
        self._head_ahead, self._head_bytes = False, 0
        late = TooLateError(
            f"No request arrived within {self.idle_seconds} seconds.", hint="Send the whole request at once."
        )
        self._timer = self.loop.call_later(self.idle_seconds, self._refuse, late)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _refuse(self, error: GardenError) -> None:
        """Answer as the application would, and close the connection."""
        self._stop_waiting()
        if self.transport.is_closing():
            return
        answer, request_id = problem(error), secrets.token_hex(16)
        answer.headers.update({"Connection": "close", "X-Request-Id": request_id})
        self.transport.write(_encode(answer))
        self.transport.close()
        get_logger("garden.web").debug(
            "a connection was refused", request_id=request_id, status=answer.status_code
        )


def _encode(answer: Response) -> bytes:
    """Encode an answer as HTTP/1.1."""
    status = HTTPStatus(answer.status_code)
    head = b"".join(b"%b: %b\r\n" % header for header in answer.raw_headers)
    return b"HTTP/1.1 %d %b\r\n%b\r\n%b" % (status, status.phrase.encode(), head, bytes(answer.body))
