"""Drift: a file that differs from its head, because a person or program edited it outside the tools.

The outside edit is recorded as an event before anything else, so that the versions stay unbroken. If it
removed anchors or identity, the event names them, and no tool edits the document until they are back.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from garden.events.head_guard import HeadGuard
from garden.events.payloads import AdoptedPayload, MovePayload
from garden.events.reader import EventReader, Query
from garden.events.records import Caller, DocumentChange, Event, Statement
from garden.events.saga import Status
from garden.events.stream import EventName, LockedStream
from garden.files.errors import FileMissingError
from garden.files.garden_files import FileText, GardenFiles
from garden.files.paths import GardenPath
from garden.grammar.frontmatter_block import IDENTITY_KEYS
from garden.grammar.kinds.declaration import is_free
from garden.grammar.parser import parse
from garden.grammar.section_changes import changed_sections
from garden.grammar.splice import splices_between
from garden.writing.callers import EXTERNAL
from garden.writing.departures import change_to, departure_of
from garden.writing.documents import Documents, GardenDocument, identity_by_path
from garden.writing.erased_text import ErasedText
from garden.writing.indexing import Indexing
from garden.writing.lost_lines import PERSON, format_lost_lines
from garden.writing.planner import MOVE_OP, entity_of

ADOPTED_TYPE = "external_edit"
_RECENT_EVENTS = 20
_PAGES_MAX = 25
_ABSENT = object()


@dataclass(frozen=True)
class DriftAdopter:
    """Records outside edits in the event log."""

    reader: EventReader
    documents: Documents
    files: GardenFiles
    guard: HeadGuard
    erased_text: ErasedText
    indexing: Indexing

    def adopt(self, stream: LockedStream, path: GardenPath, file: FileText) -> Event | None:
        """Record the outside edit of a document, if its file differs from the head."""
        if file.hash == stream.head.file_hash:
            return None
        self.check_head(stream)
        self.erased_text.refuse_old_copy(stream, file)
        old = self.known_text(stream, path)
        document = self.documents.parse_file(path, file)
        failed = _find_failed_event(islice(self.recent_events(path), _RECENT_EVENTS), file.hash)
        lint = self.lint_of(stream, old, document, stream.damage)
        change = change_to(document.document, splices_between(old or "", file.text))
        before, name = parse(old, document.document) if old is not None else None, stream.next_name()
        sections = changed_sections(before, document.document)
        version = stream.head.version + 1
        passages = self.indexing.encoded_changes(path, before, document.document, version, name.at)
        rationale = _rationale(old, failed) + format_lost_lines(
            old or "", file.text, self.recent_events(path)
        )
        edit = AdoptedPayload(failed_event=failed, file_time=file.touched_at.isoformat())
        return record_adopted(stream, path, change, name, passages, rationale, edit, lint, sections)

    def find_departure(self, stream: LockedStream, path: GardenPath) -> Event | None:
        """Find the failed move that took a missing file away: its mover woke up too late."""
        page = self.reader.query(path.user_id, Query(path=path.text, op=MOVE_OP, limit=_RECENT_EVENTS))
        return next(
            (event for event in page.events if self._has_taken_away(event, stream.head.raw_hash)), None
        )

    def adopt_departure(self, stream: LockedStream, path: GardenPath, failed: Event) -> Event:
        """Record that a failed move took a document away."""
        self.check_head(stream)
        text, name = self.known_text(stream, path) or "", stream.next_name()
        passages = self.indexing.encoded_changes(path, parse(text), None, stream.head.version + 1, name.at)
        stream.damage = None
        gone = AdoptedPayload(failed_event=str(failed.event_id))
        why = _rationale(None, gone.failed_event)
        return record_adopted(stream, path, departure_of(text), name, passages, why, gone)

    def _has_taken_away(self, event: Event, raw_hash: str | None) -> bool:
        move = event.statement.edit
        if event.status is not Status.FAILED or not isinstance(move, MovePayload) or move.to_path is None:
            return False
        there = GardenPath(move.to_path)
        try:
            if self.files.read(there).hash == raw_hash:
                return True
        except FileMissingError:
            return False
        page = self.reader.query(there.user_id, Query(path=there.text, limit=_RECENT_EVENTS))
        return any(
            each.intended_raw_hash == raw_hash
            and isinstance(each.statement.edit, AdoptedPayload)
            and each.statement.edit.failed_event is not None
            for each in page.events
        )

    def damage(self, stream: LockedStream, path: GardenPath, file: FileText) -> Mapping[str, Any] | None:
        """Find the damage in a file, and record nothing."""
        if file.hash == stream.head.file_hash:
            return stream.damage
        self.check_head(stream)
        return find_damage(
            self.known_text(stream, path), self.documents.parse_file(path, file), stream.damage
        )

    def lint_of(
        self,
        stream: LockedStream,
        old: str | None,
        document: GardenDocument,
        known: Mapping[str, Any] | None,
    ) -> dict[str, Any]:
        """What lint and the erased words say of an outside edit; the stream learns of its damage."""
        stream.damage = find_damage(old, document, known)
        splices = splices_between(old or "", document.text)
        return {
            "counts": document.report.counts,
            "blocked": list(document.report.blocked_reasons),
            "damage": stream.damage,
            **({"erased": True} if self.erased_text.is_in_edit(stream, document.text, splices) else {}),
        }

    def recent_events(self, path: GardenPath) -> Iterator[Event]:
        """The newest events of a document, as far back as lost lines are looked for."""
        query: Query | None = Query(path=path.text, limit=_RECENT_EVENTS)
        for _ in range(_PAGES_MAX):
            if query is not None:
                page = self.reader.query(path.user_id, query)
                yield from page.events
                query = replace(query, cursor=page.cursor) if page.cursor else None

    def check_head(self, stream: LockedStream) -> None:
        """Refuse a head that is not as the service sealed it."""
        self.guard.check(stream.caller.user_id, stream.path, stream.found_head)

    def known_text(self, stream: LockedStream, path: GardenPath) -> str | None:
        """The text of a document's head."""
        version = stream.head.version
        return self.reader.text_at(path.user_id, path.text, version) if version else None


def _find_failed_event(recent: Iterable[Event], raw_hash: str) -> str | None:
    """Find the failed event that was to write this; its writer woke up after it was settled."""
    failed = (event for event in recent if event.status is Status.FAILED)
    return next((str(event.event_id) for event in failed if event.intended_raw_hash == raw_hash), None)


def record_adopted(
    stream: LockedStream,
    path: GardenPath,
    change: DocumentChange,
    name: EventName,
    passages: str | None,
    rationale: str,
    edit: AdoptedPayload | MovePayload,
    lint: Mapping[str, Any] | None = None,
    sections: tuple[str, ...] = (),
    op: str = ADOPTED_TYPE,
) -> Event:
    """Record an outside edit as a person's."""
    statement = Statement(
        type=ADOPTED_TYPE,
        op=op,
        tool="garden",
        path=path.text,
        entity=entity_of(path),
        sections=sections,
        rationale=rationale,
        edit=edit,
        lint=lint,
    )
    person = Caller(path.user_id, EXTERNAL, role=PERSON)
    return stream.record(statement, change, name=name, by=person, passages=passages)


def find_damage(
    old: str | None, after: GardenDocument, known: Mapping[str, Any] | None
) -> dict[str, Any] | None:
    """Find the anchors and identity values that are gone, now or since an earlier edit."""
    if is_free(after.kind):
        return None
    known = known or {}
    before = parse(old) if old is not None else None
    anchors = {str(section.anchor) for section in before.sections if section.anchor} if before else set()
    identity = (
        {key: _plain(before.values[key]) for key in IDENTITY_KEYS if key in before.values} if before else {}
    )
    wanted_anchors = anchors | set(known.get("anchors", []))
    by_path = identity_by_path(after.path)
    # A value that matches the path is right; the value before does not matter.
    wanted_identity = {
        key: value
        for key, value in (identity | dict(known.get("identity", {}))).items()
        if after.document.values.get(key) != by_path.get(key, _ABSENT)
    }
    there = {str(section.anchor) for section in after.document.sections if section.anchor}
    values = after.document.values
    damage = {
        "anchors": sorted(wanted_anchors - there),
        "identity": {
            key: value for key, value in wanted_identity.items() if _plain(values.get(key)) != value
        },
    }
    return damage if any(damage.values()) else None


def _plain(value: object) -> object:
    """A value that can be stored; dates and the like as text.

    YAML has escapes for zero bytes and half surrogates, which no database holds; those stay escapes.
    """
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if value is None or type(value) in {int, bool}:
        return value
    return str(value).encode("utf-8", "backslashreplace").decode().replace("\0", "\\0")


def _rationale(old: str | None, failed: str | None) -> str:
    if failed:
        return "A write that had been given up reached the file after all."
    if old is None:
        return "The document was begun outside the tools."
    return "The document was edited outside the tools."
