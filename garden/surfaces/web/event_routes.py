"""`/v1/events`: events."""

import time
from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic.alias_generators import to_camel
from starlette.datastructures import QueryParams

from garden.events.records import Caller
from garden.gateway.parsed_call import milliseconds_since
from garden.surfaces.web import openapi
from garden.surfaces.web.calls import JSON, Calls
from garden.surfaces.web.problems import as_json
from garden.surfaces.web.routes import add, positive_number, query_parameters
from garden.tools.events import QueryRequest

_FILTERS = frozenset(to_camel(name) for name in QueryRequest.model_fields) | set(QueryRequest.other_names)
_REPEATABLE = "status"


def add_event_routes(router: APIRouter, calls: Calls) -> None:
    """Add the routes that show events."""

    async def query(request: Request) -> Response:
        once = QueryParams([each for each in request.query_params.multi_items() if each[0] != _REPEATABLE])
        args: dict[str, Any] = query_parameters(once, _FILTERS)
        if several := request.query_params.getlist(_REPEATABLE):
            args[_REPEATABLE] = several
        if "limit" in args:
            args["limit"] = positive_number("limit", args["limit"])
        return await calls.call(request, "events.query", args)

    async def read(request: Request) -> Response:
        event_id = request.path_params["event_id"]
        query_parameters(request.query_params, ())

        def work(caller: Caller) -> Response:
            started = time.perf_counter()
            found = calls.garden.lookups.event_named(calls.session(caller).access, event_id)
            event = found.model_dump(mode="json", by_alias=True)
            meta = {"warnings": [], "tookMs": milliseconds_since(started)}
            return Response(as_json({"ok": True, "result": event, "meta": meta}), 200, None, JSON)

        return await calls.run(request, work)

    add(router, "GET", "/v1/events", query, "query_events", openapi.query_events())
    add(router, "GET", "/v1/events/{event_id}", read, "read_an_event", openapi.read_event())
