"""Lost lines: what an outside edit removed although an agent had been told that it was saved."""

from collections import Counter
from collections.abc import Iterable

from garden.events.records import Event
from garden.events.saga import Status
from garden.grammar.refusals import PatchConflictError
from garden.grammar.splice import apply_splices, reverse_splices

PERSON = "person"
_REMOVED = "This save removed"
_ID_CHARACTERS = 12


def lost_lines(before: str, after: str, newest_first: Iterable[Event]) -> Counter[str]:
    """Count, by actor, the lines of recent events that the text before has and the text after lacks.

    The events lead back from the text before, version by version.
    """
    lost, by_actor = _lines(before) - _lines(after), Counter[str]()
    for event in newest_first if lost else ():
        if event.status is not Status.COMMITTED or event.splices is None:
            continue
        try:
            earlier = apply_splices(before, reverse_splices(event.splices))
        except PatchConflictError:
            break
        came_with = lost & (_lines(before) - _lines(earlier))
        lost -= came_with
        if event.caller.role != PERSON:
            by_actor[event.caller.actor] += came_with.total()
        if not lost:
            break
        before = earlier
    return +by_actor


def format_lost_lines(before: str, after: str, newest_first: Iterable[Event]) -> str:
    """A sentence on how many lines of each actor an outside edit removed, after a space; or nothing."""
    by_actor = lost_lines(before, after, newest_first)
    if not by_actor:
        return ""
    counts = (
        f"{count} {'line' if count == 1 else 'lines'} by {actor}" for actor, count in by_actor.most_common()
    )
    return f" {_REMOVED} {' and '.join(counts)}."


def tells_of_lost_lines(message: str) -> bool:
    """Whether a message says that an outside edit removed lines of an agent."""
    return _REMOVED in message


def way_back(adopted: Event) -> str:
    """Say what an outside edit removed of an agent, and how it comes back; empty if it removed nothing."""
    _, found, rest = (adopted.statement.rationale or "").partition(_REMOVED)
    version = (adopted.document_version or 1) - 1
    if not found or not version:
        return ""
    undo = f"'garden undo {str(adopted.event_id)[-_ID_CHARACTERS:]}' puts that back"
    restore = f"'garden restore {adopted.statement.path} --version {version}'"
    return f"{found}{rest} {undo}, {restore} the whole version before."


def _lines(text: str) -> Counter[str]:
    return Counter(filter(None, map(str.strip, text.splitlines())))
