"""Undoing: takes the change of one event back from a document that may have changed since."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, ClassVar, NamedTuple
from uuid import UUID

from garden.events.erased_words import ErasedError
from garden.events.idempotency import InProgressError
from garden.events.parts import EVENT_PARTS, erased_parts
from garden.events.payloads import MovePayload
from garden.events.reader import EventReader
from garden.events.records import Event
from garden.events.saga import Status
from garden.events.version_texts import VERSION_MAX, VersionTexts
from garden.events.versions import Version, VersionReader
from garden.grammar.canonical import decoded
from garden.grammar.change_log import change_log_refusal, find_change_log
from garden.grammar.edits import WriteFile
from garden.grammar.errors import GardenError
from garden.grammar.kinds.declaration import Kind
from garden.grammar.line_changes import splice_bytes
from garden.grammar.lines import split_lines
from garden.grammar.parser import parse, with_bodies
from garden.grammar.refusals import NoDocumentError, PatchConflictError, excerpt
from garden.grammar.splice import apply_splices
from garden.grammar.undo import Replacement, follow, replacements, take_back
from garden.writing.documents import GardenDocument
from garden.writing.log_claims import log_time
from garden.writing.planner import ERASE_OP, MOVE_OP
from garden.writing.services import Services
from garden.writing.versions import find_event

SHORT_ID_CHARACTERS = 8
_CONFLICTS_SHOWN_MAX = 3
_CONFLICTS_FOLLOWED_MAX = 100
_EVENTS_SHOWN_MAX = 5


class NotUndoableError(GardenError):
    """The event made no change that could be taken back by an edit."""

    code: ClassVar[str] = "invalid_input"


class NothingIsDeletedError(GardenError):
    """To undo the beginning of a document would delete it."""

    code: ClassVar[str] = "delete_not_allowed"


class _Step(NamedTuple):
    """A text of the document, and the event that left it; None for an outside edit not recorded yet."""

    event_id: UUID | None
    text: str


@dataclass
class _Followed:
    """A conflict, the place where it is `now`, the later events that changed it, and whether one undid it."""

    conflict: Replacement
    now: Replacement
    events: list[UUID | None] = field(default_factory=list)
    is_undone: bool = False

    def follow(self, event_id: UUID | None, changes: Sequence[Replacement]) -> None:
        """Follow the place through one event's changes."""
        self.is_undone = self.is_undone or any(each.includes(self.now) for each in changes)
        self.now, is_touched = follow(self.now, changes)
        self.events += [event_id] if is_touched else []

    def report(self, services: Services, then: str, found: GardenDocument) -> dict[str, Any]:
        """The words at the place, then and now, and the events."""
        start, end = self.conflict.start, self.conflict.end
        lines = split_lines(then)
        # Lines that the event took out stood between these.
        words = lines[start:end] or lines[max(start - 1, 0) : start + 1]
        now = split_lines(found.text)[self.now.start : self.now.end]
        known = services.versions.named(found.path.user_id, [each for each in self.events if each])
        return {
            "words": excerpt("".join(words).strip()),
            "now": excerpt("".join(now).strip()),
            "by": [_credit(known[each] if each else None) for each in self.events[-_EVENTS_SHOWN_MAX:]],
            "events": [str(each) for each in self.events if each],
        }


def find_undoable(reader: EventReader, user_id: str, name: str) -> Event:
    """Find an event by its id or the end of it, and refuse one whose change no edit can take back."""
    event = find_event(reader, user_id, name)
    statement, short = event.statement, short_id(event.event_id)
    if event.status is Status.FAILED:
        raise NotUndoableError(f"Event {short} failed and changed nothing.", hint="There is nothing to undo.")
    if event.status is not Status.COMMITTED:
        raise InProgressError(
            f"Event {short} is still being carried out.",
            hint="Try again in a moment; 'garden reconcile' settles an event that a crash interrupted.",
        )
    if event.document_version is None or statement.path is None:
        raise NotUndoableError(
            f"Event {short} ({statement.op}) changed no document.",
            hint="Undo an event that did; events.query with a path lists them.",
        )
    erased = erased_parts({"salts": event.salts}, EVENT_PARTS)
    if statement.op == ERASE_OP or "splices" in erased:
        raise ErasedError(
            f"Words of event {short} were erased, so its change can't be taken back.",
            hint="Edit the text as it is now.",
        )
    move = statement.edit
    if isinstance(move, MovePayload):
        came, went = move.from_path or statement.path, move.to_path or statement.path
        raise NotUndoableError(
            f"Event {short} moved {came} to {went}; a move is undone by a move.",
            hint=f"Move it back with fs.move, as in: garden mv {went} {came}",
            details={"path": went, "newPath": came},
        )
    if event.document_version == 1 or (event.before_hash is None and "hashes" not in erased):
        raise NothingIsDeletedError(
            f"Event {short} began {statement.path}, and nothing is ever deleted.",
            hint="Replace its sections, or erase the document for good with garden.erase.",
        )
    return event


def current_path(versions: VersionReader, event: Event) -> str:
    """Where the document of an event is now; a move may have taken it elsewhere."""
    *_, (path, _) = _stretches(versions, event)
    return path


def take_event_back(
    services: Services, event: Event, kind: Kind | None, found: GardenDocument | None
) -> WriteFile:
    """Return the edit that takes an event's change back, or refuse with the later changes in its way."""
    if found is None:
        raise NoDocumentError(
            "There is no document to edit.", hint="fs.list shows which documents there are."
        )
    before, after = _change_of(services.reader, event, kind)
    if before == after:
        raise change_log_refusal()
    taken = take_back(before, after, found.text)
    if not taken.conflicts:
        return WriteFile(taken.text)
    followed = [_Followed(each, each) for each in taken.conflicts[:_CONFLICTS_FOLLOWED_MAX]]
    _follow_all(followed, chain(_steps(services, event), [_Step(None, found.text)]))
    # A diff of two texts far apart may join a removal with lines that came later.
    taken = take_back(before, after, found.text, [each.conflict for each in followed if each.is_undone])
    if not taken.conflicts:
        return WriteFile(taken.text)
    left = [each for each in followed if each.conflict in taken.conflicts]
    conflicts = [each.report(services, after, found) for each in left[:_CONFLICTS_SHOWN_MAX]]
    raise PatchConflictError(
        f"Event {short_id(event.event_id)} can't be taken back: later changes touched the same words. "
        + " ".join(f"{each['words']!r}: {'; '.join(each['by'])}." for each in conflicts),
        hint="Undo those events first, newest first, or change the words with md.patch_section.",
        details={"eventId": str(event.event_id), "conflicts": conflicts},
    )


def short_id(event_id: UUID) -> str:
    """The end of an event's id, as lists print it."""
    return str(event_id)[-SHORT_ID_CHARACTERS:]


def _change_of(reader: EventReader, event: Event, kind: Kind | None) -> tuple[str, str]:
    """The texts before and after an event; the first with the Change Log of the second, whose lines stay."""
    path, version = event.statement.path or "", event.document_version or 0
    before = parse(reader.text_at(event.user_id, path, version - 1))
    after = parse(apply_splices(before.text, event.splices or ()))
    old, new = find_change_log(before, kind), find_change_log(after, kind)
    if old is None or new is None:
        return before.text, after.text
    return with_bodies(before, {before.number_of(old): new.body}).text, after.text


def _follow_all(places: Sequence[_Followed], steps: Iterator[_Step]) -> None:
    old = split_lines(next(steps).text)
    for event_id, text in steps:
        new = split_lines(text)
        changes = replacements(old, new)
        for each in places:
            each.follow(event_id, changes)
        old = new


def _credit(version: Version | None) -> str:
    if version is None:
        return "an outside edit that is not recorded yet"
    return f"{version.op} by {version.actor}, {log_time(version.time)} ({short_id(version.event_id)})"


def _steps(services: Services, event: Event) -> Iterator[_Step]:
    """The text that an event left, and each later text of the document."""
    stretches = list(_stretches(services.versions, event))
    with services.reader.snapshot(event.user_id) as snapshot:
        for path, first in stretches:
            texts = VersionTexts(snapshot, path)
            for row, splices in texts.steps(first, VERSION_MAX):
                if row["op"] == MOVE_OP and row["came_from"] is None:
                    break
                after = bytearray(texts.data)
                splice_bytes(after, splices)
                yield _Step(row["event_id"], decoded(after))


def _stretches(versions: VersionReader, event: Event) -> Iterator[tuple[str, int]]:
    """The paths of the document from an event on, each with its first version there."""
    path, number, event_id = event.statement.path or "", event.document_version or 0, event.event_id
    yield path, number
    while arrival := versions.next_arrival(event.user_id, path, event_id):
        path, number, event_id = arrival.path, arrival.number, arrival.event_id
        yield path, number
