"""Standard input and output as the two streams of a conversation, one JSON message a line.

The descriptors are taken away from everybody else: whatever prints, in this process or in one that it starts,
prints to standard error, and nothing but protocol reaches standard output.

A message that has been begun is written to its end. At the end of the input, and when asked to stop, nothing
more is read, and the conversation ends when what was asked before has been answered.
"""

import asyncio
import fcntl
import os
import select
import stat
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import Any, Self

import anyio
import mcp_types as types
from mcp.shared.message import SessionMessage

from garden.surfaces.mcp.messages import LINE_BYTES_MAX, Lines, refusal_of, understood, written

DRAIN_SECONDS_MAX = 10
_CHUNK_BYTES = 64 * 1024
_WAITING_MAX = 64
# A pipe that has any room takes so many bytes without making the writer wait.
_ATOMIC_BYTES = select.PIPE_BUF
# What is answered with a stream that ends when the conversation does.
_NEVER_ANSWERED = "subscriptions/listen"


@contextmanager
def claimed() -> Iterator[tuple[int, int]]:
    """Take standard input and output for the protocol alone; gives the handles to read and to write."""
    reading, writing = _private(0), _private(1)
    try:
        with open(os.devnull, "rb") as nothing:  # noqa: PTH123 - a descriptor is wanted, for what has none
            os.dup2(nothing.fileno(), 0)
        os.dup2(2, 1)
        yield reading, writing
    finally:
        os.dup2(reading, 0)
        os.dup2(writing, 1)
        os.close(reading)
        os.close(writing)


def _private(handle: int) -> int:
    """Give another handle, above those that programs take for granted, and inherited by none."""
    return fcntl.fcntl(handle, fcntl.F_DUPFD_CLOEXEC, 3)


def _is_always_ready(handle: int) -> bool:
    """Tell a file, or /dev/null, by what no event loop does: watch it."""
    mode = os.fstat(handle).st_mode
    return stat.S_ISREG(mode) or (stat.S_ISCHR(mode) and not os.isatty(handle))


class Conversation:
    """What was asked and not yet answered; `first_answer` is called when anything was, for the first time."""

    def __init__(self) -> None:
        self.first_answer: Callable[[], None] | None = None
        self._open: set[types.RequestId] = set()
        self._settled = asyncio.Event()
        self._settled.set()

    def came(self, message: types.JSONRPCMessage) -> None:
        """Note what the client sent."""
        if isinstance(message, types.JSONRPCRequest) and message.method != _NEVER_ANSWERED:
            self._open.add(message.id)
            self._settled.clear()
        elif isinstance(message, types.JSONRPCNotification) and message.method == "notifications/cancelled":
            self._answered((message.params or {}).get("requestId"))

    def went(self, message: types.JSONRPCMessage) -> None:
        """Note what the client was sent."""
        if isinstance(message, types.JSONRPCResponse | types.JSONRPCError):
            self._answered(message.id)
            if self.first_answer is not None:
                self.first_answer()
                self.first_answer = None

    async def settled(self) -> None:
        """Wait until everything was answered, for so long as can be expected of anybody."""
        with suppress(TimeoutError):
            async with asyncio.timeout(DRAIN_SECONDS_MAX):
                await self._settled.wait()

    def _answered(self, request_id: Any) -> None:
        if isinstance(request_id, str | int):
            self._open.discard(request_id)
        if not self._open:
            self._settled.set()


class _Stream:
    """What the SDK expects of either end."""

    async def aclose(self) -> None:
        """End it."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


class Outgoing(_Stream):
    """Where messages are written to."""

    def __init__(self, handle: int, conversation: Conversation) -> None:
        self._handle = handle
        self._conversation = conversation
        self._room = select.poll()
        self._room.register(handle, select.POLLOUT)
        # Waits where the client does not read, so that nothing else has to.
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="garden-mcp-out")
        self._behind = 0
        self.broken = asyncio.Event()

    async def send(self, item: SessionMessage) -> None:
        """Write one message."""
        if self.broken.is_set():
            raise anyio.BrokenResourceError
        line = written(item.message)
        left = line if self._behind else self._write(line, seconds=0)
        if left:
            await self._write_in_turn(left)
        self._conversation.went(item.message)

    def close(self) -> None:
        """Stop; a client that does not read what it asked for has no claim to the rest of it."""
        self.broken.set()
        self._writer.shutdown(cancel_futures=True)

    async def _write_in_turn(self, left: bytes) -> None:
        self._behind += 1
        writing = asyncio.get_running_loop().run_in_executor(self._writer, self._write_all, left)
        writing.add_done_callback(self._caught_up)
        # Not half a message, whatever becomes of whoever waits here.
        await asyncio.shield(writing)

    def _caught_up(self, _: object) -> None:
        self._behind -= 1

    def _write_all(self, left: bytes) -> None:
        while left and not self.broken.is_set():
            left = self._write(left, seconds=0.1)

    def _write(self, left: bytes, *, seconds: float) -> bytes:
        """Write as long as there is room, or will be within so many seconds; gives the rest."""
        try:
            while left and self._room.poll(seconds * 1000):
                left = left[os.write(self._handle, left[:_ATOMIC_BYTES]) :]
        except BlockingIOError:
            return left
        except OSError:
            self.broken.set()
            raise anyio.BrokenResourceError from None
        return left


class Incoming(_Stream):
    """Where messages are read from; what is no message is answered here."""

    def __init__(self, handle: int, conversation: Conversation, outgoing: Outgoing) -> None:
        self._handle = handle
        self._conversation = conversation
        self._outgoing = outgoing
        self._loop = asyncio.get_running_loop()
        self._lines = Lines(LINE_BYTES_MAX)
        self._waiting: deque[bytes] = deque()
        self._wake = asyncio.Event()
        self._ended = False
        self._watched = False
        self._is_file = _is_always_ready(handle)

    def stop(self) -> None:
        """Read no more."""
        self._ended = True
        self._unwatch()
        self._wake.set()

    async def aclose(self) -> None:
        """End it."""
        self.stop()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage:
        while True:
            while not self._waiting:
                await self._more()
            line = self._waiting.popleft()
            message = understood(line)
            if message is not None:
                self._conversation.came(message)
                return SessionMessage(message)
            if line.strip():
                await self._outgoing.send(SessionMessage(refusal_of(line)))

    async def receive(self) -> SessionMessage:
        """Wait for one message."""
        try:
            return await anext(self)
        except StopAsyncIteration:
            raise anyio.EndOfStream from None

    async def _more(self) -> None:
        if self._ended:
            await self._conversation.settled()
            raise StopAsyncIteration
        if self._is_file:
            self._take(await asyncio.to_thread(os.read, self._handle, _CHUNK_BYTES))
            return
        self._wake.clear()
        self._watch()
        await self._wake.wait()

    def _watch(self) -> None:
        if not self._watched:
            self._watched = True
            self._loop.add_reader(self._handle, self._readable)

    def _unwatch(self) -> None:
        if self._watched:
            self._watched = False
            self._loop.remove_reader(self._handle)

    def _readable(self) -> None:
        try:
            self._take(os.read(self._handle, _CHUNK_BYTES))
        except BlockingIOError:
            return
        except OSError:
            self.stop()

    def _take(self, chunk: bytes) -> None:
        self._waiting.extend(self._lines.of(chunk) if chunk else self._lines.rest())
        if not chunk:
            self.stop()
        elif len(self._waiting) >= _WAITING_MAX:
            self._unwatch()
        self._wake.set()
