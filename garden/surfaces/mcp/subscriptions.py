"""Who is told of changes: conversations that subscribed to resources, or that have seen a list of them.

The older protocols subscribe to one resource after another, on a conversation that lasts; the newer one opens
a stream that says what it wants. Both hang on the same changes.
"""

import asyncio
from dataclasses import dataclass, field

import mcp_types as types
from mcp.server.session import ServerSession
from mcp.server.subscriptions import ListenHandler, ResourcesListChanged, ResourceUpdated, ServerEvent
from mcp.shared.exceptions import MCPError

from garden.access.threads import Workers
from garden.application import Garden
from garden.surfaces.mcp.callers import Context
from garden.surfaces.mcp.changes import Changes
from garden.surfaces.mcp.garden_source import GardenSource

SUBSCRIPTIONS_MAX = 1000
STREAMS_MAX = 64
_SESSION_ID = "mcp-session-id"


@dataclass
class _Watch:
    """What one conversation wants to know, and what it has not been told yet."""

    uris: set[str] = field(default_factory=set)
    list_seen: bool = False
    wanted: asyncio.Event = field(default_factory=asyncio.Event)
    ready: asyncio.Event = field(default_factory=asyncio.Event)
    news: dict[ServerEvent, None] = field(default_factory=dict)
    any_news: asyncio.Event = field(default_factory=asyncio.Event)

    def hear(self, event: ServerEvent) -> None:
        """Keep an event that is to be told; one that waits already is not kept twice."""
        if event.uri in self.uris if isinstance(event, ResourceUpdated) else self.list_seen:
            self.news[event] = None
            self.any_news.set()

    def put_off(self) -> None:
        """Let those go who wait for it, until somebody needs it again."""
        self.wanted.clear()
        self.ready.set()
        self.ready.clear()


class Watching:
    """The conversations of a server that watch, and the streams."""

    def __init__(self, source: GardenSource, workers: Workers) -> None:
        self._source = source
        self._workers = workers
        self._changes: dict[str, tuple[Changes, ListenHandler]] = {}
        self._watches: dict[str, _Watch] = {}

    async def converse(self, context: Context, user_id: str) -> None:
        """Tell a conversation what it wants to know, from its beginning to its end."""
        key, watch = _key(context), _Watch()
        if key in self._watches:
            # Whoever begins twice is told once, and costs as much as anybody.
            return
        self._watches[key] = watch
        try:
            await self._tell(await self._opened(watch), user_id, watch, context.session)
        finally:
            # Nobody waits for news that will never come.
            watch.ready.set()
            del self._watches[key]

    async def subscribe(self, context: Context, uri: str) -> None:
        """Have a conversation told of a resource."""
        watch = self._watches.get(_key(context))
        if watch is None:
            raise MCPError(types.INVALID_REQUEST, "Send notifications/initialized before you subscribe.")
        if len(watch.uris) >= SUBSCRIPTIONS_MAX:
            raise MCPError(types.INVALID_REQUEST, f"There are at most {SUBSCRIPTIONS_MAX} subscriptions.")
        watch.uris.add(uri)
        await _made_ready(watch)

    def unsubscribe(self, context: Context, uri: str) -> None:
        """Have a conversation no longer told of a resource."""
        watch = self._watches.get(_key(context))
        if watch is not None:
            watch.uris.discard(uri)

    async def list_seen(self, context: Context) -> None:
        """Have a conversation told when the list that it is about to see changes."""
        watch = self._watches.get(_key(context))
        if watch is not None:
            watch.list_seen = True
            await _made_ready(watch)

    async def stream(
        self, context: Context, params: types.SubscriptionsListenRequestParams, user_id: str
    ) -> types.SubscriptionsListenResult:
        """Serve a stream of what it asks for."""
        garden = await self._source.garden()
        changes, listening = self._of(user_id)
        async with changes.followed(garden):
            return await listening(context, params)

    def end_streams(self) -> None:
        """End the streams, in the way that tells a client so."""
        for _, listening in self._changes.values():
            listening.close()

    async def _opened(self, watch: _Watch) -> Garden:
        """Give the garden as soon as there is something to watch and it could be opened."""
        while True:
            await watch.wanted.wait()
            try:
                return await self._source.garden()
            except Exception:  # noqa: BLE001 - whoever needs it has the reason from their own request
                watch.put_off()

    async def _tell(self, garden: Garden, user_id: str, watch: _Watch, session: ServerSession) -> None:
        changes, _ = self._of(user_id)
        unsubscribe = changes.subscribe(watch.hear)
        try:
            async with changes.followed(garden):
                watch.ready.set()
                while await watch.any_news.wait():
                    watch.any_news.clear()
                    news, watch.news = watch.news, {}
                    for event in news:
                        await _send(session, event)
        finally:
            unsubscribe()

    def _of(self, user_id: str) -> tuple[Changes, ListenHandler]:
        if user_id not in self._changes:
            changes = Changes(user_id, self._workers)
            self._changes[user_id] = changes, ListenHandler(changes, max_subscriptions=STREAMS_MAX)
        return self._changes[user_id]


async def _made_ready(watch: _Watch) -> None:
    watch.wanted.set()
    await watch.ready.wait()


async def _send(session: ServerSession, event: ServerEvent) -> None:
    match event:
        case ResourceUpdated(uri=uri):
            await session.send_resource_updated(uri)
        case ResourcesListChanged():
            await session.send_resource_list_changed()


def _key(context: Context) -> str:
    """Name the conversation; over stdio there is but one."""
    request = context.request
    return "" if request is None else str(request.headers.get(_SESSION_ID, ""))
