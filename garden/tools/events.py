"""The tools of the account: `events.log` says something, `events.query` looks up what happened."""

import json
from collections.abc import Iterable
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import AfterValidator, AwareDatetime, Field, StrictInt

from garden.events.idempotency import identify_request
from garden.events.reader import PAGE_EVENTS_DEFAULT, PAGE_EVENTS_MAX, Page, Query
from garden.events.records import Statement
from garden.events.views import EventView, event_views
from garden.events.wire import Wire
from garden.files.paths import GardenPath, parse_path
from garden.grammar.errors import GardenError
from garden.tools.declaration import TENDERS, Call, Reply, Tool, Traits
from garden.tools.documents import read_document
from garden.tools.places import file_to_read
from garden.tools.wire import Correlated, Label, Line, Request, Words, payload_of
from garden.writing.adoption import ADOPTED_TYPE
from garden.writing.planner import entity_of

DETAILS_CHARACTERS_MAX = 64 * 1024
PAGE_CHARACTERS_MAX = 1024 * 1024
DETAILS_DEPTH_MAX = 32
Hash = Annotated[str, Field(pattern="^sha256:[0-9a-f]{64}$")]


def _bounded(details: dict[str, Any]) -> dict[str, Any]:
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
    """A type of event that nobody but the service records."""

    code = "invalid_input"


class LogRequest(Correlated):
    """What is to be recorded that is no change by itself."""

    type: Label = Field(description="What it is: observation, decision, profile_update, ...")
    op: Label = Field("note", description="What was done: note, replace_section, append_item, ...")
    file_path: str | None = Field(None, description="The document that it speaks of.")
    section_anchor: Line | None = Field(None, description="The section that it speaks of.")
    before_hash: Hash | None = Field(None, description="What it hashed to before.")
    after_hash: Hash | None = Field(None, description="What it hashed to afterwards.")
    details: Annotated[dict[str, Any], AfterValidator(_bounded)] | None = Field(
        None, description="Whatever else is to be kept, as a JSON object."
    )


class LoggedEvent(Wire):
    """Where it is recorded."""

    event_id: UUID


class QueryRequest(Request):
    """Which events are wanted; what is not given does not narrow the search."""

    path: str | None = Field(None, description="Of this document.")
    section_anchor: Line | None = Field(None, description="Of this section: concerns v1.")
    type: Line | None = Field(
        None, description="Of this type: profile_update, observation, external_edit, ..."
    )
    op: Line | None = Field(None, description="With this op: replace_section, append_item, ...")
    status: Literal["pending", "written", "committed", "failed"] | None = None
    since: AwareDatetime | None = Field(None, description="From this time on, as in 2026-11-18T08:25:00Z.")
    until: AwareDatetime | None = Field(None, description="Before this time.")
    actor: Line | None = Field(None, description="By this actor.")
    tool_call_id: Line | None = None
    transaction_id: Line | None = None
    agent_action_id: Line | None = None
    text: Words | None = Field(None, description="With all of these words in a rationale.")
    limit: Annotated[StrictInt, Field(ge=1, le=PAGE_EVENTS_MAX)] = Field(
        PAGE_EVENTS_DEFAULT, description="So many at once."
    )
    cursor: str | None = Field(None, description="meta.cursor of the page before, for the next one.")


class Rows(Wire):
    """The events found, newest first."""

    rows: tuple[EventView, ...]


def log(call: Call, request: LogRequest) -> Reply:
    """Record what is no change; where a write recorded it already, as an annotation of that event."""
    if request.type == ADOPTED_TYPE:
        raise ReservedTypeError(
            f"{ADOPTED_TYPE} is what the service records when it finds one.", hint="Choose another type."
        )
    path = file_to_read(call.caller, request.file_path) if request.file_path is not None else None
    asked = identify_request(
        call.caller.user_id,
        "events.log",
        path.text if path else "",
        payload_of(request),
        key=request.idempotency_key,
        tool_call_id=call.caller.tool_call_id,
    )
    logged = call.services.store.log(
        call.caller, _statement(call, request, path), asked, check=call.services.disk_space.check
    )
    meta: dict[str, Any] = {"eventId": str(logged.event_id)}
    if logged.is_annotation:
        meta["annotated"] = True
    if logged.replayed:
        meta["replayed"] = True
        meta["hint"] = (
            "This was recorded before; a different idempotencyKey has the same words recorded again."
        )
    return Reply(LoggedEvent(event_id=logged.event_id), meta)


def _statement(call: Call, request: LogRequest, path: GardenPath | None) -> Statement:
    told = {
        "beforeHash": request.before_hash,
        "afterHash": request.after_hash,
        "details": request.details,
    }
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
        edit={key: value for key, value in told.items() if value is not None} or None,
        lint=_lint(call, path) if path else None,
    )


def _lint(call: Call, path: GardenPath) -> dict[str, Any]:
    report = read_document(call.services, path).report
    return {"counts": report.counts, "blocked": report.blocked}


def query(call: Call, request: QueryRequest) -> Reply:
    """Find events, newest first."""
    asked = Query(**request.model_dump(by_alias=False))
    if asked.path is not None:
        parse_path(asked.path, owner=call.caller.user_id)
    reader = call.services.reader
    page = _bounded_page(reader.query(call.caller.user_id, asked))
    rows = event_views(reader, call.caller.user_id, page.events)
    return Reply(Rows(rows=rows), {"cursor": page.cursor} if page.cursor else {})


def _bounded_page(page: Page) -> Page:
    """Cut a page short where its events hold more text than an answer should; the cursor asks for more."""
    characters = 0
    for number, event in enumerate(page.events):
        splice = event.splice
        characters += len(splice.removed) + len(splice.inserted) if splice else 0
        characters += len(json.dumps(event.statement.edit)) if event.statement.edit else 0
        if characters > PAGE_CHARACTERS_MAX and number > 0:
            return Page(page.events[:number], str(page.events[number - 1].event_id))
    return page


TOOLS: tuple[Tool[Any], ...] = (
    Tool(
        "events.log",
        "Record an observation",
        "Records an observation, a decision or anything else that is no change of a document.",
        "Edits record themselves. Where toolCallId, transactionId or agentActionId and filePath name an "
        "edit that "
        "was recorded, this becomes an annotation of it, and its eventId is returned.",
        LogRequest,
        LoggedEvent,
        log,
        Traits(writes=True, roles=TENDERS, cost="light"),
        {"type": "observation", "rationale": "She laughed about the deadline, for the first time."},
    ),
    Tool(
        "events.query",
        "Look up what happened",
        "Finds events, newest first: what changed, when, by whom and why.",
        "All filters narrow the search. meta.cursor, where there is one, asks for the next page.",
        QueryRequest,
        Rows,
        query,
        Traits(cost="light"),
        {"path": "users/ada/notes.md", "status": "committed", "limit": 10},
    ),
)
