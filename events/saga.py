"""The states of a saga and the transitions between them. The database enforces the same ones."""

from enum import StrEnum

from garden.grammar.errors import GardenError


class Status(StrEnum):
    """The state of a saga."""

    PENDING = "pending"
    WRITTEN = "written"
    COMMITTED = "committed"
    FAILED = "failed"


TRANSITIONS = frozenset(
    {
        (Status.PENDING, Status.WRITTEN),
        (Status.PENDING, Status.FAILED),
        (Status.WRITTEN, Status.COMMITTED),
        (Status.WRITTEN, Status.FAILED),
    }
)


class StaleStateError(GardenError):
    """Another process has moved the saga on in the meantime."""

    code = "in_progress"


def check_transition(old: Status, new: Status) -> None:
    """Refuse a transition that no saga makes."""
    if (old, new) not in TRANSITIONS:
        raise StaleStateError(
            f"An event does not go from {old} to {new}.",
            hint="Read the event again; another process has moved it on.",
        )
