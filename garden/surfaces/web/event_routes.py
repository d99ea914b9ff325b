"""`/v1/events`: what happened."""

import re
import time
from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic.alias_generators import to_camel

from garden.access.dispatcher import milliseconds_since
from garden.events.records import Caller
from garden.surfaces.web import openapi
from garden.surfaces.web.calls import JSON, Calls
from garden.surfaces.web.parameters import only
from garden.surfaces.web.problems import NotAcceptedError, as_json
from garden.surfaces.web.routes import add
from garden.tools.events import QueryRequest

FILTERS = frozenset(to_camel(name) for name in QueryRequest.model_fields)
_NUMBER = re.compile("[1-9][0-9]{0,8}")


def add_event_routes(router: APIRouter, calls: Calls) -> None:
    """Add the routes that show events."""

    async def queried(request: Request) -> Response:
        args: dict[str, Any] = only(request.query_params, FILTERS)
        if "limit" in args:
            args["limit"] = _number(args["limit"])
        return await calls.call(request, "events.query", args)

    async def one(request: Request) -> Response:
        event_id = request.path_params["event_id"]
        only(request.query_params, ())

        def work(caller: Caller) -> Response:
            started = time.perf_counter()
            event = calls.garden.lookups.event(caller, event_id).model_dump(mode="json", by_alias=True)
            meta = {"warnings": [], "tookMs": milliseconds_since(started)}
            return Response(as_json({"ok": True, "result": event, "meta": meta}), 200, None, JSON)

        return await calls.run(request, work)

    add(router, "GET", "/v1/events", queried, "query_events", openapi.querying_events())
    add(router, "GET", "/v1/events/{event_id}", one, "read_an_event", openapi.reading_an_event())


def _number(text: str) -> int:
    if not _NUMBER.fullmatch(text):
        raise NotAcceptedError("limit is a number from 1 on.", hint="Give it in digits, as in limit=20.")
    return int(text)
