"""A document's stream of events, or the user's journal, under its lock.

A stream may also be `tried`: its head is what this process knows, and its first step takes the lock.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from typing import Any, NamedTuple, Self
from uuid import UUID

import psycopg

from garden.events.calls import call_json
from garden.events.database import DatabaseUnavailableError
from garden.events.idempotency import EarlierRequest, InProgressError, RequestIdentity
from garden.events.identifiers import earliest_uuid7, uuid7
from garden.events.keyring import Keyring
from garden.events.known_heads import FoundHead
from garden.events.pool import PooledConnection, Work, translate_errors
from garden.events.records import (
    Caller,
    DocumentChange,
    Event,
    Head,
    LastChange,
    Statement,
    head_after,
)
from garden.events.round_trips import pipelined, report_conflict, report_lost_answer
from garden.events.rows import (
    HEAD_SEAL,
    NEW_EVENT,
    Row,
    annotation_row,
    head_row,
    parameters,
    seal_row,
    transition_values,
    written_values,
)
from garden.events.saga import StaleStateError, Status, check_transition
from garden.events.seals import line_seal, seal_annotation, seal_event, seal_head, seal_state
from garden.events.statements import statements
from garden.events.stored_requests import answer_values, find_earlier, request_values

_TICK = timedelta(microseconds=1)
# A call that waits for a person may begin long before its event, and later if the clock was set back.
_CALL_MAX = timedelta(days=1)


class OutdatedPlanError(InProgressError):
    """The plan was made without the lock; the document is locked, or no longer what was known of it."""


class EventName(NamedTuple):
    """An event's id and time."""

    event_id: UUID
    at: datetime


class LockedStream:
    """The head of one stream, and the steps that may follow, each in one round trip.

    A step that ends a change takes what that does to its `passages`, as `changes_json` gives it.
    """

    def __init__(
        self,
        connection: PooledConnection,
        found: FoundHead,
        lock: int,
        caller: Caller,
        path: str,
        request: RequestIdentity | None,
        keys: Keyring,
        now: Callable[[], datetime],
        *,
        row: Row = {},  # noqa: B006 - it is only read
        is_tried: bool = False,
    ) -> None:
        self.caller = caller
        self.path = path
        self.found_head = self.head = found.head
        self.last_change, self.has_erased = found.last_change, found.has_erased
        self.damage = self._found_damage = found.damage
        self.request = request
        self._row = row
        self.earlier: EarlierRequest | None = None
        self.connection = connection
        self._lock = lock
        self.holds_lock = not is_tried
        self.is_tried = is_tried
        self._keys = keys
        self._now = now

    def next_name(self, *others: "LockedStream") -> EventName:
        """Choose the next event's id and time, after the last events of other streams too."""
        at = max(each._moment() for each in (self, *others))
        return EventName(uuid7(at), at)

    def begin(
        self,
        statement: Statement,
        change: DocumentChange,
        name: EventName | None = None,
        *,
        meanwhile: Work | None = None,
    ) -> Event:
        """Record a change durably before it happens: enough for another process to finish or undo it.

        A tried stream takes its lock with this step, unless the document is no longer what is known of it.
        """
        self._require_nothing_open()
        event, row = self._next_event(statement, change, Status.PENDING, name=name)
        head = self._head_with_tail(event, open_event_id=event.event_id)
        self._add(event, row, head, response=None, meanwhile=meanwhile)
        return event

    def next_pending(
        self, statement: Statement, change: DocumentChange, name: EventName
    ) -> tuple[Event, Head, dict[str, Any]]:
        """The pending event of a change, the head that it leaves, and the values that record both."""
        self._require_nothing_open()
        event, row = self._next_event(statement, change, Status.PENDING, name=name)
        head = self._sealed(self._head_with_tail(event, open_event_id=event.event_id))
        asked = self._of_request(event.event_id, event.created_at, None)
        new, call = parameters({name: row[name] for name in NEW_EVENT}), event.caller.call
        calls = call and call.begun(event.event_id, event.status)
        return event, head, {**asked, **new, "head_seal": head.seal.mac, "calls": calls}

    def mark_written(self, event: Event) -> Event:
        """Record that the file holds the intended text."""
        written = self._next_state(event, Status.WRITTEN)
        self._send("mark_written", transition_values(written, event.status), f"Event {event.event_id}")
        return written

    def commit(
        self,
        event: Event,
        response: Mapping[str, Any],
        *,
        keep: bool = False,
        passages: str | None = None,
    ) -> Event:
        """Commit a written change and answer its request; release the lock unless `keep`."""
        ended = self._next_state(event, Status.COMMITTED)
        return self._end(event, ended, response, keep=keep, passages=passages)

    def confirm_lock(self) -> None:
        """Make sure that the lock was never lost: it ends with the database session, which must answer."""
        self._send("act_for", {"user_id": self.caller.user_id})

    def finish(
        self,
        event: Event,
        response: Mapping[str, Any],
        *,
        keep: bool = False,
        meanwhile: Work | None = None,
        passages: str | None = None,
    ) -> Event:
        """Mark a change as written and commit it, durably and in one round trip."""
        check_transition(event.status, Status.WRITTEN)
        times = {"written_at": self._moment(), "committed_at": self._moment()}
        status, after_hash = Status.COMMITTED, event.intended_hash
        committed = seal_state(event, self._keys, status=status, after_hash=after_hash, **times)
        return self._end(
            event, committed, response, keep=keep, is_unwritten=True, meanwhile=meanwhile, passages=passages
        )

    def fail(self, event: Event, error: Mapping[str, Any], *, keep: bool = False) -> Event:
        """Record that a change did not happen, and why; its request may be sent again."""
        return self._end(event, self._next_state(event, Status.FAILED, error), None, keep=keep)

    def record(
        self,
        statement: Statement,
        change: DocumentChange | None = None,
        *,
        name: EventName | None = None,
        by: Caller | None = None,
        passages: str | None = None,
    ) -> Event:
        """Record an event that is committed at once: a statement, or the adopted change of an outside edit.

        A statement is the last step and releases the lock; after an adopted change the caller's own edit
        follows. `by` names the actor if that is not the caller.
        """
        if change is not None:
            self._require_nothing_open()
        event, row = self._next_event(statement, change, Status.COMMITTED, name=name, by=by)
        head = head_after(self._head_with_tail(event), event)
        if change is not None:
            self._add(event, row, head, None, passages=passages)
            return event
        with report_lost_answer():
            self._add(event, row, head, {"eventId": str(event.event_id)}, release=True)
        return event

    def annotate(self, event_id: UUID, statement: Statement) -> None:
        """Add an annotation of an event to the user's journal, and release the lock."""
        at = self._moment()
        sequence = self.head.tail_sequence + 1
        plain = annotation_row(uuid7(at), event_id, sequence, statement, self.caller, at)
        row = seal_annotation(plain, self.head.tail_chain_hash, self._keys)
        tail = self.head._replace(tail_sequence=sequence, tail_chain_hash=row["chain_hash"], updated_at=at)
        values = {
            **parameters(row),
            **self._of_request(event_id, at, {"eventId": str(event_id), "annotated": True}),
            "head_seal": self._sealed(tail).seal.mac,
            "lock": self._lock,
            "calls": self.caller.call and self.caller.call.begun(event_id, Status.COMMITTED),
        }
        with report_lost_answer():
            self._send("add_annotation", values, f"Event {event_id}")
        self.holds_lock = False

    def forget_earlier(self, *, unless_made_at: datetime | None = None) -> None:
        """Free the key of the earlier request, which the caller's own request does not repeat.

        It is kept if it was `unless_made_at` this time, that of the stream's newest entry.
        """
        if self.request is None or self.earlier is None:
            return
        values = {
            "user_id": self.caller.user_id,
            "key": self.request.key,
            "event_id": self.earlier.event_id,
            "unless_made_at": unless_made_at,
        }
        with translate_errors(), pipelined(self.connection) as connection:
            connection.execute(statements("store")["act_for"], values)
            forgotten = connection.execute(statements("store")["forget_request"], values)
        if forgotten.fetchone() is not None:
            self.earlier = None

    def rebuild_head(self, head: Head) -> None:
        """Replace a head that does not fit the stream's events."""
        head = self._sealed(head)
        row = {**head_row(self.caller.user_id, self.path, head), **seal_row(head.seal, HEAD_SEAL)}
        with translate_errors(), report_conflict("The head"), pipelined(self.connection) as connection:
            connection.execute(statements("store")["act_for"], row)
            connection.execute(statements("store")["put_head"], row)
        self.head = head

    @contextmanager
    def hold(self) -> Iterator[Self]:
        """Compare the request with the earlier one of its key; release the lock on leaving."""
        try:
            with translate_errors():
                self.earlier = find_earlier(self.caller.user_id, self.request, self._row, self._keys)
                yield self
        finally:
            self.leave()

    def leave(self) -> None:
        """Release the lock, or close the connection that holds it: the result of the steps stands."""
        if self.holds_lock:
            try:
                with suppress(DatabaseUnavailableError):
                    self.release()
            finally:
                # A lock that could not be given back must not stay on a connection that others will use.
                if self.holds_lock:
                    self.connection.close()

    @property
    def known(self) -> FoundHead:
        """What the steps up to now leave to know."""
        key = self.request.key if self.request else None
        # A preview may find that a person has mended the file, which the event log does not know.
        damage = self._found_damage or self.damage
        return FoundHead(self.head, self.last_change, damage, self.has_erased, key)

    def release(self) -> None:
        """Release the lock, unless the last step has done so."""
        if self.holds_lock:
            self._send("unlock", {"lock": self._lock})
            self.holds_lock = False

    def _add(
        self,
        event: Event,
        row: Row,
        head: Head,
        response: Mapping[str, Any] | None,
        *,
        release: bool = False,
        meanwhile: Work | None = None,
        passages: str | None = None,
    ) -> None:
        head, call = self._sealed(head), event.caller.call
        values = {
            **self._of_request(event.event_id, event.created_at, response),
            **parameters({name: row[name] for name in NEW_EVENT}),
            "known_seal": self.head.seal.mac if self.is_tried else None,
            "head_seal": head.seal.mac,
            "lock": self._lock if release or self.is_tried else None,
            "passages": passages,
            "calls": call and call.begun(event.event_id, event.status),
        }
        # The database may take the lock, whether its answer is read or not.
        self.holds_lock = self.holds_lock or self.is_tried
        [added] = self._send("add_event", values, f"Event {event.event_id}", meanwhile=meanwhile)
        if not added["begun"]:
            self.holds_lock = False
            raise OutdatedPlanError("The document is not as it was when the change was planned.")
        self.is_tried, self.holds_lock = False, not release
        self.move_head(head, event)

    def _ended_call(self, event: Event) -> str:
        """The outcome of an ended event's call; that of another process is found by the event."""
        if event.caller.call is not None:
            code = event.error.get("code") if event.error else None
            return event.caller.call.ended(event.event_id, event.status, code)
        first, last = (earliest_uuid7(event.created_at + span) for span in (-_CALL_MAX, _CALL_MAX))
        status, code = ("success", None) if event.status is Status.COMMITTED else ("failed", "unavailable")
        known = {"event_id": event.event_id, "status": status, "code": code}
        return call_json({"first": first, "last": last, **known})

    def move_head(self, head: Head, event: Event) -> None:
        """Take over the head that a recorded event leaves."""
        self.head, said = head, event.statement
        if head.head_event_id == event.event_id:
            change = event.event_id, event.created_at, said.type, said.op, event.before_raw_hash
            self.last_change = LastChange(*change)

    def _end(
        self,
        event: Event,
        ended: Event,
        response: Mapping[str, Any] | None,
        *,
        keep: bool,
        is_unwritten: bool = False,
        meanwhile: Work | None = None,
        passages: str | None = None,
    ) -> Event:
        closed = self.head._replace(open_event_id=None, updated_at=ended.committed_at or ended.failed_at)
        head = self._sealed(head_after(closed, ended) if ended.status is Status.COMMITTED else closed)
        values = {
            "stream": self.path,
            **transition_values(ended, event.status),
            **written_values(ended if is_unwritten else None),
            **answer_values(self.caller.user_id, event.idempotency_key, event.event_id, response, self._keys),
            "head_seal": head.seal.mac,
            "lock": None if keep else self._lock,
            "passages": passages,
            "call": self._ended_call(ended),
        }
        self._send("end_event", values, f"Event {event.event_id}", meanwhile=meanwhile)
        self.move_head(head, ended)
        self.holds_lock = keep
        return ended

    def _next_event(
        self,
        statement: Statement,
        change: DocumentChange | None,
        status: Status,
        *,
        name: EventName | None = None,
        by: Caller | None = None,
    ) -> tuple[Event, dict[str, Any]]:
        event_id, at = name or self.next_name()
        is_committed = status is Status.COMMITTED
        adopts = change is not None and is_committed
        event = Event(
            user_id=self.caller.user_id,
            event_id=event_id,
            stream=self.path,
            sequence=self.head.tail_sequence + 1,
            statement=statement,
            caller=by or self.caller,
            # The request belongs to the caller's edit, not to the outside edit adopted before it.
            idempotency_key=None if adopts or self.request is None else self.request.key,
            created_at=at,
            status=status,
            committed_at=at if is_committed else None,
            after_hash=change.intended_hash if change is not None and is_committed else None,
            **({} if change is None else self._of_change(change)),
        )
        return seal_event(event, self.head.tail_chain_hash, self._keys)

    def _of_change(self, change: DocumentChange) -> dict[str, Any]:
        return {
            "splices": change.splices,
            "leaves_file": change.leaves_file,
            "document_version": self.head.version + 1,
            "before_hash": self.head.content_hash if self.head.has_file else None,
            "before_raw_hash": self.head.file_hash,
            "intended_hash": change.intended_hash,
            "intended_raw_hash": change.intended_raw_hash,
            "line_hash": line_seal(change.sealed_text, self._keys),
        }

    def _next_state(self, event: Event, status: Status, error: Mapping[str, Any] | None = None) -> Event:
        check_transition(event.status, status)
        at = self._moment()
        match status:
            case Status.WRITTEN:
                changes: dict[str, Any] = {"after_hash": event.intended_hash, "written_at": at}
            case Status.COMMITTED:
                changes = {"committed_at": at}
            case _:
                changes = {"after_hash": None, "error": error, "failed_at": at}
        return seal_state(event, self._keys, status=status, **changes)

    def _moment(self) -> datetime:
        """The time, but after the stream's last event, so that ids sort as sequences do."""
        last = self.head.updated_at
        return self._now() if last is None else max(self._now(), last + _TICK)

    def _head_with_tail(self, event: Event, **also: Any) -> Head:
        return self.head._replace(
            **also,
            tail_sequence=event.sequence,
            tail_chain_hash=event.chain.mac,
            updated_at=event.created_at,
        )

    def _sealed(self, head: Head) -> Head:
        """A new head with its seal; the database takes its columns from the event beside it."""
        return head._replace(seal=seal_head(self.caller.user_id, self.path, head, self._keys))

    def _of_request(self, event_id: UUID, at: datetime, response: Mapping[str, Any] | None) -> dict[str, Any]:
        return request_values(self.caller.user_id, self.request, event_id, at, response, self._keys)

    def _require_nothing_open(self) -> None:
        if self.head.open_event_id is not None:
            raise StaleStateError(
                f"Event {self.head.open_event_id} is not finished yet.",
                hint="Finish it, or let it fail, before the next change of this document.",
            )

    def _send(
        self,
        name: str,
        values: Mapping[str, Any],
        what: str = "The document",
        *,
        meanwhile: Work | None = None,
    ) -> list[dict[str, Any]]:
        """Send a statement, do the caller's work while the database works, and return the rows."""
        if not (self.holds_lock or self.is_tried):
            raise StaleStateError(
                "The document's lock has been given back.", hint="Open the document again for the next step."
            )
        try:
            found = self.connection.ask(statements("store")[name], values, meanwhile)
        except (psycopg.Error, UnicodeEncodeError):
            if self.is_tried:
                # The lock may have been taken before the rest failed; it goes with the connection.
                self.connection.close()
            with translate_errors(), report_conflict(what):
                raise
        return found.fetchall() if found.description else []
