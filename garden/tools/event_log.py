"""`events.log` records what is not an edit, or says more about an edit that was recorded."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from garden.events.idempotency import RequestIdentity, identify_request
from garden.events.payloads import NotePayload
from garden.events.records import Statement
from garden.events.store import LogOutcome
from garden.events.stream import LockedStream
from garden.events.wire import Wire
from garden.files.paths import GardenPath
from garden.grammar.errors import GardenError
from garden.grammar.lookup import find_section
from garden.tools.declaration import WRITERS, Call, Reply, Tool, Traits
from garden.tools.documents import FileGoneError, read_document
from garden.tools.log_request import LogRequest
from garden.tools.request_paths import document_or_copy_path
from garden.tools.wire import payload_of
from garden.tools.write_claims import find_claimed_write, may_name_write, refuse_unfounded_claim
from garden.writing.adoption import ADOPTED_TYPE
from garden.writing.log_amendments import amend_change_log
from garden.writing.planner import entity_of
from garden.writing.replays import REPLAY_HINT, replay_warning


class ReservedTypeError(GardenError):
    """Only the service records events of this type."""

    code = "invalid_input"


class LoggedEvent(Wire):
    """The recorded event."""

    event_id: UUID


def log(call: Call, request: LogRequest) -> Reply:
    """Record an event that is not an edit, or annotate the edit that it is about."""
    if request.type == ADOPTED_TYPE:
        raise ReservedTypeError(
            f"Only the service records events of type {ADOPTED_TYPE}.", hint="Choose another type."
        )
    path = document_or_copy_path(call.caller, request.file_path) if request.file_path is not None else None
    asked = identify_request(
        call.caller,
        "events.log",
        path.text if path else "",
        payload_of(request),
        key=request.idempotency_key,
        resend_seconds=call.services.limits.resend_seconds,
    )
    write = None
    if may_name_write(call, request):
        # Before the write is looked for: since the first time, another one may have come to fit.
        earlier = call.services.store.find_logged(call.caller, asked)
        if earlier is not None:
            return _reply(earlier)
        write = find_claimed_write(call, request, path)
    if write is None:
        return _reply(_record(call, _own_statement(call, request, path), asked))
    # The Change Log comes first: its line is added once, however often the request is sent.
    amendment = amend_change_log(
        call.services, call.caller, write, request.rationale, request.override_rationale
    )
    statement = _statement(request, write.statement.path, write.statement.entity, request.section_anchor)
    logged = _record(call, statement, asked, about=write.event_id)
    return _reply(logged, amendment.also, amendment.warnings)


def _record(
    call: Call, statement: Statement, asked: RequestIdentity | None, about: UUID | None = None
) -> LogOutcome:
    def check(journal: LockedStream) -> None:
        call.services.write_path.erased_text.refuse_statement(journal, statement)
        call.services.disk_space.check()

    return call.services.store.log(call.caller, statement, asked, about=about, check=check)


def _reply(
    logged: LogOutcome, also: Mapping[str, Any] | None = None, warnings: tuple[str, ...] = ()
) -> Reply:
    meta: dict[str, Any] = {"eventId": str(logged.event_id), **(also or {})}
    if logged.is_annotation:
        meta["annotated"] = True
    if logged.replayed:
        meta |= {"replayed": True, "effectStands": True, "hint": REPLAY_HINT}
        warnings = (replay_warning("Its record is in the event log."), *warnings)
    return Reply(LoggedEvent(event_id=logged.event_id), meta, warnings)


def _own_statement(call: Call, request: LogRequest, path: GardenPath | None) -> Statement:
    """The statement of an event of its own, which claims no edit."""
    section, lint = request.section_anchor, None
    if path is not None:
        try:
            standing = read_document(call.services, path)
        except FileGoneError:
            pass
        else:
            lint = {"counts": standing.report.counts, "blocked": standing.report.blocked}
            section = find_section(standing.document, section).name if section is not None else None
    refuse_unfounded_claim(call, request, path)
    entity = entity_of(path) if path else call.caller.user_id
    return _statement(request, path.text if path else None, entity, section, lint)


def _statement(
    request: LogRequest,
    path: str | None,
    entity: str | None,
    section: str | None,
    lint: Mapping[str, Any] | None = None,
) -> Statement:
    return Statement(
        type=request.type,
        op=request.op,
        tool="events.log",
        path=path,
        entity=entity,
        section_anchor=section,
        rationale=request.rationale,
        override_rationale=request.override_rationale,
        evidence_refs=request.evidence_refs,
        edit=NotePayload(
            before_hash=request.before_hash, after_hash=request.after_hash, details=request.details
        ),
        lint=lint,
    )


TOOLS: tuple[Tool[Any], ...] = (
    Tool(
        "events.log",
        "Record an observation",
        "Record an observation, a decision or anything else that is not an edit.",
        "Edits record themselves. If the ids, or else filePath, sectionAnchor and afterHash, name a recorded "
        "edit, this annotates that edit, returns its eventId, and adds a new rationale or override to the "
        "Change Log. A claim that no recorded edit bears out is refused.",
        LogRequest,
        LoggedEvent,
        log,
        Traits(writes=True, roles=WRITERS, cost="light"),
        {"type": "observation", "rationale": "She laughed about the deadline, for the first time."},
    ),
)
