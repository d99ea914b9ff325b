"""A client on bare, open sockets: cheap, since it shares the machine with the server."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import cast

Request = Callable[[], bytes]


@dataclass
class Tally:
    """The times of requests, and the answers other than 200."""

    seconds: list[float] = field(default_factory=list)
    failures: list[bytes] = field(default_factory=list)

    def quantile(self, share: float) -> float:
        ordered = sorted(self.seconds)
        return ordered[min(int(len(ordered) * share), len(ordered) - 1)]


class Connection(asyncio.Protocol):
    """One connection for one request at a time."""

    _transport: asyncio.WriteTransport

    def __init__(self) -> None:
        self._answer: asyncio.Future[bytes] | None = None
        self._received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports are not subclasses of asyncio's.
        self._transport = cast("asyncio.WriteTransport", transport)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(exc or ConnectionResetError("closed"))

    async def ask(self, request: bytes) -> bytes:
        """Send a request and return the whole answer."""
        self._answer = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        return await self._answer

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, found, body = self._received.partition(b"\r\n\r\n")
        if found and len(body) >= _length(head):
            answer, self._received = self._received, b""
            if self._answer is not None and not self._answer.done():
                self._answer.set_result(answer)


async def connected(host: str, port: int) -> Connection:
    _, connection = await asyncio.get_running_loop().create_connection(Connection, host, port)
    return connection


async def as_fast_as_possible(connection: Connection, request: Request, until: float, tally: Tally) -> None:
    """Send each request as soon as the last is answered."""
    while time.perf_counter() < until:
        await _take(connection, request(), time.perf_counter(), tally)


async def in_step(connection: Connection, request: Request, rate: float, until: float, tally: Tally) -> None:
    """Send so many requests a second; time each from when it was due."""
    due = time.perf_counter()
    while time.perf_counter() < until:
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        await _take(connection, request(), due, tally)
        due += 1 / rate


async def _take(connection: Connection, request: bytes, since: float, tally: Tally) -> None:
    answer = await connection.ask(request)
    tally.seconds.append(time.perf_counter() - since)
    if not answer.startswith(b"HTTP/1.1 200 "):
        tally.failures.append(answer[:600])


def post(path: str, body: bytes, token: str) -> bytes:
    return (
        f"POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    ).encode() + body


def _length(head: bytes) -> int:
    _, _, rest = head.lower().partition(b"content-length:")
    return int(rest.partition(b"\r\n")[0] or 0)
