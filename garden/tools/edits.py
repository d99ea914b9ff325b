"""The steps that every tool that edits one document shares: request to intent, plan to reply."""

from collections.abc import Callable
from typing import Any, TypeVar

from garden.events.idempotency import RequestIdentity, identify_request
from garden.files.paths import GardenPath
from garden.grammar.edits import Edit
from garden.tools.declaration import Call, Edits, Reply
from garden.tools.request_paths import document_path
from garden.tools.wire import EditRequest, WriteRequest, payload_of
from garden.writing.planner import Intent, Plan
from garden.writing.write_path import Preview, WriteOutcome

_EditT = TypeVar("_EditT", bound=EditRequest)


def intent_of(
    path: GardenPath, tool: str, request: WriteRequest, edit: Edit, op: str, rationale: str | None = None
) -> Intent:
    """Combine an edit with the fields that every edit shares."""
    return Intent(
        path=path,
        edit=edit,
        tool=tool,
        op=op,
        rationale=rationale or request.rationale,
        override_rationale=request.override_rationale,
        evidence_refs=request.evidence_refs,
        if_match=request.if_match,
        asked=request.own_fields,
    )


def edit_handler(edits: Edits[_EditT]) -> Callable[[Call, _EditT], Reply]:
    """Make the handler of a tool that edits the document at the request's `path`."""

    def handle(call: Call, request: _EditT) -> Reply:
        intent = edits.intent(call, document_path(call.caller, request.path), request)
        identity = request_identity(call, intent.tool, intent.path, request)
        if request.dry_run:
            return preview_reply(
                call.services.write_path.preview(call.caller, intent, identity), edits.result
            )
        return write_reply(call.services.write_path.write(call.caller, intent, identity, edits.result))

    return handle


def request_identity(call: Call, tool: str, path: GardenPath, request: WriteRequest) -> RequestIdentity:
    """Key and fingerprint that give a request one effect however often it is sent."""
    return identify_request(
        call.caller.user_id,
        tool,
        path.text,
        payload_of(request),
        key=request.idempotency_key,
        tool_call_id=call.caller.tool_call_id,
    )


def preview_reply(preview: Preview, result: Callable[[Plan], Any]) -> Reply:
    """Report what an edit would do."""
    plan = preview.plan
    diff = plan.applied.diff(plan.intent.path.text)
    return Reply(
        result(plan),
        {
            "dryRun": True,
            "unchanged": plan.unchanged,
            "diff": diff.text,
            "documentHash": plan.after.document.hash,
        },
        preview.warnings,
    )


def write_reply(outcome: WriteOutcome) -> Reply:
    """Report what an edit has done."""
    meta: dict[str, Any] = {}
    if outcome.event_id is not None:
        meta["eventId"] = str(outcome.event_id)
    if outcome.replayed:
        meta["replayed"] = True
    if outcome.unchanged:
        meta["unchanged"] = True
    if outcome.hint:
        meta["hint"] = outcome.hint
    return Reply(outcome.result, {**meta, **outcome.also}, outcome.warnings)
