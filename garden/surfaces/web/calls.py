"""Tool calls over HTTP: from a request to `Session.call`, and from its envelope to a response."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from fastapi import Request, Response

from garden.application import Garden
from garden.events.records import Caller
from garden.gateway.access import policy_of
from garden.gateway.dispatcher import Envelope
from garden.gateway.threads import CallThreads
from garden.session import Session
from garden.surfaces.web.bodies import check_media_type, parse_arguments
from garden.surfaces.web.conditions import add_header_fields, entity_tag
from garden.surfaces.web.intake import CALLER
from garden.surfaces.web.problems import as_json, refuse
from garden.tools.declaration import Tool

JSON = "application/json"
_PROPOSAL = "propose_change"
_Result = TypeVar("_Result")


class Calls:
    """Answers requests in threads, including the parsing and the encoding."""

    def __init__(self, garden: Garden, threads: CallThreads) -> None:
        self.garden = garden
        self._threads = threads

    async def call_with_body(self, request: Request, tool: Tool[Any]) -> Response:
        """Call a tool with the arguments in the request's body."""
        body = await request.body()
        headers = request.headers
        if body:
            check_media_type(headers.get("content-type"))

        def work(caller: Caller) -> Response:
            arguments = add_header_fields(tool, parse_arguments(body), headers)
            return answer(self.envelope(caller, tool.name, arguments), tool.name)

        return await self.run(request, work, writes=tool.traits.writes)

    async def call(self, request: Request, tool: str, args: Mapping[str, Any]) -> Response:
        """Call a tool that only reads."""
        return await self.run(request, lambda caller: answer(self.envelope(caller, tool, args), tool))

    async def call_several(
        self, request: Request, call: Callable[[Session, object], dict[str, Any]]
    ) -> Response:
        """Make the calls that the request's body names, by a method of a session."""
        body = await request.body()
        check_media_type(request.headers.get("content-type"))

        def work(caller: Caller) -> Response:
            done = call(self.session(caller), parse_arguments(body))
            return Response(as_json(done), 200, {"Cache-Control": "no-store"}, JSON)

        return await self.run(request, work, writes=True)

    async def run(
        self, request: Request, work: Callable[[Caller], _Result], *, writes: bool = False
    ) -> _Result:
        """Run some work for the caller in a thread; the intake answers its errors."""
        caller: Caller = request.scope[CALLER]
        return await self._threads.run(caller.user_id, lambda: work(caller), writes=writes)

    def envelope(self, caller: Caller, tool: str, args: Mapping[str, Any]) -> Envelope:
        """Call a tool in this thread."""
        return self.session(caller).call(tool, args)

    def session(self, caller: Caller) -> Session:
        """A session for the caller of a request."""
        return self.garden.session(
            caller.user_id,
            caller.actor,
            role=caller.role,
            transaction_id=caller.transaction_id,
            agent_action_id=caller.agent_action_id,
            surface="http",
            policy=policy_of(caller),
        )


def answer(envelope: Envelope, tool: str) -> Response:
    """Answer with the envelope of a tool's call."""
    if not envelope["ok"]:
        return refuse(envelope)
    meta = envelope["meta"]
    headers = {"Cache-Control": "no-store"}
    # The hash of a dry run or a proposal is not the document's current one.
    if "documentHash" in meta and "dryRun" not in meta and tool != _PROPOSAL:
        headers["ETag"] = entity_tag(meta["documentHash"])
    if meta.get("replayed"):
        headers["Idempotency-Replayed"] = "true"
    return Response(as_json(envelope), 200, headers, JSON)
