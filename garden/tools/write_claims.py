"""What a log entry says of a write: the write that bears it out, or else a refusal."""

from dataclasses import replace

from garden.events.reader import WriteClaim
from garden.events.records import Event
from garden.files.paths import GardenPath
from garden.grammar.errors import GardenError
from garden.tools.declaration import Call
from garden.tools.documents import section_names
from garden.tools.log_request import LogRequest
from garden.writing.planner import edit_types

_APPENDING = ("append_file", "append_section", "append_item", "curate_list")
_REPLACING = ("replace_section", "prune_item", "merge_items", "write_file", "replace_text", "apply_diff")
# With any type these say that a document was edited.
_EDITING = (*_APPENDING, *_REPLACING)
OPS = (*_EDITING, "plant", "move", "repair", "restore", "undo", "fix", "archive")


class UnfoundedClaimError(GardenError):
    """No recorded edit is as the log entry says."""

    code = "invalid_input"


def find_claimed_write(call: Call, request: LogRequest, path: GardenPath | None) -> Event | None:
    """Find the write that a log entry speaks of: by ids, by hashes, or as the actor's newest such edit."""
    reader, user_id = call.services.reader, call.caller.user_id
    anchor = request.section_anchor
    claim = WriteClaim(
        path=path.text if path else None,
        section=section_names(call.services, path, anchor) if anchor is not None else None,
        before_hash=request.before_hash,
        after_hash=request.after_hash,
    )
    found = reader.find_write(user_id, claim, by=call.caller)
    if found is None and _has_hashes(request):
        return reader.find_write(user_id, claim)
    if found is None and _names_edit(call, request, path):
        by_actor = replace(claim, actor=call.caller.actor, ops=_similar_ops(request.op))
        return reader.find_write(user_id, by_actor) if path else None
    return found


def may_name_write(call: Call, request: LogRequest) -> bool:
    """Whether a log entry may be about a write; most observations name no document."""
    return request.file_path is not None or _has_hashes(request) or _names_edit_by_type(call, request)


def refuse_unfounded_claim(call: Call, request: LogRequest, path: GardenPath | None) -> None:
    """Refuse a log entry that names an edit, where no write bears it out."""
    place = f" of {path}" if path else ""
    if _has_hashes(request):
        given = [name for name in ("before_hash", "after_hash") if getattr(request, name) is not None]
        names = " and ".join({"before_hash": "beforeHash", "after_hash": "afterHash"}[name] for name in given)
        raise UnfoundedClaimError(
            f"No recorded edit{place} bears this out: none has this {names}"
            f"{f' in {request.section_anchor!r}' if request.section_anchor else ''}.",
            hint="Send the hashes that the edit answered, or leave them out; events.query lists the edits.",
        )
    if _names_edit(call, request, path):
        raise UnfoundedClaimError(
            f"No recorded edit{place} bears this out, and edits record themselves.",
            hint="Name the edit by its toolCallId, or by filePath, sectionAnchor and afterHash. For what "
            "is no edit use another type, such as observation.",
        )


def _has_hashes(request: LogRequest) -> bool:
    return request.before_hash is not None or request.after_hash is not None


def _names_edit(call: Call, request: LogRequest, path: GardenPath | None) -> bool:
    """Whether a log entry says that a document was edited; of no document, only its type says so."""
    return _names_edit_by_type(call, request) or (path is not None and request.op in _EDITING)


def _names_edit_by_type(call: Call, request: LogRequest) -> bool:
    return request.type in edit_types(call.services.documents.kinds)


def _similar_ops(op: str) -> tuple[str, ...] | None:
    """The ops that an agent may mean by this one; None for any."""
    if op in _APPENDING:
        return _APPENDING
    return (op, "curate_list") if op in OPS else None
