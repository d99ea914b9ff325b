"""`md.repair`, `md.restore` and `md.undo`, for maintainers: bring back what an edit took or damaged."""

from dataclasses import replace
from functools import partial
from typing import Any

from pydantic import Field, model_validator

from garden.events.records import Event
from garden.events.wire import Wire
from garden.files.paths import GardenPath
from garden.grammar.edits import RepairDocument, RestoreText, WriteFile
from garden.home.local_day import now_in
from garden.home.times import parse_time
from garden.tools.declaration import MAINTAINERS, Call, Edits, Reply, Tool, Traits
from garden.tools.edits import carry_out, edit_handler, intent_of
from garden.tools.request_paths import document_path
from garden.tools.wire import EditRequest, Line, NewHash, Time, WriteRequest
from garden.writing.documents import GardenDocument, identity_by_path
from garden.writing.planner import Intent, Plan
from garden.writing.undoing import current_path, find_undoable, short_id, take_event_back
from garden.writing.versions import (
    NotAVersionError,
    check_version_is_whole,
    last_whole_version,
    resolve_version,
)

_VERSION_MAX = 2**31 - 1
_REPAIRED = "Put anchors and identity back."


class RepairRequest(EditRequest):
    """The document to repair."""


class RestoreRequest(EditRequest):
    """The version to restore: give one of the three."""

    version: int | None = Field(None, ge=1, le=_VERSION_MAX, strict=True, description="The version's number.")
    at: Time | None = Field(None, description="As of this time: 2026-11-18T08:25:00Z, yesterday, 3d.")
    event: Line | None = Field(
        None,
        description="The event that made it: its id, or the end of it.",
    )

    @model_validator(mode="after")
    def _one_of_three(self) -> "RestoreRequest":
        if sum(each is not None for each in (self.version, self.at, self.event)) != 1:
            raise ValueError("give one of version, at and event")
        return self


class UndoRequest(WriteRequest):
    """The event to undo."""

    event: Line = Field(description="Its id, or at least the last six characters of it.")
    path: str | None = Field(None, description="The event's document, as a check.")


class Restoration(Wire):
    """The new hash and the restored version."""

    new_hash: str
    from_version: int


class Repair(Restoration):
    """The new hash, the undamaged version that was used, and what was put back."""

    mended: list[str]


class Undone(NewHash):
    """The new hash, the document, and the event whose change was taken back."""

    path: str
    event: str


def _repair_intent(call: Call, path: GardenPath, request: RepairRequest) -> Intent:
    reader, identity = call.services.reader, identity_by_path(path)

    def against(newest: int, _found: GardenDocument | None) -> RepairDocument:
        version = last_whole_version(reader, path, newest)
        good = reader.text_at(path.user_id, path.text, version) if version else ""
        return RepairDocument(version, good, identity)

    intent = intent_of(
        path,
        "md.repair",
        request,
        RepairDocument(0, "", identity),
        "repair",
        request.rationale or _REPAIRED,
    )
    return replace(intent, under_lock=against)


def _repair_result(plan: Plan) -> dict[str, Any]:
    return {**_restore_result(plan), "mended": list(plan.applied.repairs)}


def _restore_intent(call: Call, path: GardenPath, request: RestoreRequest) -> Intent:
    reader = call.services.reader
    at = parse_time(request.at, now_in(call.services.timezone)) if request.at is not None else None
    version = resolve_version(call.services, path, version=request.version, at=at, event=request.event)
    check_version_is_whole(reader, path, version)
    edit = RestoreText(version, reader.text_at(path.user_id, path.text, version))
    why = request.rationale or f"Put version {version} back."
    return intent_of(path, "md.restore", request, edit, "restore", why)


def _restore_result(plan: Plan) -> dict[str, Any]:
    edit = plan.intent.edit
    version = edit.version if isinstance(edit, RepairDocument | RestoreText) else 0
    return {"newHash": plan.after.document.hash, "fromVersion": version}


def undo(call: Call, request: UndoRequest) -> Reply:
    """Take the change of one event back from its document, wherever that is now."""
    given = document_path(call.caller, request.path) if request.path is not None else None
    event = find_undoable(call.services.reader, call.caller.user_id, request.event)
    path = document_path(call.caller, current_path(call.services.versions, event))
    if given is not None and given.text not in {path.text, event.statement.path}:
        raise NotAVersionError(
            f"Event {short_id(event.event_id)} changed {event.statement.path}, not this document.",
            hint="Leave path out, or name the document that the event changed.",
            details={"eventId": str(event.event_id), "path": event.statement.path},
        )
    edits = Edits(partial(_undo_intent, event), partial(_undone, event), needs_key=True)
    return carry_out(call, edits, path, request)


def _undo_intent(event: Event, call: Call, path: GardenPath, request: UndoRequest) -> Intent:
    kind = call.services.documents.kind_of(path)
    why = request.rationale or f"Took event {short_id(event.event_id)} back."

    def at_present(_version: int, found: GardenDocument | None) -> WriteFile:
        return take_event_back(call.services, event, kind, found)

    return replace(intent_of(path, "md.undo", request, WriteFile(""), "undo", why), under_lock=at_present)


def _undone(event: Event, plan: Plan) -> dict[str, Any]:
    path = plan.intent.path.text
    return {"newHash": plan.after.document.hash, "path": path, "event": str(event.event_id)}


_REPAIR = Edits(_repair_intent, _repair_result, needs_key=True)
_RESTORE = Edits(_restore_intent, _restore_result, needs_key=True)

TOOLS: tuple[Tool[Any], ...] = (
    Tool(
        "md.repair",
        "Repair a document",
        "Put back anchors and identity that an outside edit removed.",
        "Every line of the person's text stays. The last undamaged version shows what is missing: an anchor "
        "goes back below its heading, a missing section comes back empty, identity keys get their values "
        "back, and unreadable frontmatter is replaced. An uncertain repair is refused; use md.restore then. "
        "An undamaged document stays unchanged.",
        RepairRequest,
        Repair,
        edit_handler(_REPAIR),
        Traits(writes=True, maintains=True, replaces=True, roles=MAINTAINERS),
        {"path": "users/ada/parts/critic/profile.md", "rationale": "She had edited it on her phone."},
        edits=_REPAIR,
    ),
    Tool(
        "md.restore",
        "Restore a version",
        "Bring an earlier version of a document back as a new version.",
        "Give one of version, at and event. The file may be missing or damaged; an outside edit is recorded "
        "first, so no text is lost. The Change Log keeps its newer lines. Warnings name the anchors that "
        "disappear. A version that is itself damaged is refused.",
        RestoreRequest,
        Restoration,
        edit_handler(_RESTORE),
        Traits(writes=True, maintains=True, replaces=True, roles=MAINTAINERS),
        {"path": "users/ada/parts/critic/profile.md", "version": 1, "rationale": "Too much was lost."},
        edits=_RESTORE,
    ),
    Tool(
        "md.undo",
        "Undo an event",
        "Take one event's change back, as a new edit.",
        "Works while later changes left the lines of that event as they were; otherwise the conflict names "
        "the events that changed them. Lines of the Change Log stay. A document that has moved since is "
        "edited where it is now. A move is undone with fs.move. Without the change, the document stays "
        "unchanged. dryRun shows the diff.",
        UndoRequest,
        Undone,
        undo,
        Traits(writes=True, replaces=True, roles=MAINTAINERS),
        {"event": "3f9a21c4", "rationale": "She took it back."},
    ),
)
