"""What a verification finds: each fault with its place, and what to do about it."""

from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from garden.events.verifier import ChainFault

_EVENTS_HINT = (
    "Keep the database as it is, and compare it with a backup. If a key is missing, put it back among the "
    "keys and verify again."
)
_HEAD_HINT = (
    "Every event of this document verifies; only its head does not fit. Find out what changed it, then run "
    "'garden reconcile --heads'."
)


class Part(StrEnum):
    """The part of a home that a fault is in; an outside edit and an unfinished erasure are no tampering."""

    EVENTS = "events"
    HEAD = "head"
    FILE = "file"
    COPY = "copy"
    LOG = "log"
    OUTSIDE = "outside edit"
    UNFINISHED = "unfinished erasure"


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that does not hold: its place, such as a document or a copy, and the event it is about."""

    part: Part
    place: str
    message: str
    hint: str
    event_id: UUID | None = None
    sequence: int | None = None


def fault_of_chain(fault: ChainFault) -> Fault:
    """The fault of a stream, or of what is compared with the streams."""
    part, hint = (Part.HEAD, _HEAD_HINT) if fault.of_head else (Part.EVENTS, _EVENTS_HINT)
    place = fault.stream or "the journal"
    return Fault(part, place, fault.message, hint, fault.event_id, fault.sequence)
