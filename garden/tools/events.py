"""`events.query` finds events."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, StrictInt

from garden.events.reader import PAGE_EVENTS_DEFAULT, PAGE_EVENTS_MAX, Query
from garden.events.records import Caller
from garden.events.views import EventView
from garden.events.wire import Wire
from garden.files.paths import parse_path
from garden.home.local_day import now_in
from garden.home.times import parse_time
from garden.tools.declaration import Call, OnWire, Reply, Tool, Traits
from garden.tools.documents import section_names
from garden.tools.wire import Line, Request, Time, Words
from garden.writing.services import Services

StatusName = Literal["pending", "written", "committed", "failed"]


class QueryRequest(Request):
    """Filters; one that is left out does not narrow the search."""

    other_names: ClassVar[Mapping[str, str]] = {"filePath": "path", "from": "since", "to": "until"}
    rare: ClassVar[frozenset[str]] = frozenset(
        {"op", "tool", "status", "toolCallId", "transactionId", "agentActionId", "evidenceRef"}
    )

    path: str | None = Field(None, description="Only this document.")
    section_anchor: Line | None = Field(None, description="Only this section, such as concerns v1.")
    event_id: Line | None = Field(None, description="An event's id, or at least its last six characters.")
    type: Line | None = Field(None, description="Such as profile_update, observation, external_edit.")
    op: Line | None = Field(None, description="Such as replace_section, append_item.")
    tool: Line | None = Field(None, description="Such as md.patch_section.")
    status: StatusName | Annotated[tuple[StatusName, ...], Field(min_length=1)] | None = Field(
        None, description="One or several."
    )
    since: Time | None = Field(
        None, description="From this time on: 2026-11-18T08:25:00Z, 2026-11-01, yesterday, 3d."
    )
    until: Time | None = Field(None, description="Before this time.")
    actor: Line | None = Field(None, description="Only this actor.")
    tool_call_id: Line | None = None
    transaction_id: Line | None = None
    agent_action_id: Line | None = None
    evidence_ref: Line | None = Field(None, description="Only this evidence: ev:s12-m40.")
    text: Words | None = Field(None, description="Words in a rationale.")
    limit: Annotated[StrictInt, Field(ge=1, le=PAGE_EVENTS_MAX)] = Field(
        PAGE_EVENTS_DEFAULT, description="Events per page."
    )
    cursor: str | None = Field(None, description="meta.cursor of the previous page.")


class Rows(Wire):
    """The events found, newest first."""

    rows: tuple[EventView, ...]


_FILTERS = {*QueryRequest.model_fields} - {"section_anchor"}


def query_of(services: Services, caller: Caller, request: QueryRequest) -> Query:
    """The query that a request asks for."""
    path = parse_path(request.path, owner=caller.user_id) if request.path is not None else None
    filters = {name: value for name, value in request if value is not None and name in _FILTERS}
    if request.section_anchor is not None:
        filters["section"] = section_names(services, path, request.section_anchor)
    for name in ("since", "until"):
        if name in filters:
            filters[name] = parse_time(filters[name], now_in(services.timezone))
    return Query(**filters)


def query(call: Call, request: QueryRequest) -> Reply:
    """Find events, newest first."""
    page = call.services.reader.views(call.caller.user_id, query_of(call.services, call.caller, request))
    return Reply(OnWire({"rows": page.events}), {"cursor": page.cursor} if page.cursor else {})


TOOLS: tuple[Tool[Any], ...] = (
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
