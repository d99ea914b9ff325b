"""Standard input and output as the two streams of a conversation, one JSON message a line.

The protocol takes both descriptors for itself: everything that prints, in this process or in a child, prints
to standard error, so only protocol reaches standard output.

A message once begun is written to its end. At the end of the input, or at a signal, reading stops, and the
conversation ends when the earlier requests have been answered.
"""

import asyncio
import fcntl
import os
import select
import stat
import struct
import sys
import termios
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import Any, Self

import anyio
import mcp_types as types
from mcp.shared.message import SessionMessage

from garden.surfaces.mcp.messages import (
    LINE_BYTES_MAX,
    LineSplitter,
    encode_message,
    line_refusal,
    parse_message,
)

DRAIN_SECONDS_MAX = 10
_CHUNK_BYTES = 64 * 1024
_PENDING_LINES_MAX = 64
# A pipe with any room takes this many bytes without blocking the writer.
_ATOMIC_BYTES = select.PIPE_BUF
# Its answer is a stream that lasts as long as the conversation.
_NEVER_ANSWERED = "subscriptions/listen"


@contextmanager
def claim_descriptors() -> Iterator[tuple[int, int]]:
    """Take standard input and output for the protocol alone; yields a handle to read and one to write."""
    reading, writing = _duplicate(0), _duplicate(1)
    try:
        with open(os.devnull, "rb") as nothing:  # noqa: PTH123 - a descriptor is needed
            os.dup2(nothing.fileno(), 0)
        os.dup2(2, 1)
        yield reading, writing
    finally:
        os.dup2(reading, 0)
        os.dup2(writing, 1)
        os.close(reading)
        os.close(writing)


def _duplicate(handle: int) -> int:
    """Duplicate a handle above the standard three; children don't inherit it."""
    return fcntl.fcntl(handle, fcntl.F_DUPFD_CLOEXEC, 3)


def _is_always_ready(handle: int) -> bool:
    """Whether this is a file or /dev/null, which no event loop can watch."""
    mode = os.fstat(handle).st_mode
    return stat.S_ISREG(mode) or (stat.S_ISCHR(mode) and not os.isatty(handle))


def _pipe_size(handle: int) -> int:
    """The bytes that a pipe holds; 0 for anything else, and where the system does not tell."""
    if sys.platform == "linux":
        with suppress(OSError):
            return fcntl.fcntl(handle, fcntl.F_GETPIPE_SZ)
    return 0


def _unread_bytes(pipe: int) -> int:
    count: int = struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)))[0]
    return count


class Conversation:
    """The requests not yet answered; `on_first_answer` is called after the first answer was sent."""

    def __init__(self) -> None:
        self.on_first_answer: Callable[[], None] | None = None
        self._open: set[types.RequestId] = set()
        self._all_answered = asyncio.Event()
        self._all_answered.set()
        self._client_left = False

    def note_received(self, message: types.JSONRPCMessage) -> None:
        """Note a message from the client."""
        if isinstance(message, types.JSONRPCRequest) and message.method != _NEVER_ANSWERED:
            self._open.add(message.id)
            if not self._client_left:
                self._all_answered.clear()
        elif isinstance(message, types.JSONRPCNotification) and message.method == "notifications/cancelled":
            self._note_answered((message.params or {}).get("requestId"))

    def note_sent(self, message: types.JSONRPCMessage) -> None:
        """Note a message to the client."""
        if isinstance(message, types.JSONRPCResponse | types.JSONRPCError):
            self._note_answered(message.id)
            if self.on_first_answer is not None:
                self.on_first_answer()
                self.on_first_answer = None

    def note_client_left(self) -> None:
        """Note that the client takes no more answers, so that none is waited for."""
        self._client_left = True
        self._all_answered.set()

    async def wait_until_answered(self) -> None:
        """Wait until every request is answered, at most ten seconds."""
        with suppress(TimeoutError):
            async with asyncio.timeout(DRAIN_SECONDS_MAX):
                await self._all_answered.wait()

    def _note_answered(self, request_id: Any) -> None:
        if isinstance(request_id, str | int):
            self._open.discard(request_id)
        if not self._open:
            self._all_answered.set()


class _Stream:
    """The interface that the SDK expects of both streams."""

    async def aclose(self) -> None:
        """End the stream."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


class Outgoing(_Stream):
    """The stream of messages to the client."""

    def __init__(self, handle: int, conversation: Conversation) -> None:
        self._handle = handle
        self._conversation = conversation
        self._pipe_bytes = _pipe_size(handle)
        self._room = select.poll()
        self._room.register(handle, select.POLLOUT)
        # Blocks where the client does not read, so that the event loop does not.
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="garden-mcp-out")
        self._behind = 0
        self.broken = asyncio.Event()

    async def send(self, item: SessionMessage) -> None:
        """Write one message."""
        if self.broken.is_set():
            raise anyio.BrokenResourceError
        line = encode_message(item.message)
        try:
            left = line if self._behind else self._write(line, seconds=0)
            if left:
                await self._write_in_thread(left)
        except anyio.BrokenResourceError:
            self._conversation.note_client_left()
            raise
        self._conversation.note_sent(item.message)

    def close(self) -> None:
        """Stop; a client that does not read loses the rest of its answers."""
        self.broken.set()
        self._writer.shutdown(cancel_futures=True)

    async def _write_in_thread(self, left: bytes) -> None:
        self._behind += 1
        writing = asyncio.get_running_loop().run_in_executor(self._writer, self._write_all, left)
        writing.add_done_callback(self._note_written)
        # A cancelled caller must not leave half a message behind.
        await asyncio.shield(writing)

    def _note_written(self, _: object) -> None:
        self._behind -= 1

    def _write_all(self, left: bytes) -> None:
        while left and not self.broken.is_set():
            left = self._write(left, seconds=0.1)

    def _write(self, left: bytes, *, seconds: float) -> bytes:
        """Write while there is room, or will be within so many seconds; returns the rest."""
        try:
            while left and (fitting := self._bytes_that_fit(seconds)):
                left = left[os.write(self._handle, left[:fitting]) :]
        except BlockingIOError:
            return left
        except OSError:
            self.broken.set()
            raise anyio.BrokenResourceError from None
        return left

    def _bytes_that_fit(self, seconds: float) -> int:
        """How much can be written without blocking now, or will be within so many seconds.

        An empty pipe takes all that it holds: the client wakes once for an answer, not for each part of it.
        """
        if self._pipe_bytes and not _unread_bytes(self._handle):
            return self._pipe_bytes
        return _ATOMIC_BYTES if self._room.poll(seconds * 1000) else 0


class Incoming(_Stream):
    """The stream of messages from the client; it answers lines that are no message itself."""

    def __init__(self, handle: int, conversation: Conversation, outgoing: Outgoing) -> None:
        self._handle = handle
        self._conversation = conversation
        self._outgoing = outgoing
        self._loop = asyncio.get_running_loop()
        self._lines = LineSplitter(LINE_BYTES_MAX)
        self._pending: deque[bytes] = deque()
        self._wake = asyncio.Event()
        self._ended = False
        self._watched = False
        self._is_file = _is_always_ready(handle)

    def stop(self) -> None:
        """Stop reading."""
        self._ended = True
        self._unwatch()
        self._wake.set()

    async def aclose(self) -> None:
        """End the stream."""
        self.stop()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage:
        while True:
            while not self._pending:
                await self._read_more()
            line = self._pending.popleft()
            message = parse_message(line)
            if message is not None:
                self._conversation.note_received(message)
                return SessionMessage(message)
            if line.strip():
                await self._outgoing.send(SessionMessage(line_refusal(line)))

    async def receive(self) -> SessionMessage:
        """Wait for the next message."""
        try:
            return await anext(self)
        except StopAsyncIteration:
            raise anyio.EndOfStream from None

    async def _read_more(self) -> None:
        if self._ended:
            await self._conversation.wait_until_answered()
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
            self._loop.add_reader(self._handle, self._read_chunk)

    def _unwatch(self) -> None:
        if self._watched:
            self._watched = False
            self._loop.remove_reader(self._handle)

    def _read_chunk(self) -> None:
        try:
            self._take(os.read(self._handle, _CHUNK_BYTES))
        except BlockingIOError:
            return
        except OSError:
            self.stop()

    def _take(self, chunk: bytes) -> None:
        self._pending.extend(self._lines.split(chunk) if chunk else self._lines.remainder())
        if not chunk:
            self.stop()
        elif len(self._pending) >= _PENDING_LINES_MAX:
            self._unwatch()
        self._wake.set()
