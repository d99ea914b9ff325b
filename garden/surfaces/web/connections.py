"""HTTP connections, with bounds on their number and on the time and size of a request's head."""

import asyncio
import secrets
from http import HTTPStatus
from typing import Any

from starlette.responses import Response
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from garden.gateway.processes import SharedCounts
from garden.gateway.threads import OverloadedError
from garden.grammar.errors import GardenError
from garden.home.logs import get_logger
from garden.home.settings import Serve
from garden.surfaces.web.intake import ABORT, KNOWN, NO_SNIFFING
from garden.surfaces.web.problems import HeadTooLargeError, NotAcceptedError, TooLateError, problem

CONNECTIONS = ("connections",)
"""The name of the count of open connections."""
HEAD_BYTES_MAX = 64 * 1024
# Common clients do not use a connection again that was silent for five seconds.
_LAST_REQUEST_SECONDS = 6


def bounded_protocol(limits: Serve, counts: SharedCounts) -> type[HttpToolsProtocol]:
    """Return uvicorn's protocol class with the settings' bounds."""

    class Bounded(_BoundedProtocol):
        places = _Places(limits)
        idle_seconds = limits.idle_seconds
        shared = counts
        stranger_seconds = min(limits.head_seconds, limits.idle_seconds)

    return Bounded


class _Places:
    """The places for connections; a new one takes that of a silent one if there is no other.

    Strangers, who have sent no authenticated request yet, have half of the places, and go first.
    """

    def __init__(self, limits: Serve) -> None:
        self._limits = limits
        self._taken: set[_BoundedProtocol] = set()
        self._strangers: set[_BoundedProtocol] = set()
        # In the order in which they fell silent.
        self._silent: dict[_BoundedProtocol, None] = {}

    def take(self, new: "_BoundedProtocol") -> bool:
        """Give a new connection a place; return whether there is one."""
        all_max, of_address_max = self._limits.connections, self._limits.address_connections
        of_address = sum(each.address == new.address for each in self._taken) if new.address else 0
        has_room = (
            (not 0 < of_address_max <= of_address or self._free(new.address))
            and (len(self._strangers) < max(1, all_max // 2) or self._free(only_strangers=True))
            and (len(self._taken) < all_max or self._free())
        )
        if has_room:
            self._taken.add(new)
            self._strangers.add(new)
            self.note_silence(new)
        return has_room

    def note_silence(self, connection: "_BoundedProtocol") -> None:
        """Note that nothing is under way on a connection."""
        if connection in self._taken:
            self._silent[connection] = None

    def note_request(self, connection: "_BoundedProtocol") -> None:
        """Note that a request is under way."""
        self._silent.pop(connection, None)

    def note_caller(self, connection: "_BoundedProtocol") -> None:
        """Note that the sender of a request was authenticated."""
        self._strangers.discard(connection)

    def give_back(self, connection: "_BoundedProtocol") -> None:
        """Free the place of a connection, if it has one."""
        self._taken.discard(connection)
        self._strangers.discard(connection)
        self._silent.pop(connection, None)

    def _free(self, address: str | None = None, *, only_strangers: bool = False) -> bool:
        """Close the connection that has been silent longest, a stranger's if there is one."""
        silent = [each for each in self._silent if address in (None, each.address)]
        strangers = [each for each in silent if each in self._strangers]
        leaving = strangers if strangers or only_strangers else silent
        for each in leaving[:1]:
            self.give_back(each)
            each.refuse_crowd()
        return bool(leaving)


class _BoundedProtocol(HttpToolsProtocol):
    places: _Places
    idle_seconds: int
    stranger_seconds: int
    shared: SharedCounts
    # The client's; one over a Unix socket has none.
    address: str | None = None
    # Whether other processes take over: the next request of a silent client is still answered here.
    is_retiring = False
    _timer: asyncio.TimerHandle | None = None
    _head_bytes = 0
    # Whether a head has begun behind a request that is still being answered; no timer runs for it.
    _head_ahead = False

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self.shared.add(CONNECTIONS, 1)
        self.address = self.client and self.client[0]
        self.timeout_keep_alive = self.stranger_seconds
        if self.places.take(self):
            self._expect_head()
        else:
            self.refuse_crowd()

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
        self.places.note_request(self)
        self.scope[ABORT] = self.transport.abort  # type: ignore[literal-required]
        self.scope[KNOWN] = self._note_caller  # type: ignore[literal-required]
        super().on_headers_complete()
        if self.is_retiring:
            self.cycle.keep_alive = False

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if not self._is_busy():
            self.places.note_silence(self)

    def _note_caller(self) -> None:
        self.timeout_keep_alive = self.idle_seconds
        self.places.note_caller(self)

    def shutdown(self) -> None:
        """Close the connection once nothing is under way; uvicorn calls this when it stops."""
        if self.is_retiring and not self._is_busy():
            self.loop.call_later(_LAST_REQUEST_SECONDS, super().shutdown)
        else:
            super().shutdown()

    def connection_lost(self, exc: Exception | None) -> None:
        self.shared.add(CONNECTIONS, -1)
        self.places.give_back(self)
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
        seconds = self.timeout_keep_alive
        late = TooLateError(
            f"No request arrived within {seconds} seconds.", hint="Send the whole request at once."
        )
        self._timer = self.loop.call_later(seconds, self._refuse, late)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def refuse_crowd(self) -> None:
        """Close the connection for lack of room."""
        self._refuse(OverloadedError("Too many connections are open.", hint="Open it again in a moment."))

    def _refuse(self, error: GardenError) -> None:
        """Answer as the application would, and close the connection."""
        self._stop_waiting()
        if self.transport.is_closing():
            return
        answer, request_id = problem(error), secrets.token_hex(16)
        answer.headers.update({"Connection": "close", "X-Request-Id": request_id, **NO_SNIFFING})
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
