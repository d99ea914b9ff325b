"""A proxy to a database that breaks connections on request.

    python -m tests.crash.proxy SEED TARGET

The target is the path of a socket, or HOST:PORT. The proxy listens on this machine only and prints its port.
Each line of its standard input sets how many of a thousand messages, in either direction, meet an accident:
they arrive late, are lost with the connection, or are cut in the middle. It ends with its standard input.
"""

import asyncio
import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from tests.crash.ledger import REPOSITORY

_LATE_SECONDS_MAX = 0.05
_QUIET_SECONDS_MAX = 0.3
_PIECE_BYTES = 1 << 16


class BrokenOffError(Exception):
    """The connection breaks here."""


class Proxy:
    """All connections, and how many of their messages meet an accident."""

    def __init__(self, target: str, seed: int) -> None:
        self.accidents_per_thousand = 0
        self._target = target
        self._random = random.Random(seed)  # noqa: S311 - it only chooses
        self._writers: set[asyncio.StreamWriter] = set()

    async def converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Forward messages until one side is gone."""
        try:
            there_reader, there_writer = await self._connected()
        except OSError:
            writer.transport.abort()
            return
        both = {writer, there_writer}
        self._writers |= both
        ways = (self._pass_on(reader, there_writer), self._pass_on(there_reader, writer))
        tasks = [asyncio.ensure_future(way) for way in ways]
        try:
            await asyncio.wait(tasks, return_when="FIRST_COMPLETED")
        finally:
            self._writers -= both
            for each in both:
                each.transport.abort()
            await asyncio.wait(tasks)

    async def end(self) -> None:
        """Abort all connections, and wait until they ended."""
        for writer in self._writers:
            writer.transport.abort()
        while self._writers:
            await asyncio.sleep(0)

    async def break_off_at_times(self) -> None:
        """Abort idle connections too, now and then."""
        while True:
            await asyncio.sleep(_QUIET_SECONDS_MAX * self._random.random())
            if self.accidents_per_thousand and self._writers:
                self._random.choice(sorted(self._writers, key=id)).transport.abort()

    async def _connected(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self._target.startswith("/"):
            return await asyncio.open_unix_connection(self._target)
        host, _, port = self._target.rpartition(":")
        return await asyncio.open_connection(host, int(port))

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, BrokenOffError):
            while piece := await reader.read(_PIECE_BYTES):
                if self._random.random() * 1000 < self.accidents_per_thousand:
                    await self._accident(piece, writer)
                else:
                    writer.write(piece)
                await writer.drain()

    async def _accident(self, piece: bytes, writer: asyncio.StreamWriter) -> None:
        match self._random.choice(["late", "lost", "cut"]):
            case "late":
                await asyncio.sleep(_LATE_SECONDS_MAX * self._random.random())
                writer.write(piece)
            case "cut":
                writer.write(piece[: self._random.randrange(len(piece))])
                await writer.drain()
                raise BrokenOffError
            case _:
                raise BrokenOffError


class Line:
    """The harness's connection to the proxy."""

    def __init__(self, process: subprocess.Popen[str], port: int) -> None:
        self._process = process
        self.port = port

    def accidents(self, per_thousand: int) -> None:
        """Set how many of a thousand messages meet an accident."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{per_thousand}\n")
        self._process.stdin.flush()
        assert self._process.stdout.readline() == f"{per_thousand}\n"


@contextmanager
def proxy_to(target: str, seed: int) -> Iterator[Line]:
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.crash.proxy", str(seed), target],
        cwd=REPOSITORY,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield Line(process, int(process.stdout.readline()))
        finally:
            process.stdin.close()
            process.wait()


async def main(seed: int, target: str) -> None:
    proxy = Proxy(target, seed)
    server = await asyncio.start_server(proxy.converse, "127.0.0.1", 0)
    orders = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(orders), sys.stdin
    )
    print(server.sockets[0].getsockname()[1], flush=True)
    breaking = asyncio.ensure_future(proxy.break_off_at_times())
    while order := await orders.readline():
        proxy.accidents_per_thousand = int(order)
        print(order.decode().strip(), flush=True)
    breaking.cancel()
    server.close()
    await proxy.end()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), sys.argv[2]))
