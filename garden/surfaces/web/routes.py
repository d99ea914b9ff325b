"""Routes that FastAPI describes and that answer without its detours: requests come in, responses go out."""

from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.routing import APIRoute
from starlette.types import Receive, Scope, Send

Handler = Callable[[Request], Awaitable[Response]]


class PlainRoute(APIRoute):
    """A route whose handler takes a request and gives a response.

    What FastAPI does between the two (dependencies, models, stacks of contexts) took longer than reading a
    document; the dispatcher has checked everything already, by the same models that describe it.
    """

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        super().__init__(path, endpoint, **options)

        async def answer(scope: Scope, receive: Receive, send: Send) -> None:
            response = await endpoint(Request(scope, receive))
            await response(scope, receive, send)

        self.app = answer


def add(
    router: APIRouter, method: str, path: str, handler: Handler, name: str, described: dict[str, Any] | None
) -> None:
    """Add a route; without a description it is no part of the OpenAPI document."""
    router.add_api_route(
        path,
        handler,
        methods=[method],
        name=name,
        operation_id=name,
        response_model=None,
        response_class=Response,
        include_in_schema=described is not None,
        openapi_extra=described,
    )
