"""The web application: every route, and the surfaces mounted below a path, on top of one open garden."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Protocol

from fastapi import FastAPI, Request, Response
from starlette.datastructures import Headers
from starlette.types import Receive, Scope, Send

from garden.application import Garden
from garden.gateway.processes import ServiceProcess
from garden.gateway.readiness import Readiness
from garden.gateway.threads import CallThreads
from garden.surfaces.web import openapi
from garden.surfaces.web.approval_routes import add_approval_routes
from garden.surfaces.web.authentication import Authenticator
from garden.surfaces.web.calls import JSON, Calls
from garden.surfaces.web.console.application import Console
from garden.surfaces.web.console.door import Door
from garden.surfaces.web.console.visits import is_page
from garden.surfaces.web.document_routes import add_document_routes
from garden.surfaces.web.event_routes import add_event_routes
from garden.surfaces.web.health_routes import add_health_routes
from garden.surfaces.web.intake import ABORT, MOUNTED_AT, Intake
from garden.surfaces.web.log_routes import PREFIX as LOG
from garden.surfaces.web.log_routes import add_log_routes
from garden.surfaces.web.metrics import Metrics
from garden.surfaces.web.problems import as_json
from garden.surfaces.web.routes import PlainRoute, add
from garden.surfaces.web.streams import Streams, add_stream_route
from garden.surfaces.web.tool_routes import add_tool_routes
from garden.upkeep.tasks import Timer

_OPEN_TO_ALL = frozenset({"/healthz", "/readyz", "/openapi.json"})
_METRICS = "/metrics"
_DESCRIPTION = (
    "Every tool is a POST below /v1/tools; texts and their history are read by path. "
    "A refusal is a problem (RFC 9457) and the tools' envelope in one."
)


class Mount(Protocol):
    """A surface that can be mounted below a path."""

    async def app(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; the scope names the caller."""
        ...

    def run(self) -> AbstractAsyncContextManager[None]:
        """Be ready while the block lasts."""
        ...

    def stop(self) -> None:
        """End the answers that last as long as their client wants."""
        ...


class WebService:
    """The service over HTTP: `app` is the ASGI application for a server, `api` has the routes."""

    def __init__(
        self,
        garden: Garden,
        threads: CallThreads,
        authenticator: Authenticator,
        mounts: Mapping[str, Mount],
        upkeep: Timer,
        process: ServiceProcess,
        door: Door,
    ) -> None:
        limits = garden.settings.serve
        self._stopping = asyncio.Event()
        self._mounts = mounts
        self._metrics = Metrics(process)
        self._threads = threads
        self._readiness = Readiness(garden.services)
        self._streams = Streams(garden.feed, limits, authenticator, self._stopping, process.counts)
        # On a loopback address only programs on this machine can ask.
        open_paths = _OPEN_TO_ALL | {_METRICS} if door.is_private else _OPEN_TO_ALL
        is_log_open = garden.settings.tlog.public

        def is_open(path: str) -> bool:
            return path in open_paths or is_page(path) or (is_log_open and path.startswith(LOG))

        calls = Calls(garden, threads)
        self.api = self._make_api(garden, calls)
        self._console = Console(calls, self._streams, door)
        everything = _Mounts(self.api, self._console, mounts, authenticator)
        self.app = Intake(everything, authenticator, limits, self._metrics, is_open, is_page, process.counts)
        self._add_call_metrics(garden)
        self._add_upkeep_metrics(upkeep)

    def stop(self) -> None:
        """End the streams, so that the server can finish the other requests; call it in the event loop."""
        self._stopping.set()
        for mount in self._mounts.values():
            mount.stop()

    async def count(self) -> None:
        """Bring the metrics up to date that other processes show, too."""
        self._metrics.refresh()

    def close(self) -> None:
        """End its threads; call it before the garden is closed."""
        self._console.close()
        self._readiness.close()

    def _add_call_metrics(self, garden: Garden) -> None:
        garden.watch_calls(self._metrics.call)
        self._metrics.watch(
            "garden_calls_under_way", "Calls under way or waiting.", lambda: self._threads.under_way
        )
        self._metrics.count(
            "garden_calls_refused", "Calls refused before they began.", ("code",),
            lambda: (((code,), count) for code, count in self._threads.refused.items()),
        )  # fmt: skip
        self._metrics.watch("garden_streams_open", "Open event streams.", lambda: self._streams.open)
        self._metrics.count(
            "garden_recall", "Answers of recall, by whether they hold anything.", ("tool", "outcome"),
            lambda: garden.services.usage.totals.copy().items(),
        )  # fmt: skip
        for name, pool in garden.pools.items():
            self._metrics.watch(
                f"garden_{name}_connections_in_use",
                f"Database connections of the {name} in use.",
                partial(getattr, pool, "in_use"),
            )

    def _add_upkeep_metrics(self, upkeep: Timer) -> None:
        self._metrics.count(
            "garden_upkeep", "Results of the scheduled jobs.", ("job", "outcome"),
            lambda: upkeep.totals.items(),
        )  # fmt: skip
        self._metrics.watch(
            "garden_sagas_open", "Unfinished changes, when a job last ran.", lambda: upkeep.open_sagas
        )
        self._metrics.watch(
            "garden_sagas_quarantined",
            "Changes that recovery has given up, when a job last ran.",
            lambda: upkeep.quarantined_sagas,
        )

    def _make_api(self, garden: Garden, calls: Calls) -> FastAPI:
        api = FastAPI(
            title="Memory Garden", summary="A file-first memory service for companion agents.",
            description=_DESCRIPTION, openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False,
            lifespan=self._lifespan,
        )  # fmt: skip
        # An included router would answer through FastAPI's own route class again.
        router = api.router
        router.route_class = PlainRoute
        add_tool_routes(router, calls)
        add_stream_route(router, calls, self._streams)
        add_event_routes(router, calls)
        add_approval_routes(router, calls, self._streams)
        add_document_routes(router, calls)
        add_health_routes(router, self._readiness, self._metrics)
        add_log_routes(router, garden)

        async def describe(_request: Request) -> Response:
            return Response(as_json(openapi.document(api)), 200, None, JSON)

        add(router, "GET", "/openapi.json", describe, "openapi", None)

        return api

    @asynccontextmanager
    async def _lifespan(self, _app: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for mount in self._mounts.values():
                await stack.enter_async_context(mount.run())
            yield


class _Mounts:
    """Passes requests for pages to the console, those below a mount's path to it, all others to the routes.

    A mount may answer for hours; when the caller's token ends, its connection is cut.
    """

    def __init__(
        self, api: FastAPI, console: Console, mounts: Mapping[str, Mount], authenticator: Authenticator
    ) -> None:
        self._api = api
        self._console = console
        # The router would compare an address with each route in turn.
        routes = [each for each in api.routes if isinstance(each, PlainRoute) and "{" not in each.path]
        self._at_address = {(method, each.path): each for each in routes for method in each.methods or ()}
        self._mounts = mounts
        self._authenticator = authenticator

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] == "http" and is_page(scope["path"]):
            await self._console(scope, receive, send)
            return
        if scope["type"] == "http":
            for path, mount in self._mounts.items():
                if scope["path"] == path or scope["path"].startswith(f"{path}/"):
                    scope[MOUNTED_AT] = path
                    with self._authenticator.watch(Headers(scope=scope), scope[ABORT]):
                        await mount.app(scope, receive, send)
                    return
        # Past FastAPI's own middleware: the intake alone turns an error into an answer.
        scope["app"] = self._api
        route = self._at_address.get((scope.get("method", ""), scope.get("path", "")))
        if route is not None:
            scope["route"] = route
            await route.app(scope, receive, send)
            return
        await self._api.router(scope, receive, send)
