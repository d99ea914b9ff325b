"""Whether the service is alive, ready and busy; for whoever keeps it running."""

from fastapi import APIRouter, Request, Response

from garden.access.threads import OverloadedError
from garden.surfaces.web import openapi
from garden.surfaces.web.calls import JSON
from garden.surfaces.web.intake import CALLER
from garden.surfaces.web.metrics import CONTENT_TYPE, Metrics
from garden.surfaces.web.problems import ForbiddenError, as_json, problem
from garden.surfaces.web.readiness import Readiness
from garden.surfaces.web.routes import add
from garden.surfaces.web.stopping import Stopping


def add_health_routes(router: APIRouter, readiness: Readiness, stopping: Stopping, metrics: Metrics) -> None:
    """Add the routes that tell how the service is."""

    async def alive(_request: Request) -> Response:
        return Response(as_json({"status": "alive"}), 200, None, JSON)

    async def ready(_request: Request) -> Response:
        missing = ["it is stopping"] if stopping.has_begun else await readiness.missing()
        if missing:
            hint = "It will be tried again; 'garden doctor' tells more."
            return problem(OverloadedError(f"Not ready: {'; '.join(missing)}.", hint=hint))
        return Response(as_json({"status": "ready"}), 200, None, JSON)

    async def measured(request: Request) -> Response:
        caller = request.scope.get(CALLER)
        if caller is not None and caller.role != "maintainer":
            raise ForbiddenError("Metrics are for maintainers.", hint="Use a maintainer's token.")
        return Response(metrics.page(), 200, None, CONTENT_TYPE)

    add(router, "GET", "/healthz", alive, "is_it_alive", openapi.being_alive())
    add(router, "GET", "/readyz", ready, "is_it_ready", openapi.being_ready())
    add(router, "GET", "/metrics", measured, "metrics", openapi.measuring())
