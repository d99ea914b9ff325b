"""`/v1/approvals`: calls that were asked about, and their answers."""

import asyncio
from functools import partial
from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic_core import to_jsonable_python

from garden.events.approvals import Approval
from garden.events.records import Caller
from garden.gateway.decisions import Decision
from garden.gateway.feed import Follower
from garden.surfaces.web import openapi
from garden.surfaces.web.bodies import check_media_type, parse_arguments
from garden.surfaces.web.calls import JSON, Calls
from garden.surfaces.web.intake import CALLER
from garden.surfaces.web.problems import as_json, refuse
from garden.surfaces.web.routes import Handler, add, positive_number, query_parameters
from garden.surfaces.web.streams import Streams
from garden.tools.requests import parse_form

_WAIT_SECONDS_MAX = 60


def add_approval_routes(router: APIRouter, calls: Calls, streams: Streams) -> None:
    """Add the routes of approvals."""

    async def list_all(request: Request) -> Response:
        wanted = query_parameters(request.query_params, {"state"})
        return await calls.run(request, lambda caller: _answer(calls.garden.decisions.list(caller, **wanted)))

    async def read(request: Request) -> Response:
        seconds = _wait_seconds(request)
        if not seconds:
            return _answer(await _read(calls, request))
        user_id = request.scope[CALLER].user_id
        follower, ends_at = Follower(streams.feed, user_id), asyncio.get_running_loop().time() + seconds
        with streams.count(user_id), follower.watch():
            found = await _read(calls, request)
            while found.state == "pending" and not streams.stopping.is_set():
                left = ends_at - asyncio.get_running_loop().time()
                if left <= 0:
                    break
                await _wait(follower, streams.stopping, left)
                found = await _read(calls, request)
        return _answer(found)

    def decide(state: Any) -> Handler:
        async def decide(request: Request) -> Response:
            body, approval_id = await _decision(request), request.path_params["approval_id"]

            def work(caller: Caller) -> Response:
                decisions = calls.garden.decisions
                if body.args is None or state == "denied":
                    return _answer(decisions.decide(caller, approval_id, state, body.reason))
                access = calls.session(caller).access
                done = decisions.carry_out_edited(access, approval_id, body.args, body.reason)
                return _answer(decisions.find(caller, approval_id)) if done["ok"] else refuse(done)

            return await calls.run(request, work, writes=True)

        return decide

    async def undo(request: Request) -> Response:
        approval_id = request.path_params["approval_id"]
        work = partial(calls.garden.decisions.undo, approval_id=approval_id)
        return await calls.run(request, lambda caller: _answer(work(caller)), writes=True)

    one = "/v1/approvals/{approval_id}"
    add(router, "GET", "/v1/approvals", list_all, "list_approvals", openapi.list_approvals())
    add(router, "GET", one, read, "read_an_approval", openapi.read_approval())
    add(router, "POST", f"{one}/approve", decide("approved"), "approve_a_call", openapi.decide("Approve"))
    add(router, "POST", f"{one}/deny", decide("denied"), "deny_a_call", openapi.decide("Deny"))
    add(router, "POST", f"{one}/undo", undo, "undo_an_answer", openapi.undo_answer())


async def _read(calls: Calls, request: Request) -> Approval:
    approval_id = request.path_params["approval_id"]
    return await calls.run(request, lambda caller: calls.garden.decisions.find(caller, approval_id))


async def _wait(follower: Follower, stopping: asyncio.Event, seconds: float) -> None:
    """Wait for news of the user, for the end of the service, or for so many seconds."""
    waiting = [asyncio.ensure_future(each) for each in (follower.wait(seconds), stopping.wait())]
    await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    for each in waiting:
        each.cancel()


def _wait_seconds(request: Request) -> int:
    text = query_parameters(request.query_params, {"waitSeconds"}).get("waitSeconds")
    return 0 if text is None else min(_WAIT_SECONDS_MAX, positive_number("waitSeconds", text))


async def _decision(request: Request) -> Decision:
    body = await request.body()
    check_media_type(request.headers.get("content-type") if body else JSON)
    return parse_form(Decision, parse_arguments(body), "decision", "It may have args and reason.")


def _answer(result: Approval | tuple[Approval, ...]) -> Response:
    body = {"ok": True, "result": to_jsonable_python(result), "meta": {"warnings": []}}
    return Response(as_json(body), 200, {"Cache-Control": "no-store"}, JSON)
