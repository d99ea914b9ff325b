"""What all tools share that edit one document: from a request to an intent, and from a plan to a reply."""

from collections.abc import Callable
from typing import Any, TypeVar

from garden.events.idempotency import RequestIdentity, identify_request
from garden.files.paths import GardenPath
from garden.grammar.edits import Edit
from garden.tools.declaration import Call, Edits, Reply
from garden.tools.places import document_to_edit
from garden.tools.wire import WriteRequest, payload_of
from garden.writing.planner import Intent, Plan
from garden.writing.write_path import Preview, WriteOutcome

Written = TypeVar("Written", bound=WriteRequest)


def intent_of(
    call: Call, tool: str, request: Any, edit: Edit, op: str, rationale: str | None = None
) -> Intent:
    """Put a request's edit together with all that was said beside it."""
    return Intent(
        path=document_to_edit(call.caller, request.path),
        edit=edit,
        tool=tool,
        op=op,
        rationale=rationale or request.rationale,
        override_rationale=request.override_rationale,
        evidence_refs=request.evidence_refs,
        if_match=request.if_match,
        asked=request.asked,
    )


def editing(edits: Edits[Written]) -> Callable[[Call, Written], Reply]:
    """Make the handler of a tool that edits one document."""

    def handle(call: Call, request: Written) -> Reply:
        intent = edits.intent(call, request)
        asked = request_of(call, intent.tool, intent.path, request)
        if request.dry_run:
            return planned(call.services.write_path.preview(call.caller, intent, asked), edits.answer)
        return reply(call.services.write_path.write(call.caller, intent, asked, edits.answer))

    return handle


def request_of(call: Call, tool: str, path: GardenPath, request: WriteRequest) -> RequestIdentity:
    """Identify a request, so that it has one effect however often it is sent."""
    return identify_request(
        call.caller.user_id,
        tool,
        path.text,
        payload_of(request),
        key=request.idempotency_key,
        tool_call_id=call.caller.tool_call_id,
    )


def planned(preview: Preview, answer: Callable[[Plan], Any]) -> Reply:
    """Say what an edit would do."""
    plan = preview.plan
    diff = plan.applied.diff(plan.intent.path.text)
    return Reply(
        answer(plan),
        {
            "dryRun": True,
            "unchanged": plan.unchanged,
            "diff": diff.text,
            "documentHash": plan.after.document.hash,
        },
        preview.warnings,
    )


def reply(outcome: WriteOutcome) -> Reply:
    """Say what an edit has done."""
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
