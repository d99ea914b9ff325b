"""`/v1/events/stream`: what happens in one user's garden, as server-sent events that can be taken up again.

Nothing is kept for a reader: each entry has a position, and what a slow reader has not taken yet still stands
in the account. A reader who takes nothing for too long is let go, and goes on from the last position it had.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

from fastapi import APIRouter, Request, Response
from starlette.types import Receive, Scope, Send

from garden.access.feed import Batch, Entry, Feed
from garden.access.threads import OverloadedError, TooManyCallsError
from garden.events.records import Caller
from garden.grammar.errors import GardenError
from garden.home.settings import Serve
from garden.surfaces.web import openapi
from garden.surfaces.web.authentication import Door, is_still_welcome
from garden.surfaces.web.intake import ABORT, CALLER
from garden.surfaces.web.parameters import only
from garden.surfaces.web.problems import as_json
from garden.surfaces.web.routes import add
from garden.surfaces.web.stopping import Stopping

_SEND_SECONDS_MAX = 10.0
_PAUSE_SECONDS = 1.0
_ENTRIES_AT_ONCE = 50
_STREAMS_OF_USER_MAX = 16
_THREADS = 2

Result = TypeVar("Result")


class Streams:
    """The streams that are open; used from the event loop alone."""

    def __init__(self, feed: Feed, limits: Serve, door: Door, stopping: Stopping) -> None:
        self.feed = feed
        self.door = door
        self.stopping = stopping
        self.quiet_seconds = limits.stream_seconds
        self._limits = limits
        # Of their own, so that calls never wait for those who only watch.
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="garden-stream")
        self._of_user: Counter[str] = Counter()

    @property
    def open(self) -> int:
        """How many there are."""
        return self._of_user.total()

    async def in_thread(self, work: Callable[[], Result]) -> Result:
        """Look something up."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    @contextmanager
    def place(self, user_id: str) -> Iterator[None]:
        """Count one more while the block lasts, unless there are too many."""
        if self.open >= self._limits.streams:
            raise OverloadedError("Too many streams are open.", hint="Try later, or use GET /v1/events.")
        if self._of_user[user_id] >= _STREAMS_OF_USER_MAX:
            raise TooManyCallsError(
                f"This user has {_STREAMS_OF_USER_MAX} streams open already.",
                hint="Close one; a stream tells of all of the user's documents.",
                details={"retryAfterMs": 1000},
            )
        self._of_user[user_id] += 1
        try:
            yield
        finally:
            self._of_user[user_id] -= 1
            self._of_user += Counter()

    def close(self) -> None:
        """Let the threads go."""
        self._threads.shutdown()


def add_stream_route(router: APIRouter, streams: Streams) -> None:
    """Add the route of the stream."""

    async def stream(request: Request) -> Response:
        # A browser that takes a stream up again sends both: the address it began with, and how far it came.
        begun_after = only(request.query_params, {"after"}).get("after")
        position = request.headers.get("last-event-id") or begun_after
        return _Stream(streams, request.scope[CALLER], request.headers, position)

    add(router, "GET", "/v1/events/stream", stream, "follow_events", openapi.streaming_events())


class _Stream(Response):
    """One stream, as a response that goes on until its reader, its token or the service goes."""

    def __init__(
        self, streams: Streams, caller: Caller, headers: Mapping[str, str], position: str | None
    ) -> None:
        super().__init__(None, 200, {"Cache-Control": "no-store"}, "text/event-stream")
        del self.headers["content-length"]
        self._streams = streams
        self._user_id = caller.user_id
        self._caller_headers = headers
        self._position = position
        self._woken = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Tell what happens for as long as somebody listens."""
        loop = asyncio.get_running_loop()
        feed = self._streams.feed

        def wake() -> None:
            loop.call_soon_threadsafe(self._woken.set)

        with self._streams.place(self._user_id), feed.watch(self._user_id, wake):
            if self._position is None:
                self._position = await self._streams.in_thread(lambda: feed.now(self._user_id))
            # What can't be answered is refused before the stream begins.
            first = await self._since()
            over = asyncio.create_task(self._end(receive))
            over.add_done_callback(lambda _: self._woken.set())
            try:
                await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
                await self._send(send, b"retry: 1000\nid: %b\n\n" % self._position.encode())
                await self._tell(first, over, send)
                await self._send(send, b": the service or the token has come to its end\n\n", more=False)
            except TimeoutError:
                await _let_go(scope, over)
            finally:
                over.cancel()

    async def _tell(self, batch: Batch, over: "asyncio.Task[None]", send: Send) -> None:
        checked_at = told_at = time.monotonic()
        while not over.done():
            now = time.monotonic()
            if batch.entries or now - checked_at >= self._streams.quiet_seconds:
                # The door keeps its answer for a moment, so that to ask it before each batch costs nothing.
                if not await is_still_welcome(self._streams.door, self._caller_headers):
                    return
                checked_at = now
            if batch.entries:
                await self._send(send, b"".join(map(_written, batch.entries)))
                told_at = now
            elif now - told_at >= self._streams.quiet_seconds:
                await self._send(send, b": still here\n\n")
                told_at = now
            self._position = batch.position
            await self._wait(self._pause_after(batch))
            batch = await self._next(batch)

    def _pause_after(self, batch: Batch) -> float:
        return self._streams.quiet_seconds if batch.complete else 0

    async def _next(self, batch: Batch) -> Batch:
        self._woken.clear()
        try:
            return await self._since()
        except GardenError:
            # The database is away; the account is still there when it is back.
            await self._wait(_PAUSE_SECONDS)
            return Batch((), batch.position, complete=False)

    async def _since(self) -> Batch:
        position = self._position
        return await self._streams.in_thread(
            lambda: self._streams.feed.since(self._user_id, position, _ENTRIES_AT_ONCE)
        )

    async def _wait(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._woken.wait()
        except TimeoutError:
            return

    async def _send(self, send: Send, chunk: bytes, *, more: bool = True) -> None:
        async with asyncio.timeout(_SEND_SECONDS_MAX):
            await send({"type": "http.response.body", "body": chunk, "more_body": more})

    async def _end(self, receive: Receive) -> None:
        """Wait until the reader is gone, or the service is about to stop."""
        stopping = asyncio.create_task(self._streams.stopping.wait())
        gone = asyncio.create_task(_gone(receive))
        try:
            await asyncio.wait({stopping, gone}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopping.cancel()
            gone.cancel()


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _let_go(scope: Scope, over: "asyncio.Task[None]") -> None:
    abort = scope.get(ABORT)
    if abort is not None:
        abort()
        await over


def _written(entry: Entry) -> bytes:
    told = {"eventId": str(entry.event_id), "path": entry.path, "what": entry.what}
    return b"id: %b\nevent: %b\ndata: %b\n\n" % (entry.position.encode(), entry.what.encode(), as_json(told))
