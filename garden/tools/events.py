"""`events.log` records an event that is not an edit; `events.query` finds events."""

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Annotated, Any, ClassVar, Literal
from uuid import UUID

from pydantic import AfterValidator, Field, StrictInt

from garden.events.idempotency import identify_request
from garden.events.payloads import NotePayload, payload_json
from garden.events.reader import PAGE_EVENTS_DEFAULT, PAGE_EVENTS_MAX, Page, Query
from garden.events.records import Statement
from garden.events.views import EventView, event_views
from garden.events.wire import Wire
from garden.files.paths import GardenPath, parse_path
from garden.grammar.errors import GardenError
from garden.grammar.lookup import anchor_names, find_section
from garden.home.local_day import now_in
from garden.home.times import parse_time
from garden.tools.declaration import WRITERS, Call, Reply, Tool, Traits
from garden.tools.documents import read_document
from garden.tools.request_paths import document_or_copy_path
from garden.tools.wire import Label, Line, RecordedRequest, Request, Time, Words, payload_of
from garden.writing.adoption import ADOPTED_TYPE
from garden.writing.planner import entity_of
from garden.writing.replays import REPLAY_HINT, replay_warning

DETAILS_CHARACTERS_MAX = 64 * 1024
PAGE_CHARACTERS_MAX = 1024 * 1024
DETAILS_DEPTH_MAX = 32
Hash = Annotated[str, Field(pattern="^sha256:[0-9a-f]{64}$")]


def _check_details(details: dict[str, Any]) -> dict[str, Any]:
    level: list[object] = [details]
    for _ in range(DETAILS_DEPTH_MAX):
        level = [inner for value in level for inner in _inside(value)]
    if level:
        raise ValueError(f"must be nested at most {DETAILS_DEPTH_MAX} deep")
    try:
        text = json.dumps(details, allow_nan=False)
    except TypeError:
        raise ValueError("must be JSON") from None
    if len(text) > DETAILS_CHARACTERS_MAX:
        raise ValueError(f"must be at most {DETAILS_CHARACTERS_MAX} characters of JSON")
    return details


def _inside(value: object) -> Iterable[object]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list | tuple) else ()


class ReservedTypeError(GardenError):
    """Only the service records events of this type."""

    code = "invalid_input"


class LogRequest(RecordedRequest):
    """What to record."""

    other_names: ClassVar[Mapping[str, str]] = {"path": "filePath"}

    type: Label = Field(description="Event type: observation, decision, profile_update, ...")
    op: Label = Field("note", description="Operation: note, replace_section, append_item, ...")
    file_path: str | None = Field(None, description="The document it is about.")
    section_anchor: Line | None = Field(None, description="The section it is about.")
    before_hash: Hash | None = Field(None, description="Hash before the change.")
    after_hash: Hash | None = Field(None, description="Hash after the change.")
    details: Annotated[dict[str, Any], AfterValidator(_check_details)] | None = Field(
        None, description="Further details, as a JSON object."
    )


class LoggedEvent(Wire):
    """The recorded event."""

    event_id: UUID


StatusName = Literal["pending", "written", "committed", "failed"]


class QueryRequest(Request):
    """Filters; one that is left out does not narrow the search."""

    other_names: ClassVar[Mapping[str, str]] = {"filePath": "path"}

    path: str | None = Field(None, description="Only events of this document.")
    section_anchor: Line | None = Field(
        None, description="Only events of this section: concerns v1, concerns, or its heading, in any case."
    )
    event_id: Line | None = Field(
        None, description="Only the event with this id, or with these last six or more characters of it."
    )
    type: Line | None = Field(
        None, description="Only this type: profile_update, observation, external_edit, ..."
    )
    op: Line | None = Field(None, description="Only this operation: replace_section, append_item, ...")
    tool: Line | None = Field(None, description="Only events of this tool: md.patch_section, fs.append, ...")
    status: StatusName | Annotated[tuple[StatusName, ...], Field(min_length=1)] | None = Field(
        None, description="Only events with this status, or with one of these."
    )
    since: Time | None = Field(
        None, description="Only events from this time on: 2026-11-18T08:25:00Z, 2026-11-01, yesterday, 3d."
    )
    until: Time | None = Field(None, description="Only events before this time.")
    actor: Line | None = Field(None, description="Only events by this actor.")
    tool_call_id: Line | None = None
    transaction_id: Line | None = None
    agent_action_id: Line | None = None
    evidence_ref: Line | None = Field(None, description="Only events with this evidence: ev:s12-m40.")
    text: Words | None = Field(None, description="Only events with all these words in a rationale.")
    limit: Annotated[StrictInt, Field(ge=1, le=PAGE_EVENTS_MAX)] = Field(
        PAGE_EVENTS_DEFAULT, description="Events per page."
    )
    cursor: str | None = Field(None, description="meta.cursor of the previous page.")


class Rows(Wire):
    """The events found, newest first."""

    rows: tuple[EventView, ...]


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
    logged = call.services.store.log(
        call.caller, _statement(call, request, path), asked, check=call.services.disk_space.check
    )
    meta: dict[str, Any] = {"eventId": str(logged.event_id)}
    warnings: tuple[str, ...] = ()
    if logged.is_annotation:
        meta["annotated"] = True
    if logged.replayed:
        meta |= {"replayed": True, "effectStands": True, "hint": REPLAY_HINT}
        warnings = (replay_warning("Its record is in the event log."),)
    return Reply(LoggedEvent(event_id=logged.event_id), meta, warnings)


def _statement(call: Call, request: LogRequest, path: GardenPath | None) -> Statement:
    note = NotePayload(
        before_hash=request.before_hash, after_hash=request.after_hash, details=request.details
    )
    return Statement(
        type=request.type,
        op=request.op,
        tool="events.log",
        path=path.text if path else None,
        entity=entity_of(path) if path else call.caller.user_id,
        section_anchor=request.section_anchor,
        rationale=request.rationale,
        override_rationale=request.override_rationale,
        evidence_refs=request.evidence_refs,
        edit=note,
        lint=_lint(call, path) if path else None,
    )


def _lint(call: Call, path: GardenPath) -> dict[str, Any]:
    report = read_document(call.services, path).report
    return {"counts": report.counts, "blocked": report.blocked}


def query(call: Call, request: QueryRequest) -> Reply:
    """Find events, newest first."""
    path = parse_path(request.path, owner=call.caller.user_id) if request.path is not None else None
    now, filters = now_in(call.services.timezone), request.model_dump(exclude={"section_anchor"})
    section = request.section_anchor
    asked = Query(
        **{
            **filters,
            "section": _section_names(call, path, section) if section is not None else None,
            "since": parse_time(request.since, now) if request.since is not None else None,
            "until": parse_time(request.until, now) if request.until is not None else None,
        }
    )
    reader = call.services.reader
    page = _page_within_limit(reader.query(call.caller.user_id, asked))
    rows = event_views(reader, call.caller.user_id, page.events)
    return Reply(Rows(rows=rows), {"cursor": page.cursor} if page.cursor else {})


def _section_names(call: Call, path: GardenPath | None, name: str) -> tuple[str, ...]:
    """The names under which events may record a section that a caller names."""
    documents = call.services.documents
    kinds = documents.kinds.values() if path is None else filter(None, [documents.kind_of(path)])
    names = anchor_names(kinds, name)
    if path is not None:
        # A person may have changed the heading.
        with suppress(GardenError):
            names |= {find_section(read_document(call.services, path).document, name).name}
    return tuple(sorted(names))


def _page_within_limit(page: Page) -> Page:
    """Cut a page after so much text; its cursor leads to the rest."""
    characters = 0
    for number, event in enumerate(page.events):
        characters += sum(len(each.removed) + len(each.inserted) for each in event.splices or ())
        characters += len(json.dumps(payload_json(event.statement.edit)))
        if characters > PAGE_CHARACTERS_MAX and number > 0:
            return Page(page.events[:number], str(page.events[number - 1].event_id))
    return page


TOOLS: tuple[Tool[Any], ...] = (
    Tool(
        "events.log",
        "Record an observation",
        "Record an observation, a decision or anything else that is not an edit.",
        "Edits record themselves. If filePath and one of toolCallId, transactionId and agentActionId name a "
        "recorded edit, this annotates that edit and returns its eventId.",
        LogRequest,
        LoggedEvent,
        log,
        Traits(writes=True, roles=WRITERS, cost="light"),
        {"type": "observation", "rationale": "She laughed about the deadline, for the first time."},
    ),
    Tool(
        "events.query",
        "Look up what happened",
        "Find events, newest first: what changed, when, by whom and why.",
        "Every filter narrows the search. Send meta.cursor back for the next page.",
        QueryRequest,
        Rows,
        query,
        Traits(cost="light"),
        {"path": "users/ada/notes.md", "status": "committed", "limit": 10},
    ),
)
