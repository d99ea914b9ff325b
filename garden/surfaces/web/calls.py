"""Calls of tools: from a request to `Session.call`, and from its envelope to a response."""

import traceback
from collections.abc import Callable, Mapping
from typing import Any

import structlog
from fastapi import Request, Response

from garden.access.dispatcher import Envelope, InternalError
from garden.access.threads import Workers
from garden.application import Garden
from garden.events.records import Caller
from garden.grammar.errors import GardenError
from garden.surfaces.web.bodies import arguments_in, check_media_type
from garden.surfaces.web.conditions import entity_tag, with_headers
from garden.surfaces.web.intake import CALLER
from garden.surfaces.web.problems import as_json, problem, refused
from garden.tools.declaration import Tool

JSON = "application/json"
PROPOSING = "propose_change"


class Calls:
    """Carries requests out in worker threads, parsing and writing included."""

    def __init__(self, garden: Garden, workers: Workers) -> None:
        self.garden = garden
        self._workers = workers

    async def call_with_body(self, request: Request, tool: Tool[Any]) -> Response:
        """Call a tool with the arguments that the request's body holds."""
        body = await request.body()
        headers = request.headers
        if body:
            check_media_type(headers.get("content-type"))
        return await self.run(
            request,
            lambda caller: self._called(caller, tool.name, with_headers(tool, arguments_in(body), headers)),
            writes=tool.traits.writes,
        )

    async def call(self, request: Request, tool: str, args: Mapping[str, Any]) -> Response:
        """Call a tool."""
        return await self.run(request, lambda caller: self._called(caller, tool, args))

    async def run(
        self, request: Request, work: Callable[[Caller], Response], *, writes: bool = False
    ) -> Response:
        """Do some work in a thread; what it refuses becomes a response as well."""
        caller: Caller = request.scope[CALLER]
        try:
            return await self._workers.run(caller.user_id, lambda: _answered(work, caller), writes=writes)
        except GardenError as error:
            return problem(error)

    def envelope(self, caller: Caller, tool: str, args: Mapping[str, Any]) -> Envelope:
        """Call a tool."""
        session = self.garden.session(
            caller.user_id,
            caller.actor,
            role=caller.role,
            transaction_id=caller.transaction_id,
            agent_action_id=caller.agent_action_id,
        )
        return session.call(tool, args)

    def _called(self, caller: Caller, tool: str, args: Mapping[str, Any]) -> Response:
        envelope = self.envelope(caller, tool, args)
        return answered(envelope, tool) if envelope["ok"] else refused(envelope)


def answered(envelope: Envelope, tool: str) -> Response:
    """Answer with an envelope that says yes."""
    meta = envelope["meta"]
    headers = {"Cache-Control": "no-store"}
    # What a dry run or a proposal would make of a document is not what it is.
    if "documentHash" in meta and "dryRun" not in meta and tool != PROPOSING:
        headers["ETag"] = entity_tag(meta["documentHash"])
    if meta.get("replayed"):
        headers["Idempotency-Replayed"] = "true"
    return Response(as_json(envelope), 200, headers, JSON)


def _answered(work: Callable[[Caller], Response], caller: Caller) -> Response:
    try:
        return work(caller)
    except GardenError as error:
        return problem(error)
    except Exception:  # noqa: BLE001 - the outermost edge of the thread
        structlog.get_logger("garden.web").error(
            "a request failed unexpectedly", exception=traceback.format_exc()
        )
        return problem(InternalError("Something went wrong here.", hint="The service's log says more."))
