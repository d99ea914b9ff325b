"""HTTP on a connection, with bounds on how many there are, and on how long and how large a head may be."""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from garden.settings import Serve
from garden.web.intake import ABORT

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
            self._turn_away(b"503 Service Unavailable")
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

    def _refuse_head(self) -> None:
        if self._is_busy():
            # Nothing can be said in the middle of an answer.
            self.transport.abort()
        else:
            self._turn_away(b"431 Request Header Fields Too Large")

    def _expect_head(self) -> None:
        self._head_ahead, self._head_bytes = False, 0
        self._timer = self.loop.call_later(self.idle_seconds, self._turn_away, b"408 Request Timeout")

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _turn_away(self, status: bytes) -> None:
        self._stop_waiting()
        if not self.transport.is_closing():
            lines = (
                b"HTTP/1.1 " + status,
                b"content-length: 0",
                b"connection: close",
                b"retry-after: 1",
                b"",
                b"",
            )
            self.transport.write(b"\r\n".join(lines))
            self.transport.close()
