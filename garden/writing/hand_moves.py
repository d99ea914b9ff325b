"""Moves by hand: a document that a person moved or renamed keeps its history.

The file of a document is missing, and a file that no event knows is the same document: the id in its
frontmatter names the missing one, or it has its bytes, or at least its text below the frontmatter. Where two
files or two documents could be meant, nothing is recorded. The events are those of a move by a tool, the new
path's first. After a crash between the two, the first one tells where the missing document is.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain
from typing import NamedTuple

from garden.events.idempotency import InProgressError
from garden.events.payloads import MovePayload
from garden.events.reader import Query, VersionNotFoundError
from garden.events.records import Caller, Event, Head
from garden.events.rows import head_of
from garden.events.store import EventStore
from garden.events.stream import LockedStream
from garden.events.version_texts import ChangedEventsError
from garden.files.errors import FileError
from garden.files.failpoints import Failpoint, reach
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

Mark = tuple[str | None, ...]
"""One thing that a document is known by, after its kind."""


class HandMove(NamedTuple):
    """A document's old path and its new one; the old one is None if only the new id is left to be set."""

    old: GardenPath | None
    new: GardenPath


class FoundMoves:
    """The files that each missing document may be; the move is clear where it is one, and of one document."""

    def __init__(self, candidates: Mapping[GardenPath, set[GardenPath]]) -> None:
        self.candidates = candidates
        times = Counter(new for files in candidates.values() for new in files)
        pairs = ((old, next(iter(files))) for old, files in candidates.items() if len(files) == 1)
        clear = [HandMove(old, new) for old, new in pairs if times[new] == 1]
        self._clear = {path: move for move in clear for path in move}

    def of(self, path: GardenPath) -> HandMove | None:
        """The clear move from or to a path."""
        return self._clear.get(path)


Search = Callable[[], FoundMoves]
"""Looks for the moves of a user, which takes a look at all of the garden."""


class _Missing(NamedTuple):
    path: GardenPath
    raw_hash: str | None
    document: Document


@dataclass(frozen=True)
class HandMoves:
    """Finds moves by hand, and records them."""

    settler: SagaSettler
    adopter: DriftAdopter

    def search_once(self, user_id: str) -> Search:
        """A search whose result is kept, for a look at many documents."""
        return cache(partial(self.search, user_id))

    def find(self, stream: LockedStream, path: GardenPath, search: Search | None = None) -> HandMove | None:
        """The move by hand that a document is part of, if it is clear and not yet recorded as a whole."""
        there = self.adopter.files.exists(path)
        if there == stream.head.has_file:
            last = stream.last_change
            was_moved = there and last is not None and (last.type, last.op) == (ADOPTED_TYPE, MOVE_OP)
            return HandMove(None, path) if was_moved and self.new_identity(path) else None
        return (search() if search else self.search(path.user_id)).of(path)

    def adopt(self, store: EventStore, old: GardenPath, new: GardenPath) -> Event:
        """Record a move by hand, under the locks of both paths."""
        caller = Caller(old.user_id, RECONCILER, "maintainer")
        first, second = sorted((old.text, new.text))
        with store.document(caller, first) as held, store.lock_second(held, second) as other:
            source, target = (held, other) if first == old.text else (other, held)
            self.settler.settle(source, old)
            self.settler.settle(target, new)
            if not self._still_holds(source, old, target, new):
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

    def search(self, user_id: str) -> FoundMoves:
        """Find the files that a user's missing documents may be."""
        with self.adopter.reader.snapshot(user_id) as snapshot:
            heads = {row["path"]: head_of(row) for row in snapshot.fetch("heads", {}) if row["path"]}
        try:
            there = {path.text: path for path in self.adopter.files.documents(GardenPath(f"users/{user_id}"))}
        except FileError:
            # What is in a folder that can't be listed is not missing.
            return FoundMoves({})
        quiet = {path: head for path, head in heads.items() if head.open_event_id is None}
        gone = {GardenPath(path): head for path, head in quiet.items() if head.has_file and path not in there}
        begun = self._begun(user_id, gone) if gone else {}
        looked = (self._missing(path, head) for path, head in gone.items() if path not in begun)
        missing = [each for each in looked if each]
        if not missing:
            return FoundMoves(begun)
        marked, files = _by_mark(missing), defaultdict[GardenPath, set[GardenPath]](set)
        known = {head.raw_hash: there[path] for path, head in quiet.items() if path in there}
        for path in (path for text, path in there.items() if _has_no_file(heads.get(text))):
            for each in self._documents_in(path, marked):
                # A copy that was adopted as a document of its own makes it unclear which one was moved.
                files[each.path] |= {path, known.get(each.raw_hash, path)}
        return FoundMoves(begun | files)

    def _missing(self, path: GardenPath, head: Head) -> _Missing | None:
        try:
            if self.adopter.files.exists(path):
                return None
            text = self.adopter.reader.text_at(path.user_id, path.text, head.version)
        except (FileError, ChangedEventsError, VersionNotFoundError):
            return None
        return _Missing(path, head.raw_hash, parse(text))

    def _begun(self, user_id: str, gone: Mapping[GardenPath, Head]) -> dict[GardenPath, set[GardenPath]]:
        """The moves of missing documents of which only the first event was recorded."""
        query = Query(type=ADOPTED_TYPE, op=MOVE_OP, limit=_RECENT_MOVES)
        begun = {}
        for event in self.adopter.reader.query(user_id, query).events:
            move, path = event.statement.edit, event.statement.path
            if isinstance(move, MovePayload) and move.from_path and path:
                head = gone.get(old := GardenPath(move.from_path))
                if head and head.version == move.from_version:
                    begun[old] = {GardenPath(path)}
        return begun

    def _still_holds(
        self, source: LockedStream, old: GardenPath, target: LockedStream, new: GardenPath
    ) -> bool:
        """Whether a move that was found is still one, under both locks, and not recorded as a whole."""
        if not source.head.has_file or self.adopter.files.exists(old):
            return False
        if target.head.has_file:
            return self._begun(old.user_id, {old: source.head}).get(old) == {new}
        missing = self._missing(old, source.head)
        return bool(missing and self._documents_in(new, _by_mark([missing])))

    def _documents_in(
        self, path: GardenPath, marked: Mapping[Mark, Sequence[_Missing]]
    ) -> Sequence[_Missing]:
        """The missing documents that a file may be, by the surest mark that any of them has."""
        try:
            file = self.adopter.files.read(path)
        except FileError:
            return []
        document = parse(file.text)
        marks = _marks(path, _identity(document), file.hash, document)
        return next((found for mark in marks if (found := marked.get(mark))), [])

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


def _has_no_file(head: Head | None) -> bool:
    """Whether the events know of no file, and none is on its way."""
    return head is None or not (head.has_file or head.open_event_id)


def _by_mark(missing: Iterable[_Missing]) -> Mapping[Mark, Sequence[_Missing]]:
    marked = defaultdict[Mark, list[_Missing]](list)
    for each in missing:
        # Notes keep the id of an earlier place, so their own id counts as well.
        names = (each.path.user_id, each.path.entity_id), _identity(each.document)
        marks = (_marks(each.path, name, each.raw_hash, each.document) for name in names)
        for mark in dict.fromkeys(chain.from_iterable(marks)):
            marked[mark].append(each)
    return marked


def _marks(
    path: GardenPath, identity: tuple[str | None, ...], raw_hash: str | None, document: Document
) -> list[Mark]:
    """What a document is known by, the surest first."""
    marks: list[Mark] = [("id", *identity), ("bytes", raw_hash), ("text", _body(document))]
    if path.free is not None:
        # Its frontmatter may say anything, and archived documents are all alike.
        marks = marks[1:] if document.length else []
    return [(path.kind, *mark) for mark in marks if mark[-1]]


def _identity(document: Document) -> tuple[str | None, ...]:
    values = (document.values.get(key) for key in ("user_id", "id"))
    return tuple(None if value is None else str(value) for value in values)


def _body(document: Document) -> str:
    """The text below the frontmatter."""
    start = document.frontmatter.span.end if document.frontmatter else 0
    return document.text[start:].strip()
