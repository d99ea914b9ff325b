"""Heads made again from events, where they do not fit them."""

from typing import ClassVar

from garden.events.reader import EventReader
from garden.events.records import JOURNAL, Caller, Head, Statement
from garden.events.store import EventStore
from garden.events.verifier import ChainFault, Tail, Verifier
from garden.grammar.errors import GardenError

_OP = "rebuild_head"


class NotRebuiltError(GardenError):
    """A stream's head can't be made from its events."""

    code: ClassVar[str] = "unavailable"


class HeadBuilder:
    """Makes heads again; only where every event of the stream is as it was written."""

    def __init__(self, store: EventStore, reader: EventReader, verifier: Verifier) -> None:
        self._store = store
        self._reader = reader
        self._verifier = verifier

    def faults(self, user_id: str) -> tuple[ChainFault, ...]:
        """Find the streams that do not hold; only a fault of a head can be mended here."""
        return self._verifier.check_user(user_id).faults

    def rebuild(self, caller: Caller, fault: ChainFault) -> None:
        """Make a stream's head from its events, and leave word of it in the user's journal.

        That comes before, but for the journal's own head, without which nothing can be said there.
        A head that knows of more than there are events shows that events were lost; it stays as it is.
        """
        self._refuse_loss(caller.user_id, fault.stream)
        if fault.stream != JOURNAL:
            self._store.log(caller, _said(fault))
        with self._store.document(caller, fault.stream) as stream:
            tail = self._refuse_loss(caller.user_id, fault.stream)
            stream.rebuild_head(head_of_tail(tail))
        if fault.stream == JOURNAL:
            self._store.log(caller, _said(fault))

    def _refuse_loss(self, user_id: str, stream: str) -> Tail:
        tail = self._verifier.follow_stream(user_id, stream)
        if isinstance(tail, ChainFault):
            raise NotRebuiltError(
                f"The events of {_named(stream)} are not as they were written: {tail.message}.",
                hint="Keep the database as it is, and compare it with a backup.",
            )
        head = self._reader.head(user_id, stream)
        if head is not None and (head.tail_sequence, head.version) > (tail.sequence, tail.version):
            raise NotRebuiltError(
                f"Events of {_named(stream)} are missing: its head knows of {head.tail_sequence}, "
                f"and there are {tail.sequence}.",
                hint="Keep the database as it is, and restore it from a backup.",
            )
        return tail


def head_of_tail(tail: Tail) -> Head:
    """Give the head that the events of a stream lead to."""
    last, row = tail.last or {}, tail.head_row or {}
    times = [last.get(name) for name in ("created_at", "written_at", "committed_at", "failed_at")]
    return Head(
        version=tail.version,
        content_hash=row.get("intended_hash"),
        raw_hash=row.get("intended_raw_hash"),
        head_event_id=row.get("event_id"),
        open_event_id=tail.open_event_id,
        tail_sequence=tail.sequence,
        tail_chain_hash=tail.chain,
        updated_at=max(time for time in times if time is not None),
    )


def _named(stream: str) -> str:
    return stream or "the journal"


def _said(fault: ChainFault) -> Statement:
    return Statement(
        type="recovery",
        op=_OP,
        tool="garden",
        path=fault.stream or None,
        rationale=f"The head of {_named(fault.stream)} is made again from its events: {fault.message}.",
    )
