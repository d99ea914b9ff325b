"""Moves by hand: a document that a person moved or renamed keeps its history.

The file of a document is missing, and a file that no event knows is the same document: the id in its
frontmatter names the missing one, or it has its bytes, or at least its text below the frontmatter. Where two
files or two documents could be meant, nothing is recorded. The events are those of a move by a tool, the new
path's first. After a crash between the two, the first one tells where the missing document is.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from garden.events.idempotency import InProgressError
from garden.events.payloads import MovePayload
from garden.events.reader import Query
from garden.events.records import Caller, Event
from garden.events.rows import Row
from garden.events.store import EventStore
from garden.events.stream import LockedStream
from garden.files.errors import FileError, FileMissingError
from garden.files.failpoints import Failpoint, reach
from garden.files.garden_files import FileText
from garden.files.paths import GardenPath
from garden.grammar.document import Document
from garden.grammar.edits import RepairDocument
from garden.grammar.parser import parse
from garden.grammar.splice import Splice
from garden.writing.adoption import ADOPTED_TYPE, DriftAdopter, record_adopted
from garden.writing.departures import change_to, departure_of
from garden.writing.documents import GardenDocument, identity_by_path
from garden.writing.lost_lines import format_lost_lines
from garden.writing.plan_refusals import RULE_OF_PLACE
from garden.writing.planner import MOVE_OP, Intent
from garden.writing.settlement import SagaSettler

RECONCILER = "reconciler"
"""The actor of what the service does by itself."""

_RECENT_MOVES = 50

Candidates = Mapping[GardenPath, frozenset[GardenPath]]
"""The files that each missing document may be."""


class HandMove(NamedTuple):
    """A document's old path and its new one; the old one is None if only the new id is left to be set."""

    old: GardenPath | None
    new: GardenPath


class _Missing(NamedTuple):
    path: GardenPath
    raw_hash: str | None
    document: Document


@dataclass(frozen=True)
class HandMoves:
    """Finds moves by hand, and records them."""

    settler: SagaSettler
    adopter: DriftAdopter

    def find(self, stream: LockedStream, path: GardenPath) -> HandMove | None:
        """The move by hand that a document is part of, if it is clear and not yet recorded as a whole."""
        there = self.adopter.files.exists(path)
        if there == stream.head.has_file:
            last = stream.last_change
            was_moved = there and last is not None and (last.type, last.op) == (ADOPTED_TYPE, MOVE_OP)
            return HandMove(None, path) if was_moved and self.new_identity(path) else None
        return next((move for move in clear_moves(self.candidates(path.user_id)) if path in move), None)

    def adopt(self, store: EventStore, old: GardenPath, new: GardenPath) -> Event:
        """Record a move by hand, under the locks of both paths."""
        caller = Caller(old.user_id, RECONCILER, "maintainer")
        first, second = sorted((old.text, new.text))
        with store.document(caller, first) as held, store.lock_second(held, second) as other:
            source, target = (held, other) if first == old.text else (other, held)
            self.settler.settle(source, old)
            self.settler.settle(target, new)
            if HandMove(old, new) not in clear_moves(self.candidates(old.user_id)):
                raise InProgressError(
                    f"{old} is being moved to {new}.", hint="Try again when that has ended."
                )
            reach(Failpoint.LOCKED)
            text = self._checked_text(source, old)
            if not target.head.has_file:
                self._record_arrival(target, old, new, source, text)
                reach(Failpoint.HALF_SEALED)
            departure = self._record_departure(source, old, new, text)
        reach(Failpoint.SEALED)
        return departure

    def new_identity(self, path: GardenPath) -> Intent | None:
        """The edit that gives a document the id of its place, if it has another one."""
        current = self.adopter.documents.parse_file(path, self.adopter.files.read(path))
        if not current.report.has(RULE_OF_PLACE):
            return None
        identity = identity_by_path(path)

        def repair(version: int, found: GardenDocument | None) -> RepairDocument:
            return RepairDocument(version, found.text if found else "", identity)

        return Intent(
            path=path,
            edit=repair(0, current),
            tool="garden",
            op="repair",
            rationale="The document was moved by hand, and gets the id of its new place.",
            under_lock=repair,
        )

    def candidates(self, user_id: str) -> Candidates:
        """Find the files that a user's missing documents may be."""
        with self.adopter.reader.snapshot(user_id) as snapshot:
            heads = {row["path"]: row for row in snapshot.fetch("heads_with_damage", {"path": None})}
        try:
            there = {path.text: path for path in self.adopter.files.documents(GardenPath(f"users/{user_id}"))}
        except FileError:
            # What is in a folder that can't be listed is not missing.
            return {}
        quiet = {path: row for path, row in heads.items() if path and row["open_event_id"] is None}
        gone = [row for path, row in quiet.items() if row["has_file"] and path not in there]
        missing = [each for row in gone if (each := self._missing(row))]
        if not missing:
            return {}
        begun = self._begun(user_id, gone)
        missing = [each for each in missing if each.path not in begun]
        fresh = [path for text, path in there.items() if _has_no_file(text, heads)]
        found = [(each, path) for path in fresh for each in self._documents_in(path, missing)]
        # A copy that was adopted as a document of its own makes it unclear which of the two was moved.
        known = {row["raw_hash"]: there[path] for path, row in quiet.items() if path in there}
        found += [(each, known[each.raw_hash]) for each, _ in found if each.raw_hash in known]
        return begun | {old.path: frozenset(new for each, new in found if each is old) for old, _ in found}

    def _missing(self, row: Row) -> _Missing | None:
        path, reader = GardenPath(row["path"]), self.adopter.reader
        try:
            if self.adopter.files.exists(path):
                return None
        except FileError:
            return None
        text = reader.text_at(path.user_id, path.text, row["version"])
        return _Missing(path, row["raw_hash"], parse(text))

    def _begun(self, user_id: str, gone: Sequence[Row]) -> dict[GardenPath, frozenset[GardenPath]]:
        """The moves of which only the first event was recorded."""
        query = Query(type=ADOPTED_TYPE, op=MOVE_OP, limit=_RECENT_MOVES)
        versions = {row["path"]: row["version"] for row in gone}
        begun = {}
        for event in self.adopter.reader.query(user_id, query).events:
            move = event.statement.edit
            if not isinstance(move, MovePayload) or move.from_path is None or event.statement.path is None:
                continue
            if versions.get(move.from_path) == move.from_version:
                begun[GardenPath(move.from_path)] = frozenset({GardenPath(event.statement.path)})
        return begun

    def _documents_in(self, path: GardenPath, missing: list[_Missing]) -> list[_Missing]:
        """The missing documents that a file may be, by the surest way to tell that finds any."""
        try:
            file = self.adopter.files.read(path)
        except (FileError, FileMissingError):
            return []
        found = parse(file.text)
        of_kind = [each for each in missing if each.path.kind == path.kind]
        for is_same in (_has_id_of, _has_bytes_of, _has_body_of):
            if fits := [each for each in of_kind if is_same(each, file, found)]:
                return fits
        return []

    def _checked_text(self, source: LockedStream, old: GardenPath) -> str:
        self.adopter.check_head(source)
        return self.adopter.known_text(source, old) or ""

    def _record_arrival(
        self, target: LockedStream, old: GardenPath, new: GardenPath, source: LockedStream, text: str
    ) -> None:
        adopter, file = self.adopter, self.adopter.files.read(new)
        adopter.check_head(target)
        adopter.erased_text.refuse_old_copy(target, file)
        document, name = adopter.documents.parse_file(new, file), target.next_name(source)
        lint = adopter.lint_of(target, text, document, source.damage)
        come = adopter.indexing.encoded_changes(
            new, None, document.document, target.head.version + 1, name.at, came_from=old.text
        )
        change = change_to(document.document, (Splice(0, "", file.text),))
        why = f"The document was moved here from {old} outside the tools."
        why += format_lost_lines(text, file.text, adopter.recent_events(old))
        edit = MovePayload(from_path=old.text, from_version=source.head.version)
        record_adopted(target, new, change, name, come, why, edit, lint, op=MOVE_OP)

    def _record_departure(self, source: LockedStream, old: GardenPath, new: GardenPath, text: str) -> Event:
        name = source.next_name()
        gone = self.adopter.indexing.encoded_changes(old, parse(text), None, source.head.version + 1, name.at)
        source.damage = None
        why, edit = f"The document was moved to {new} outside the tools.", MovePayload(to_path=new.text)
        return record_adopted(source, old, departure_of(text), name, gone, why, edit, op=MOVE_OP)


def clear_moves(candidates: Candidates) -> Iterator[HandMove]:
    """The moves that are clear: one document is missing, and one file is it."""
    times = Counter(new for files in candidates.values() for new in files)
    for old, files in candidates.items():
        if len(files) == 1 and times[new := next(iter(files))] == 1:
            yield HandMove(old, new)


def _has_no_file(path: str, heads: Mapping[str, Row]) -> bool:
    """Whether the events know of no file here, and none is on its way."""
    head = heads.get(path)
    return head is None or not (head["has_file"] or head["open_event_id"])


def _has_id_of(missing: _Missing, _: FileText, found: Document) -> bool:
    path, values = missing.path, found.values
    names = (path.user_id, path.entity_id)
    return path.entity_id is not None and (values.get("user_id"), values.get("id")) == names


def _has_bytes_of(missing: _Missing, file: FileText, _: Document) -> bool:
    return file.hash == missing.raw_hash


def _has_body_of(missing: _Missing, _: FileText, found: Document) -> bool:
    body = _body(found)
    return bool(body) and body == _body(missing.document)


def _body(document: Document) -> str:
    """The text below the frontmatter."""
    start = document.frontmatter.span.end if document.frontmatter else 0
    return document.text[start:].strip()
