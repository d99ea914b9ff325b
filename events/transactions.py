"""Transactions: pending events of several streams, recorded in one commit."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from garden.events.pool import translate_errors
from garden.events.records import DocumentChange, Event, Statement
from garden.events.round_trips import pipelined, report_conflict, report_lost_answer
from garden.events.statements import statements
from garden.events.stream import EventName, LockedStream


class Beginning(NamedTuple):
    """A change that is to begin in its stream, which is locked on the connection of all the others."""

    stream: LockedStream
    statement: Statement
    change: DocumentChange
    name: EventName


def begin_together(beginnings: Sequence[Beginning]) -> list[Event]:
    """Record all changes durably before any of them happens; the first brings the request of them all."""
    begun = [each.stream.next_pending(each.statement, each.change, each.name) for each in beginnings]
    rows: list[dict[str, Any]] = [values for _, _, values in begun]
    for values in rows[1:]:
        values["fingerprint"] = None
    connection, sql = beginnings[0].stream.connection, statements("transactions")["begin_event"]
    # The statements of a pipeline are one transaction.
    with report_lost_answer(), translate_errors(), report_conflict("A document"), pipelined(connection):
        for values in rows:
            connection.execute(sql, values)
    for each, (event, head, _) in zip(beginnings, begun, strict=True):
        each.stream.move_head(head, event)
    return [event for event, _, _ in begun]
