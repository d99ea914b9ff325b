"""The steps that every tool that edits one document shares: request to intent, plan to reply."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from garden.events.idempotency import RequestIdentity, identify_request
from garden.files.paths import GardenPath
from garden.grammar.edits import Edit
from garden.history.differences import cut_diff, cut_warning
from garden.tools.declaration import Call, Edits, Reply
from garden.tools.request_paths import document_path
from garden.tools.wire import EditRequest, WriteRequest, payload_of
from garden.writing.outcomes import WriteOutcome
from garden.writing.planner import Intent, Plan
from garden.writing.write_path import Preview

_EditT = TypeVar("_EditT", bound=EditRequest)
_WriteT = TypeVar("_WriteT", bound=WriteRequest)


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


def new_hash_of(plan: Plan) -> dict[str, Any]:
    """The result of an edit that answers with the document's new hash."""
    return {"newHash": plan.after.document.hash}


def edit_handler(edits: Edits[_EditT]) -> Callable[[Call, _EditT], Reply]:
    """Make the handler of a tool that edits the document at the request's `path`."""

    def handle(call: Call, request: _EditT) -> Reply:
        return carry_out(call, edits, document_path(call.caller, request.path), request)

    return handle


def carry_out(call: Call, edits: Edits[_WriteT], path: GardenPath, request: _WriteT) -> Reply:
    """Carry out the edit that a request asks for, or preview it."""
    # An undo finds its path in an event, which may be of a kind that is declared no more.
    call.services.files.declared.check(path)
    edits = replace(edits, result=seen_result(call, edits))
    if request.dry_run:
        return preview_reply(preview_edit(call, edits, path, request), edits.result)
    intent = edits.intent(call, path, request)
    identity = request_identity(call, intent.tool, path, request, needs_key=edits.needs_key)
    return write_reply(call.services.write_path.write(call.caller, intent, identity, edits.result))


def seen_result(call: Call, edits: Edits[Any]) -> Callable[[Plan], Any]:
    """Make the result of a plan, which the gate sees first and may refuse."""

    def result(plan: Plan) -> Any:
        if call.sees_plan is not None:
            call.sees_plan(plan)
        return edits.result(plan)

    return result


def preview_edit(
    call: Call, edits: Edits[_WriteT], path: GardenPath, request: _WriteT, *, may_exceed: bool = False
) -> Preview | WriteOutcome:
    """Plan an edit, or find that it would be a replay; record nothing."""
    intent = edits.intent(call, path, request)
    identity = request_identity(call, intent.tool, path, request, needs_key=edits.needs_key)
    return call.services.write_path.preview(call.caller, intent, identity, may_exceed=may_exceed)


def request_identity(
    call: Call, tool: str, path: GardenPath, request: WriteRequest, *, needs_key: bool = False
) -> RequestIdentity | None:
    """The identity by which a request that is sent again is recognised, if it may be.

    Without the key that a tool `needs_key` for, the id of a tool call counts while nothing else has changed.
    """
    has_key = request.idempotency_key is not None
    if needs_key and not has_key and call.caller.tool_call_id is None:
        return None
    identity = identify_request(
        call.caller,
        tool,
        path.text,
        payload_of(request),
        key=request.idempotency_key,
        resend_seconds=call.services.limits.resend_seconds,
    )
    return replace(identity, only_while_newest=True) if needs_key and not has_key else identity


def preview_reply(preview: Preview | WriteOutcome, result: Callable[[Plan], Any]) -> Reply:
    """Report what an edit would do."""
    if isinstance(preview, WriteOutcome):
        return write_reply(preview, dry_run=True)
    plan = preview.plan
    diff, about, warnings = diff_of(plan)
    meta = {"dryRun": True, "unchanged": plan.unchanged, **about, "diff": diff}
    return Reply(result(plan), meta, (*preview.warnings, *warnings))


def diff_of(plan: Plan) -> tuple[str, dict[str, Any], tuple[str, ...]]:
    """The diff of a plan, its counts with the new hash, and a warning if it is cut."""
    diff = plan.applied.diff(plan.intent.path.text)
    shown, lines_cut = cut_diff(diff.text)
    about = {
        "documentHash": plan.after.document.hash,
        "linesAdded": diff.added,
        "linesRemoved": diff.removed,
    }
    return shown, about, cut_warning(lines_cut, "Preview the change in smaller parts to see them.")


def write_reply(outcome: WriteOutcome, *, dry_run: bool = False) -> Reply:
    """Report what a call has done, or would do."""
    meta: dict[str, Any] = {}
    if dry_run:
        meta["dryRun"] = True
    if dry_run and outcome.replayed:
        meta["diff"] = ""
    if outcome.event_id is not None:
        meta["eventId"] = str(outcome.event_id)
    if outcome.replayed:
        meta["replayed"] = True
    if outcome.unchanged:
        meta["unchanged"] = True
    if outcome.hint:
        meta["hint"] = outcome.hint
    return Reply(outcome.result, {**meta, **outcome.also}, outcome.warnings)
