"""`/healthz`, `/readyz` and `/metrics`: the service's state, for its operator."""

import asyncio

from fastapi import APIRouter, Request, Response

from garden.gateway.readiness import Readiness
from garden.gateway.threads import OverloadedError
from garden.surfaces.web import openapi
from garden.surfaces.web.calls import JSON
from garden.surfaces.web.intake import CALLER
from garden.surfaces.web.metrics import CONTENT_TYPE, Metrics
from garden.surfaces.web.problems import ForbiddenError, as_json
from garden.surfaces.web.routes import add


def add_health_routes(router: APIRouter, readiness: Readiness, metrics: Metrics) -> None:
    """Add the routes that show the service's state."""

    async def alive(_request: Request) -> Response:
        return Response(as_json({"status": "alive"}), 200, None, JSON)

    async def ready(_request: Request) -> Response:
        # A process that stops answers what has reached it, so it is ready for that.
        obstacles = await readiness.obstacles()
        if obstacles:
            raise OverloadedError(
                f"Not ready: {'; '.join(obstacles)}.", hint="Ask again later; 'garden doctor' says more."
            )
        return Response(as_json({"status": "ready"}), 200, None, JSON)

    async def show_metrics(request: Request) -> Response:
        caller = request.scope.get(CALLER)
        if caller is not None and caller.role != "maintainer":
            raise ForbiddenError("Metrics are for maintainers.", hint="Use a maintainer's token.")
        metrics.refresh()
        return Response(await asyncio.to_thread(metrics.page), 200, None, CONTENT_TYPE)

    add(router, "GET", "/healthz", alive, "is_it_alive", openapi.check_alive())
    add(router, "GET", "/readyz", ready, "is_it_ready", openapi.check_ready())
    add(router, "GET", "/metrics", show_metrics, "metrics", openapi.read_metrics())
