"""HTTP on a connection, with bounds on how many there are, and on how long and how large a head may be."""

import asyncio
import secrets
from http import HTTPStatus
from typing import Any

import structlog
from starlette.responses import Response
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from garden.access.threads import OverloadedError
from garden.grammar.errors import GardenError
from garden.home.settings import Serve
from garden.surfaces.web.intake import ABORT
from garden.surfaces.web.problems import HeadTooLargeError, NotAcceptedError, TooLateError, problem

HEAD_BYTES_MAX = 64 * 1024


def bounded_protocol(limits: Serve) -> type[HttpToolsProtocol]:
    """Make uvicorn's protocol with the bounds that the settings name."""

    class Bounded(_BoundedProtocol):
        connections_max = limits.connections
        idle_seconds = limits.idle_seconds

    return Bounded


class _BoundedProtocol(HttpToolsProtocol):
    connections_max: int
    idle_seconds: float
    _timer: asyncio.TimerHandle | None = None
    _head_bytes = 0
    # Whether a head has begun behind a request that is still being answered; nothing waits for its end.
    _head_ahead = False

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        if len(self.connections) > self.connections_max:
            self._turn_away(
                OverloadedError("Too many connections are open.", hint="Open it again in a moment.")
            )
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
                self._refuse_head()
                return
        if self._timer is None and not self._is_busy():
            # The beginning of another request, or white space that never becomes one.
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

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def _is_busy(self) -> bool:
        # None before the first request, whatever its type says.
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is not None and not cycle.response_complete

    def send_400_response(self, msg: str) -> None:
        """Answer what is no request; uvicorn calls this."""
        if self._is_next_to_answer():
            self._turn_away(NotAcceptedError(msg, hint="Leave the writing of requests to an HTTP library."))
        else:
            # It would be taken for the answer to a request before, which may well be carried out.
            self.transport.close()

    def _is_next_to_answer(self) -> bool:
        """Whether what arrives now is a request that nothing is answered before, nor has been of it."""
        cycle: RequestResponseCycle | None = self.cycle
        if cycle is None or cycle.response_complete:
            return True
        return cycle.more_body and not cycle.response_started and not self.pipeline

    def _refuse_head(self) -> None:
        if self._is_busy():
            # Nothing can be said in the middle of an answer.
            self.transport.abort()
        else:
            self._turn_away(
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
        self._timer = self.loop.call_later(self.idle_seconds, self._turn_away, late)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _turn_away(self, error: GardenError) -> None:
        """Refuse in the application's way what never reaches it, and close the connection."""
        self._stop_waiting()
        if self.transport.is_closing():
            return
        answer, request_id = problem(error), secrets.token_hex(16)
        answer.headers.update({"Connection": "close", "X-Request-Id": request_id})
        self.transport.write(_written(answer))
        self.transport.close()
        structlog.get_logger("garden.web").debug(
            "a connection was turned away", request_id=request_id, status=answer.status_code
        )


def _written(answer: Response) -> bytes:
    """Write an answer as it travels."""
    status = HTTPStatus(answer.status_code)
    head = b"".join(b"%b: %b\r\n" % header for header in answer.raw_headers)
    return b"HTTP/1.1 %d %b\r\n%b\r\n%b" % (status, status.phrase.encode(), head, bytes(answer.body))
