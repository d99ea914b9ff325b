"""Subscriptions to changes: which conversations want which news, and the streams of the newer protocol.

The older protocols subscribe to one resource after another, in a lasting conversation. The newer one opens a
stream that names everything it wants. Both read the same `Changes`.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.server.subscriptions import ListenHandler, ResourcesListChanged, ResourceUpdated, ServerEvent
from mcp.shared.exceptions import MCPError

from garden.application import Garden
from garden.surfaces.mcp.changes import Changes

SUBSCRIPTIONS_MAX = 1000
STREAMS_MAX = 64
_SESSION_ID = "mcp-session-id"


@dataclass
class _Watch:
    """The news that one conversation wants, and those that it has not been sent yet."""

    uris: set[str] = field(default_factory=set)
    wants_list: bool = False
    wanted: asyncio.Event = field(default_factory=asyncio.Event)
    ready: asyncio.Event = field(default_factory=asyncio.Event)
    news: dict[ServerEvent, None] = field(default_factory=dict)
    has_news: asyncio.Event = field(default_factory=asyncio.Event)

    def add(self, event: ServerEvent) -> None:
        """Keep an event to send if it is wanted; an event that waits already is not kept twice."""
        if event.uri in self.uris if isinstance(event, ResourceUpdated) else self.wants_list:
            self.news[event] = None
            self.has_news.set()

    async def start(self) -> None:
        """Ask for the watch to begin, and wait until it has, or can't."""
        self.wanted.set()
        await self.ready.wait()

    def postpone(self) -> None:
        """Let the waiting requests go on, and wait until another one asks."""
        self.wanted.clear()
        self.ready.set()
        self.ready.clear()


class Subscriptions:
    """The watching conversations and the streams of one server."""

    def __init__(self, open_garden: Callable[[], Awaitable[Garden]]) -> None:
        self._open_garden = open_garden
        self._changes: dict[str, tuple[Changes, ListenHandler]] = {}
        self._watches: dict[str, _Watch] = {}

    async def serve_conversation(self, context: ServerRequestContext, user_id: str) -> None:
        """Send a conversation the news it wants, until it ends."""
        key, watch = _key(context), _Watch()
        if key in self._watches:
            # A conversation that begins twice has one watch.
            return
        self._watches[key] = watch
        try:
            await self._send_news(await self._garden_for(watch), user_id, watch, context.session)
        finally:
            # Release the requests that still wait for the watch to begin.
            watch.ready.set()
            del self._watches[key]

    async def subscribe(self, context: ServerRequestContext, uri: str) -> None:
        """Subscribe a conversation to a resource."""
        watch = self._watches.get(_key(context))
        if watch is None:
            raise MCPError(types.INVALID_REQUEST, "Send notifications/initialized before you subscribe.")
        if len(watch.uris) >= SUBSCRIPTIONS_MAX:
            raise MCPError(
                types.INVALID_REQUEST, f"A conversation has at most {SUBSCRIPTIONS_MAX} subscriptions."
            )
        watch.uris.add(uri)
        await watch.start()

    def unsubscribe(self, context: ServerRequestContext, uri: str) -> None:
        """Unsubscribe a conversation from a resource."""
        watch = self._watches.get(_key(context))
        if watch is not None:
            watch.uris.discard(uri)

    async def watch_list(self, context: ServerRequestContext) -> None:
        """Subscribe a conversation to changes of the list that it is about to get."""
        watch = self._watches.get(_key(context))
        if watch is not None:
            watch.wants_list = True
            await watch.start()

    async def serve_stream(
        self, context: ServerRequestContext, params: types.SubscriptionsListenRequestParams, user_id: str
    ) -> types.SubscriptionsListenResult:
        """Serve a stream of the changes that it names."""
        garden = await self._open_garden()
        changes, listen = self._changes_of(user_id)
        async with changes.follow(garden):
            return await listen(context, params)

    def end_streams(self) -> None:
        """End the streams, each with the final message that clients expect."""
        for _, listen in self._changes.values():
            listen.close()

    async def _garden_for(self, watch: _Watch) -> Garden:
        """Wait until the watch is wanted and the garden is open."""
        while True:
            await watch.wanted.wait()
            try:
                return await self._open_garden()
            except Exception:  # noqa: BLE001 - the request that needs the garden gets the reason itself
                watch.postpone()

    async def _send_news(self, garden: Garden, user_id: str, watch: _Watch, session: ServerSession) -> None:
        changes, _ = self._changes_of(user_id)
        unsubscribe = changes.subscribe(watch.add)
        try:
            async with changes.follow(garden):
                watch.ready.set()
                while await watch.has_news.wait():
                    watch.has_news.clear()
                    news, watch.news = watch.news, {}
                    for event in news:
                        await _send(session, event)
        finally:
            unsubscribe()

    def _changes_of(self, user_id: str) -> tuple[Changes, ListenHandler]:
        if user_id not in self._changes:
            changes = Changes(user_id)
            self._changes[user_id] = changes, ListenHandler(changes, max_subscriptions=STREAMS_MAX)
        return self._changes[user_id]


async def _send(session: ServerSession, event: ServerEvent) -> None:
    match event:
        case ResourceUpdated(uri=uri):
            await session.send_resource_updated(uri)
        case ResourcesListChanged():
            await session.send_resource_list_changed()


def _key(context: ServerRequestContext) -> str:
    """Identify the conversation; over stdio there is only one."""
    request = context.request
    return "" if request is None else str(request.headers.get(_SESSION_ID, ""))
