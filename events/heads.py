"""Rebuilds heads that do not fit their events."""

from typing import ClassVar

from garden.events.reader import EventReader
from garden.events.records import JOURNAL, Caller, Head, Statement
from garden.events.row_checks import Tail
from garden.events.store import EventStore
from garden.events.verifier import ChainFault, Verifier
from garden.grammar.canonical import content_hash, encoded, raw_hash
from garden.grammar.errors import GardenError

_OP = "rebuild_head"


class NotRebuiltError(GardenError):
    """A stream's head can't be rebuilt from its events."""

    code: ClassVar[str] = "unavailable"


class HeadBuilder:
    """Rebuilds heads, only from streams whose events all verify."""

    def __init__(self, store: EventStore, reader: EventReader, verifier: Verifier) -> None:
        self._store = store
        self._reader = reader
        self._verifier = verifier

    def faults(self, user_id: str) -> tuple[ChainFault, ...]:
        """Find the faults of a user's streams; only a fault of a head can be repaired here."""
        return self._verifier.check_user(user_id).faults

    def rebuild(self, caller: Caller, fault: ChainFault) -> None:
        """Rebuild a stream's head from its events, and record that in the user's journal.

        The journal comes first, except for its own head, without which nothing can be recorded there. A head
        that counts more events than there are shows a loss of events, and stays as it is.
        """
        self._refuse_loss(caller.user_id, fault.stream)
        if fault.stream != JOURNAL:
            self._store.log(caller, _statement(fault))
        with self._store.document(caller, fault.stream) as stream:
            tail = self._refuse_loss(caller.user_id, fault.stream)
            stream.rebuild_head(head_of_tail(tail))
        if fault.stream == JOURNAL:
            self._store.log(caller, _statement(fault))

    def _refuse_loss(self, user_id: str, stream: str) -> Tail:
        tail = self._verifier.follow_stream(user_id, stream)
        if isinstance(tail, ChainFault):
            raise NotRebuiltError(
                f"The events of {_display_name(stream)} are not as they were written: {tail.message}.",
                hint="Keep the database as it is, and compare it with a backup.",
            )
        head = self._reader.head(user_id, stream)
        if head is not None and (head.tail_sequence, head.version) > (tail.sequence, tail.version):
            raise NotRebuiltError(
                f"Events of {_display_name(stream)} are missing: its head knows of {head.tail_sequence}, "
                f"and there are {tail.sequence}.",
                hint="Keep the database as it is, and restore it from a backup.",
            )
        return tail


def head_of_tail(tail: Tail) -> Head:
    """The head that the events of a stream lead to."""
    last, row = tail.last or {}, tail.head_row or {}
    times = [last.get(name) for name in ("created_at", "written_at", "committed_at", "failed_at")]
    return Head(
        version=tail.version,
        # An erasure may have taken the hashes away; the text is what its tombstone says.
        content_hash=row.get("intended_hash") or (content_hash(tail.text) if row else None),
        raw_hash=row.get("intended_raw_hash") or (raw_hash(encoded(tail.text)) if row else None),
        has_file=bool(row.get("leaves_file")),
        head_event_id=row.get("event_id"),
        open_event_id=tail.open_event_id,
        tail_sequence=tail.sequence,
        tail_chain_hash=tail.chain,
        updated_at=max(time for time in times if time is not None),
    )


def _display_name(stream: str) -> str:
    return stream or "the journal"


def _statement(fault: ChainFault) -> Statement:
    return Statement(
        type="recovery",
        op=_OP,
        tool="garden",
        path=fault.stream or None,
        rationale=f"The head of {_display_name(fault.stream)} is rebuilt from its events: {fault.message}.",
    )
