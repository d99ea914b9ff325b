"""The web application: every route, on top of one open garden."""

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from http import HTTPStatus

from fastapi import FastAPI, Request, Response
from starlette.exceptions import HTTPException
from starlette.routing import Match

from garden.access.threads import Workers
from garden.application import Garden
from garden.grammar.errors import GardenError
from garden.surfaces.web import openapi
from garden.surfaces.web.authentication import Door
from garden.surfaces.web.calls import JSON, Calls
from garden.surfaces.web.document_routes import add_document_routes
from garden.surfaces.web.event_routes import add_event_routes
from garden.surfaces.web.health_routes import add_health_routes
from garden.surfaces.web.intake import Intake
from garden.surfaces.web.metrics import Metrics
from garden.surfaces.web.mounts import Mount, Mounts
from garden.surfaces.web.problems import MethodError, NothingHereError, as_json, problem
from garden.surfaces.web.readiness import Readiness
from garden.surfaces.web.routes import PlainRoute, add
from garden.surfaces.web.stopping import Stopping
from garden.surfaces.web.streams import Streams, add_stream_route
from garden.surfaces.web.tool_routes import add_tool_routes
from garden.upkeep.tasks import Timer

_OPEN_TO_ALL = frozenset({"/healthz", "/readyz", "/openapi.json"})
_METRICS = "/metrics"
_ABOUT = (
    "Every tool of the registry is a POST below /v1/tools; texts and their history are read by their paths. "
    "A refusal is a problem (RFC 9457) and the tools' envelope at once."
)


class WebService:
    """The service over HTTP, ready to be run by a server."""

    def __init__(
        self,
        garden: Garden,
        workers: Workers,
        door: Door,
        mounts: Mapping[str, Mount],
        upkeep: Timer,
        *,
        private: bool,
    ) -> None:
        self.stopping = Stopping()
        self._mounts = mounts
        limits = garden.settings.serve
        self._metrics = Metrics()
        self._workers = workers
        self._readiness = Readiness(garden)
        self._streams = Streams(garden.feed, limits, door, self.stopping)
        self.api = self._described(garden)
        # On a loopback address only those who are on this machine can ask.
        open_to_all = _OPEN_TO_ALL | {_METRICS} if private else _OPEN_TO_ALL
        everything = Mounts(self.api, mounts, door, limits.stream_seconds)
        self.app = Intake(everything, door, limits, self._metrics, open_to_all)
        self._watch(garden)
        self._watch_upkeep(upkeep)

    def stop(self) -> None:
        """End what would go on for ever; what has begun may be finished."""
        self.stopping.begin()
        for mount in self._mounts.values():
            mount.stop()

    def close(self) -> None:
        """Let its threads go; call it before the garden is closed."""
        self._readiness.close()
        self._streams.close()

    def _watch(self, garden: Garden) -> None:
        garden.watch_calls(self._metrics.call)
        self._metrics.watch(
            "garden_calls_under_way", "Calls under way or waiting.", lambda: self._workers.under_way
        )
        self._metrics.count(
            "garden_calls_refused", "Calls that were turned away before they began.", ("code",),
            lambda: (((code,), count) for code, count in self._workers.refused.items()),
        )  # fmt: skip
        self._metrics.watch("garden_streams_open", "Event streams that are open.", lambda: self._streams.open)
        for name, pool in garden.pools.items():
            self._metrics.watch(
                f"garden_{name}_connections_in_use",
                f"Database connections of the {name} in use.",
                partial(getattr, pool, "in_use"),
            )

    def _watch_upkeep(self, upkeep: Timer) -> None:
        self._metrics.count(
            "garden_upkeep", "What came of the jobs that run by themselves.", ("job", "outcome"),
            lambda: upkeep.totals.items(),
        )  # fmt: skip
        self._metrics.watch(
            "garden_sagas_open", "Changes begun and not ended, when last looked.", lambda: upkeep.open_sagas
        )
        self._metrics.watch(
            "garden_sagas_quarantined",
            "Changes that recovery has given up, when last looked.",
            lambda: upkeep.quarantined_sagas,
        )

    def _described(self, garden: Garden) -> FastAPI:
        app = FastAPI(
            title="Memory Garden", summary="A file-first memory service for companion agents.",
            description=_ABOUT, openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False,
            lifespan=self._lifespan,
        )  # fmt: skip
        app.add_exception_handler(GardenError, _refusing)
        app.add_exception_handler(HTTPException, _without_route)
        # Not a router of its own: one that is included answers by FastAPI's own way again.
        router = app.router
        router.route_class = PlainRoute
        calls = Calls(garden, self._workers)
        add_tool_routes(router, calls)
        add_stream_route(router, self._streams)
        add_event_routes(router, calls)
        add_document_routes(router, calls)
        add_health_routes(router, self._readiness, self.stopping, self._metrics)

        async def described(_request: Request) -> Response:
            return Response(as_json(openapi.document(app)), 200, None, JSON)

        add(router, "GET", "/openapi.json", described, "openapi", None)
        return app

    @asynccontextmanager
    async def _lifespan(self, _app: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for mount in self._mounts.values():
                await stack.enter_async_context(mount.run())
            yield


async def _refusing(_request: Request, error: Exception) -> Response:
    if not isinstance(error, GardenError):
        raise error
    return problem(error)


async def _without_route(request: Request, error: Exception) -> Response:
    if getattr(error, "status_code", None) == HTTPStatus.METHOD_NOT_ALLOWED:
        return problem(MethodError(_methods_for(request)))
    return problem(
        NothingHereError(
            "There is nothing at this address.", hint="GET /openapi.json describes what there is."
        )
    )


def _methods_for(request: Request) -> list[str]:
    """Name the methods of all routes at this address, of which the first to be found knows its own only."""
    routes = [route for route in request.app.routes if route.matches(request.scope)[0] is not Match.NONE]
    return sorted({method for route in routes for method in getattr(route, "methods", ())})
