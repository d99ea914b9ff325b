"""Moves: a document gets another path, with one event in the stream of each path.

The event of the old path removes the whole text, the event of the new path adds it. The file moves in one
step, so after a crash each event can be settled by itself from the files.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar
from uuid import UUID

from garden.events.idempotency import RequestIdentity
from garden.events.payloads import MovePayload
from garden.events.records import Caller, Statement
from garden.events.store import EventStore
from garden.events.stream import LockedStream
from garden.files.errors import FileExistsAlreadyError, FileMissingError
from garden.files.failpoints import Failpoint, reach
from garden.files.garden_files import GardenFiles
from garden.files.paths import GardenPath
from garden.grammar.errors import GardenError
from garden.grammar.splice import Splice
from garden.home.disk_space import DiskSpace
from garden.writing.departures import change_to, departure_of
from garden.writing.documents import Documents, GardenDocument
from garden.writing.file_wishes import FileWish
from garden.writing.outcomes import WriteOutcome, stored_response
from garden.writing.plan_refusals import refuse_broken, refuse_new_damage
from garden.writing.planner import MOVE_OP, event_type
from garden.writing.write_path import WritePath, record_failure, report_unknown_outcome


class AnotherKindError(GardenError):
    """The new path belongs to another kind of document."""

    code: ClassVar[str] = "invalid_input"


@dataclass(frozen=True, kw_only=True)
class Move(FileWish):
    """The move that a caller wants, and why."""

    new_path: GardenPath


@dataclass(frozen=True)
class Mover:
    """Carries out moves, under the locks of both paths."""

    store: EventStore
    files: GardenFiles
    documents: Documents
    write_path: WritePath
    disk_space: DiskSpace

    def move(self, caller: Caller, move: Move, request: RequestIdentity | None) -> WriteOutcome:
        """Move a document; its history stays where it is."""
        if move.path == move.new_path:
            raise FileExistsAlreadyError
        asked = {move.path.text: request}
        # Always in the same order, or two opposite moves would wait for each other.
        first, second = sorted((move.path.text, move.new_path.text))
        with (
            self.store.document(caller, first, asked.get(first)) as held,
            self.store.lock_second(held, second, asked.get(second)) as other,
        ):
            reach(Failpoint.LOCKED)
            source, target = (held, other) if first == move.path.text else (other, held)
            return self._move(source, target, move)

    def _move(self, source: LockedStream, target: LockedStream, move: Move) -> WriteOutcome:
        settler = self.write_path.settler
        settle = settler.foresee if move.dry_run else settler.settle
        settle(source, move.path)
        settle(target, move.new_path)
        replay = self.write_path.replays.of_move(
            source, target, move.path, move.new_path, records=not move.dry_run
        )
        if replay is not None:
            return replay
        leaving = self._open_source(source, target, move)
        arriving = GardenDocument(
            move.new_path, leaving.raw_hash, leaving.document, self.documents.kind_of(move.new_path)
        )
        refuse_new_damage(arriving)
        outcome = WriteOutcome({"ok": True}, also={"documentHash": leaving.document.hash})
        self.write_path.erased_text.refuse_statement(source, _statement(move, move.path, MovePayload()))
        self.disk_space.check()
        if move.dry_run:
            return outcome
        event_id = self._carry_out(source, target, move, leaving, stored_response(outcome))
        return replace(outcome, event_id=event_id)

    def _carry_out(
        self,
        source: LockedStream,
        target: LockedStream,
        move: Move,
        document: GardenDocument,
        response: Mapping[str, Any],
    ) -> UUID:
        """Record both changes, move the file and seal them."""
        came, went, changes = (
            target.next_name(source),
            source.next_name(),
            self.write_path.indexing.encoded_changes,
        )
        old, new = source.head.version + 1, target.head.version + 1
        come = changes(move.new_path, None, document.document, new, came.at, came_from=move.path.text)
        gone = changes(move.path, document.document, None, old, went.at)
        arrival = target.begin(
            _statement(move, move.new_path, MovePayload(from_path=move.path.text)),
            change_to(document.document, (Splice(0, "", document.text),)),
            came,
        )
        with record_failure(target, arrival):
            reach(Failpoint.HALF_BEGUN)
            departure = source.begin(
                _statement(move, move.path, MovePayload(to_path=move.new_path.text, answer=response)),
                departure_of(document.text),
                went,
            )
            with record_failure(source, departure):
                reach(Failpoint.BEGUN)
                self.files.move(move.path, move.new_path, expected=document.raw_hash)
        reach(Failpoint.WRITTEN)
        with report_unknown_outcome(departure):
            target.finish(arrival, {}, passages=come)
            reach(Failpoint.HALF_SEALED)
            answer = {**response, "eventId": str(departure.event_id)}
            source.finish(departure, answer, passages=gone)
        reach(Failpoint.SEALED)
        return departure.event_id

    def _open_source(self, source: LockedStream, target: LockedStream, move: Move) -> GardenDocument:
        opened = self.write_path.open_without_adopting if move.dry_run else self.write_path.open_and_adopt
        leaving = opened(source, move.path).current
        if leaving is None:
            raise FileMissingError
        refuse_broken(leaving, source.damage, but_for_place=True)
        move.check(leaving)
        if opened(target, move.new_path).current is not None:
            raise FileExistsAlreadyError
        if move.path.kind != move.new_path.kind:
            raise AnotherKindError(
                f"The document is of the kind {move.path.kind}, the new path is for {move.new_path.kind}.",
                hint="Move it to a path of its own kind: notes to notes, memories to memories.",
            )
        return leaving


def _statement(move: Move, path: GardenPath, payload: MovePayload) -> Statement:
    return move.statement(path, event_type(path), MOVE_OP, payload)
