"""The eraser: carries an erasure out in steps, and takes it up again after a kill.

The erasure is recorded with its words before anything goes. Each document follows, under its lock: the
passage leaves the living file by an event of its own, then the history copies, then the events, in one
transaction with their tombstones. The words are forgotten at the very end. Every step looks for what is left
to erase, so an erasure that is carried out twice does the rest.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, ClassVar, Literal

from garden.events.erasures import Erasure, ErasureKind, Erasures
from garden.events.identifiers import uuid7
from garden.events.passages import PassageStore
from garden.events.reader import EventReader
from garden.events.records import JOURNAL, Caller
from garden.events.rows import Row
from garden.events.store import EventStore
from garden.events.stream import LockedStream
from garden.events.tokens import TokenStore
from garden.files.errors import UNREADABLE, FileMissingError
from garden.files.failpoints import Failpoint, reach
from garden.files.garden_files import GardenFiles
from garden.files.paths import GardenPath
from garden.grammar.canonical import decoded, raw_hash
from garden.grammar.erasing import erase_passages
from garden.grammar.errors import GardenError
from garden.grammar.gaps import fill_text
from garden.grammar.parser import parse
from garden.grammar.passages import Finder, PassageFinder, WholeTextFinder, distinctive_runs, shingles
from garden.writing.documents import GardenDocument
from garden.writing.erasing.living_files import LivingFiles
from garden.writing.erasing.survey import Place, StreamSurvey, Surveyor, count_rows
from garden.writing.erasing.wishes import ErasureWish
from garden.writing.plan_refusals import DocumentDamagedError
from garden.writing.write_path import WritePath

# Taken for the whole erasure; no document has this path.
_LOCK = "erasures"
# Headings, anchors, identity, and lines of the Change Log, which begin with their time.
_STRUCTURE = re.compile(
    r"\s*(?:#|<!--|---|(?:id|user_id|schema|participants):|- \d{4}-\d\d-\d\d \d\d:\d\dZ )"
)


ReplayOutcome = Literal["erased again", "known already", "needs its text"]
"""A passage that is too short for a fingerprint needs its text."""


class ErasureUnfinishedError(GardenError):
    """An erasure has begun and met trouble; it is finished later."""

    code: ClassVar[str] = "unavailable"

    def __init__(self, cause: GardenError) -> None:
        super().__init__(
            f"The erasure has begun and is not finished: {cause.message}",
            hint="Remove the cause. A running service goes on by itself, and so does 'garden reconcile'.",
            details={"code": cause.code, **cause.details},
        )


@dataclass(frozen=True)
class ErasureReport:
    """The places of the words, the events and bytes erased, and the erasure, unless it is a preview.

    `taken` are earlier paths of the document, where another one is now; what it left there stays.
    """

    places: tuple[Place, ...]
    events: int
    bytes: int
    taken: tuple[str, ...] = ()
    erasure: Erasure | None = None


@dataclass(frozen=True)
class Eraser:
    """Erases passages, documents and users."""

    store: EventStore
    reader: EventReader
    erasures: Erasures
    tokens: TokenStore
    files: GardenFiles
    living_files: LivingFiles
    write_path: WritePath
    passages: PassageStore

    @property
    def surveyor(self) -> Surveyor:
        """Looks for the words."""
        return Surveyor(self.reader, self.files)

    def preview(self, caller: Caller, wish: ErasureWish) -> ErasureReport:
        """List every place that an erasure would reach."""
        self.write_path.erased_text.refuse_words(caller.user_id, [wish.reason])
        erasure = self._new(caller, wish)
        finder, events, size = self._finder(erasure), 0, 0
        places: list[Place] = []
        filled: set[Any] = set()
        for path in self._paths(erasure):
            survey = self.surveyor.survey_stream(path, finder)
            places += self.surveyor.places_of(path, survey, finder)
            answers = self.erasures.count_answers(caller.user_id, survey.event_ids) if survey.filled else 0
            places += [Place("answer", path.text, answers)] if answers else []
            events, size = events + len(survey.filled), size + survey.gaps.bytes_count
            filled |= {each.row_id for each in survey.filled}
            self._check(path, finder, erasure)
        if erasure.path is None:
            notes = self.surveyor.survey_notes(caller.user_id, finder)
            others = [each for each in notes.filled if each.row_id not in filled]
            places += [Place(what, None, count) for what, count in count_rows(others).items() if count]
            events += len(others)
        if erasure.kind is ErasureKind.USER and places:
            beside = self.files.count_others(GardenPath(f"users/{caller.user_id}"))
            places += [Place("other", None, beside)] if beside else []
        earlier = self._earlier_paths(wish.path) if wish.path and wish.passage is None else {}
        taken = tuple(each.text for each, is_taken in earlier.items() if is_taken)
        return ErasureReport(tuple(places), events, size, taken)

    def erase(self, caller: Caller, wish: ErasureWish) -> ErasureReport:
        """Erase, and forget the words."""
        for pending in self.erasures.pending(caller.user_id):
            self.carry_out(pending)
        found = self.preview(caller, wish)
        self.erasures.forget_requests(caller.user_id, self.erasures.now())
        reached = [each for each in found.places if each.what != "unreadable" or wish.passage is None]
        if not reached:
            if wish.kind is ErasureKind.USER:
                self.passages.forget_user(caller.user_id)
            return found
        erasure = self._new(caller, wish)
        self.erasures.begin(erasure, shingles(erasure.passage) if erasure.passage else {})
        reach(Failpoint.ERASURE_BEGUN)
        try:
            done = self.carry_out(erasure)
        except GardenError as error:
            raise ErasureUnfinishedError(error) from None
        return replace(found, events=done.events or 0, bytes=done.bytes, erasure=done)

    def carry_out(self, erasure: Erasure) -> Erasure:
        """Carry an erasure out from where it was left."""
        caller = Caller(erasure.user_id, erasure.actor, erasure.role)
        with self.store.document(caller, _LOCK) as held:
            known = self.erasures.find(erasure.user_id, erasure.erasure_id) or erasure
            if known.finished_at is not None:
                return known
            finder = self._finder(known)
            # A note that was begun before the erasure was not compared with its words. It has this lock until
            # it is recorded; documents have their own locks.
            with self.store.lock_second(held, JOURNAL):
                pass
            if known.kind is ErasureKind.USER:
                self._revoke_tokens(known.user_id)
            self._erase_documents(held, known, finder)
            reach(Failpoint.DOCUMENTS_ERASED)
            if known.path is None:
                self._erase_notes(held, known, finder)
            reach(Failpoint.NOTES_ERASED)
            if known.kind is not ErasureKind.PASSAGE:
                for top in ("users", "history"):
                    self.files.removals.remove_empty_folders(GardenPath(f"{top}/{known.user_id}"))
            if known.kind is ErasureKind.USER:
                self.passages.forget_user(known.user_id)
            return self.erasures.finish(known)

    def replay(self, record: Mapping[str, Any]) -> ReplayOutcome:
        """Erase again what an exported record names, in a garden restored from an older backup."""
        self.erasures.check_record(record)
        is_known_by_words = record["kind"] != ErasureKind.PASSAGE or any(
            size for _, size, _ in record["fingerprints"]
        )
        if not is_known_by_words:
            return "needs its text"
        erasure = self.erasures.take_up(record)
        if erasure is None:
            return "known already"
        self.carry_out(erasure)
        return "erased again"

    def _new(self, caller: Caller, wish: ErasureWish) -> Erasure:
        now = self.erasures.now()
        return Erasure(
            user_id=caller.user_id,
            erasure_id=uuid7(now),
            kind=wish.kind,
            path=wish.path.text if wish.path else None,
            passage=wish.passage,
            reason=wish.reason,
            actor=caller.actor,
            role=caller.role,
            created_at=now,
        )

    def _finder(self, erasure: Erasure) -> Finder:
        if erasure.kind is not ErasureKind.PASSAGE:
            return WholeTextFinder()
        if erasure.passage is not None:
            return PassageFinder(erasure.passage)
        return self.erasures.finder_of(erasure)

    def _paths(self, erasure: Erasure) -> list[GardenPath]:
        """The documents that an erasure covers: those of the event log, and those on the disk only."""
        if erasure.path is not None:
            path = GardenPath(erasure.path)
            earlier = self._earlier_paths(path) if erasure.kind is ErasureKind.DOCUMENT else {}
            return [path, *(each for each, is_taken in earlier.items() if not is_taken)]
        user = erasure.user_id
        with self.reader.snapshot(user) as snapshot:
            recorded = {row["path"] for row in snapshot.fetch("streams", {})} - {JOURNAL}
        there = {path.text for path in self.files.documents(GardenPath(f"users/{user}"))}
        kept = {path.document.text for path in self.files.documents(GardenPath(f"history/{user}"))}
        return [GardenPath(text) for text in sorted(recorded | there | kept)]

    def _earlier_paths(self, path: GardenPath) -> dict[GardenPath, bool]:
        """The paths that a document had before, and whether another document is there now."""
        found: dict[GardenPath, bool] = {}
        left = [path]
        while left:
            for row in self.surveyor.rows_of(path.user_id, left.pop().text):
                origin = (row["edit"] or {}).get("fromPath")
                if origin is not None and GardenPath(origin) not in (path, *found):
                    head = self.reader.head(path.user_id, origin)
                    if head is not None:
                        found[GardenPath(origin)] = head.has_file
                        left += [] if head.has_file else [GardenPath(origin)]
        return found

    def _check(self, path: GardenPath, finder: Finder, erasure: Erasure) -> None:
        """Refuse a passage that can't leave the living file, before anything is recorded."""
        if erasure.kind is ErasureKind.PASSAGE:
            try:
                erase_passages(parse(self.files.read(path).text), finder)
            except (FileMissingError, *UNREADABLE):
                return

    def _revoke_tokens(self, user_id: str) -> None:
        for token in self.tokens.of_user(user_id):
            self.tokens.revoke(user_id, token.token_id, self.erasures.now())

    def _erase_documents(self, held: LockedStream, erasure: Erasure, finder: Finder) -> None:
        """Erase document by document; one that changed meanwhile gets another turn."""
        tails: dict[str, int] = {}
        while due := [path for path in self._paths(erasure) if self._tail(path) != tails.get(path.text)]:
            for path in due:
                with self.store.lock_second(held, path.text) as stream:
                    self._erase_document(stream, path, erasure, finder)
                    tails[path.text] = stream.head.tail_sequence

    def _tail(self, path: GardenPath) -> int:
        head = self.reader.head(path.user_id, path.text)
        return head.tail_sequence if head else 0

    def _erase_document(
        self, stream: LockedStream, path: GardenPath, erasure: Erasure, finder: Finder
    ) -> None:
        current = self._open(stream, path)
        survey = self.surveyor.survey_stream(path, finder)
        if erasure.kind is ErasureKind.PASSAGE:
            is_changed = self.living_files.take_passages_out(
                stream, path, erasure, finder, survey.gaps, current
            )
        else:
            is_changed = self.living_files.take_file_away(stream, path, erasure, survey.gaps, current)
            if self.surveyor.is_unreadable(path):
                self.files.removals.remove_unreadable(path)
        self._erase_copies(path, erasure, finder, survey)
        # A writer that tried a plan may have left one since the file was opened.
        self.files.strays.remove(path)
        reach(Failpoint.COPIES_ERASED)
        if is_changed:
            survey = self.surveyor.survey_stream(path, finder)
        self._fill(erasure, survey, path)
        reach(Failpoint.EVENTS_ERASED)

    def _open(self, stream: LockedStream, path: GardenPath) -> GardenDocument | None:
        """Settle and adopt; the file may be an old copy with erased words, which go again.

        A file that is missing or can't be read is no document. What the event log holds goes all the same.
        """
        self.write_path.settler.settle(stream, path)
        self.files.strays.remove(path)
        stream.has_erased = False
        try:
            return self.write_path.open_and_adopt(stream, path).current
        except (DocumentDamagedError, *UNREADABLE):
            return None

    def _erase_copies(self, path: GardenPath, erasure: Erasure, finder: Finder, survey: StreamSurvey) -> None:
        """Remove the copies, or fill their gaps: a copy then holds what the events give, to the byte."""
        if erasure.kind is not ErasureKind.PASSAGE:
            self.files.removals.remove_copies(path)
            return
        texts: dict[str, list[GardenPath]] = {}
        for copy in self.files.removals.copies_of(path):
            with suppress(*UNREADABLE):
                texts.setdefault(self.files.read(copy).hash, []).append(copy)
        for version, filled in survey.versions() if texts else ():
            for copy in texts.pop(raw_hash(version), ()):
                if filled != version:
                    self.files.removals.rewrite_copy(copy, filled)
        for copy in chain.from_iterable(texts.values()):
            text = self.files.read(copy).text
            if finder.find(text):
                self.files.removals.rewrite_copy(copy, fill_text(text, finder).encode())

    def _erase_notes(self, held: LockedStream, erasure: Erasure, finder: Finder) -> None:
        with self.store.lock_second(held, JOURNAL):
            self._fill(erasure, self.surveyor.survey_notes(erasure.user_id, finder))

    def _fill(self, erasure: Erasure, survey: StreamSurvey, path: GardenPath | None = None) -> None:
        if not survey.filled:
            return
        runs: dict[int, set[str]] = {0: set(survey.lost_versions)}
        if erasure.kind is not ErasureKind.PASSAGE:
            for line in _lines_of(survey.rows):
                for size, each in distinctive_runs(line).items():
                    runs.setdefault(size, set()).update(each)
        size, text = survey.gaps.bytes_count, path.text if path else None
        self.erasures.fill(erasure, survey.filled, runs, survey.event_ids, size, text)


def _lines_of(rows: Sequence[Row]) -> Iterator[str]:
    """The lines that people and agents wrote; not the structure that every document has."""
    for row in rows:
        for inserted in row["splices_inserted"] or ():
            for line in decoded(inserted).splitlines():
                if not _STRUCTURE.match(line):
                    yield line
