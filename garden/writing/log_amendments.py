"""Amends the Change Log with the reason that came after the edit."""

from garden.events.records import Caller, Event
from garden.files.paths import GardenPath
from garden.grammar.change_log import log_entry
from garden.grammar.edits import AppendLogLine
from garden.grammar.errors import GardenError
from garden.writing.log_claims import log_time
from garden.writing.outcomes import WriteOutcome
from garden.writing.planner import NO_RATIONALE, WHOLE, Intent
from garden.writing.services import Services

OP = "append_log"
# They pass by themselves, so that the request is sent again and finds the line missing.
_PASSING = {"unavailable", "in_progress", "internal"}
_NOTHING = WriteOutcome(None)


def amend_change_log(
    services: Services, caller: Caller, event: Event, rationale: str | None, override: str | None
) -> WriteOutcome:
    """Add a line for an event with its later rationale or override, unless its line says so already."""
    said = event.statement
    is_new = (rationale or said.rationale, override or said.override_rationale) != (
        said.rationale,
        said.override_rationale,
    )
    path = GardenPath(said.path or "")
    if not is_new or path.kind == "notes":
        return _NOTHING
    line = log_entry(
        log_time(event.created_at),
        said.section_anchor or WHOLE,
        said.op,
        rationale or said.rationale or NO_RATIONALE,
        str(event.event_id),
        override or said.override_rationale,
    )
    intent = Intent(
        path=path,
        edit=AppendLogLine(line),
        tool="events.log",
        op=OP,
        rationale=rationale,
        override_rationale=override,
        asked={"eventId": str(event.event_id)},
    )
    try:
        outcome = services.write_path.write(caller, intent, None, lambda _plan: None)
    except GardenError as error:
        if error.code in _PASSING:
            raise
        return WriteOutcome(None, warnings=(f"The Change Log has no line of this: {error.message}",))
    if outcome.unchanged:
        return _NOTHING
    also = {"changeLogEventId": str(outcome.event_id), **outcome.also}
    return WriteOutcome(None, outcome.event_id, warnings=outcome.warnings, also=also)
