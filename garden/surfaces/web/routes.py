"""Routes that FastAPI describes but that skip its detours, and strict query parameters."""

import re
from collections.abc import Awaitable, Callable, Collection
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.routing import APIRoute
from starlette.datastructures import QueryParams
from starlette.types import Receive, Scope, Send

from garden.surfaces.web.problems import NotAcceptedError
from garden.tools.requests import short_name

Handler = Callable[[Request], Awaitable[Response]]

_NUMBER = re.compile("[1-9][0-9]{0,8}")


class PlainRoute(APIRoute):
    """A route whose handler takes a request and returns a response.

    FastAPI's dependencies, models and context stacks took longer than reading a document. The dispatcher
    checks everything already, by the same models that describe it.
    """

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        super().__init__(path, endpoint, **options)

        async def answer(scope: Scope, receive: Receive, send: Send) -> None:
            response = await endpoint(Request(scope, receive))
            await response(scope, receive, send)

        self.app = answer


def add(
    router: APIRouter, method: str, path: str, handler: Handler, name: str, description: dict[str, Any] | None
) -> None:
    """Add a route; without a description it does not appear in the OpenAPI document."""
    router.add_api_route(
        path,
        handler,
        methods=[method],
        name=name,
        operation_id=name,
        response_model=None,
        response_class=Response,
        include_in_schema=description is not None,
        openapi_extra=description,
    )


def query_parameters(parameters: QueryParams, known: Collection[str]) -> dict[str, str]:
    """Return the query parameters; refuse an unknown one, and one given twice."""
    given: dict[str, str] = {}
    for name, value in parameters.multi_items():
        if name not in known:
            hint = f"Known parameters: {', '.join(sorted(known))}." if known else "Leave it out."
            raise NotAcceptedError(f"There is no parameter {short_name(name)}.", hint=hint)
        if name in given:
            raise NotAcceptedError(f"The parameter {name} is given twice.", hint="Give it once.")
        given[name] = value
    return given


def positive_number(name: str, text: str) -> int:
    """Parse a query parameter that counts from 1."""
    if not _NUMBER.fullmatch(text):
        raise NotAcceptedError(f"{name} must be a number from 1 on.", hint=f"Write digits: {name}=20.")
    return int(text)
