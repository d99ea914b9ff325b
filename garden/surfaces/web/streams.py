"""`/v1/events/stream`: one user's feed as server-sent events that can be resumed.

Nothing is buffered for a reader. Each entry has a position; a slow reader's entries stay in the events table.
A reader that takes nothing for too long is cut off, and resumes from its last position.
"""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial

from fastapi import APIRouter, Request, Response
from starlette.types import Receive, Scope, Send

from garden.gateway.feed import Batch, Entry, Feed, Follower
from garden.gateway.processes import SharedCounts
from garden.gateway.threads import OverloadedError, TooManyCallsError
from garden.home.settings import Serve
from garden.surfaces.web import openapi
from garden.surfaces.web.authentication import Authenticator
from garden.surfaces.web.calls import Calls
from garden.surfaces.web.intake import ABORT, CALLER
from garden.surfaces.web.problems import as_json
from garden.surfaces.web.routes import add, query_parameters

_SEND_SECONDS_MAX = 10.0
_ENTRIES_AT_ONCE = 50
_STREAMS_OF_USER_MAX = 16

Watch = Callable[[Callable[[], object]], AbstractContextManager[None]]
"""Calls a function when the reader's token ends while its block lasts."""


class Streams:
    """The open streams; used from the event loop alone."""

    def __init__(
        self,
        feed: Feed,
        limits: Serve,
        authenticator: Authenticator,
        stopping: asyncio.Event,
        counts: SharedCounts,
    ) -> None:
        self.feed = feed
        self.authenticator = authenticator
        self.stopping = stopping
        self.quiet_seconds = limits.stream_seconds
        self._limits = limits
        self._counts = counts
        self.open = 0

    @contextmanager
    def count(self, user_id: str) -> Iterator[None]:
        """Count one more stream while the block lasts, unless there are too many."""
        if self.open >= self._limits.streams:
            raise OverloadedError("Too many streams are open.", hint="Try later, or use GET /v1/events.")
        if self._counts.total(("streams", user_id)) >= _STREAMS_OF_USER_MAX:
            raise TooManyCallsError(
                f"This user has {_STREAMS_OF_USER_MAX} streams open already.",
                hint="Close one; a stream covers all of the user's documents.",
                details={"retryAfterMs": 1000},
            )
        self.open += 1
        self._counts.add(("streams", user_id), 1)
        try:
            yield
        finally:
            self.open -= 1
            self._counts.add(("streams", user_id), -1)


def add_stream_route(router: APIRouter, calls: Calls, streams: Streams) -> None:
    """Add the route of the stream."""

    async def stream(request: Request) -> Response:
        # A browser that resumes sends both the address it began with and the last position.
        begun_after = query_parameters(request.query_params, {"after"}).get("after")
        position = request.headers.get("last-event-id") or begun_after
        # A caller that may not read the events must not follow them.
        await calls.run(request, lambda caller: calls.session(caller).events.query(limit=1))
        watch = partial(streams.authenticator.watch, request.headers)
        return EventStream(streams, request.scope[CALLER].user_id, watch, position)

    add(router, "GET", "/v1/events/stream", stream, "follow_events", openapi.stream_events())


class EventStream(Response):
    """One stream: a response that lasts until its reader leaves, its token ends or the service stops.

    With `tells_of_notices` it also says when something changed that leaves no entry, such as an approval.
    """

    def __init__(
        self,
        streams: Streams,
        user_id: str,
        watch: Watch,
        position: str | None,
        *,
        tells_of_notices: bool = False,
    ) -> None:
        super().__init__(None, 200, {"Cache-Control": "no-store"}, "text/event-stream")
        del self.headers["content-length"]
        self._streams = streams
        self._user_id = user_id
        self._watch = watch
        self._tells_of_notices = tells_of_notices
        self._follower = Follower(streams.feed, user_id, position, _ENTRIES_AT_ONCE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send entries until the stream ends."""
        with self._streams.count(self._user_id), self._follower.watch():
            position = await self._follower.find_position()
            # A position that can't be read is refused before the stream begins.
            first = await self._follower.read()
            ending = asyncio.create_task(self._wait_for_end(receive))
            ending.add_done_callback(lambda _: self._follower.wake())
            try:
                with self._watch(ending.cancel):
                    await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
                    await self._send(send, b"retry: 1000\nid: %b\n\n" % position.encode())
                    await self._send_entries(first, ending, send)
                await self._send(send, b": the service or the token has come to its end\n\n", more=False)
            except TimeoutError:
                await _cut_off(scope, ending)
            finally:
                ending.cancel()

    async def _send_entries(self, batch: Batch, ending: "asyncio.Task[None]", send: Send) -> None:
        quiet_seconds = self._streams.quiet_seconds
        sent_at = time.monotonic()
        while not ending.done():
            now, was_told = time.monotonic(), self._follower.was_told
            self._follower.was_told = False
            if batch.entries:
                await self._send(send, b"".join(map(_encode, batch.entries)))
                sent_at = now
            elif self._tells_of_notices and was_told:
                await self._send(send, b"event: notice\ndata: {}\n\n")
            elif now - sent_at >= quiet_seconds:
                await self._send(send, b": still here\n\n")
                sent_at = now
            batch = await self._follower.next(quiet_seconds)

    async def _send(self, send: Send, chunk: bytes, *, more: bool = True) -> None:
        async with asyncio.timeout(_SEND_SECONDS_MAX):
            await send({"type": "http.response.body", "body": chunk, "more_body": more})

    async def _wait_for_end(self, receive: Receive) -> None:
        """Wait until the reader leaves or the service is about to stop."""
        stopping = asyncio.create_task(self._streams.stopping.wait())
        left = asyncio.create_task(_wait_for_disconnect(receive))
        try:
            await asyncio.wait({stopping, left}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopping.cancel()
            left.cancel()


async def _wait_for_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _cut_off(scope: Scope, ending: "asyncio.Task[None]") -> None:
    abort = scope.get(ABORT)
    if abort is not None:
        abort()
        await ending


def _encode(entry: Entry) -> bytes:
    data = {"eventId": str(entry.event_id), "path": entry.path, "what": entry.what}
    return b"id: %b\nevent: %b\ndata: %b\n\n" % (entry.position.encode(), entry.what.encode(), as_json(data))
