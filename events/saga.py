"""The states of a saga, and the ways between them; the database enforces the same ones."""

from enum import StrEnum

from garden.grammar.errors import GardenError


class Status(StrEnum):
    """Where one change stands."""

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
    """A change is no longer in the state it was believed to be in: somebody else was faster."""

    code = "in_progress"


def check_transition(old: Status, new: Status) -> None:
    """Refuse a step that no saga takes."""
    if (old, new) not in TRANSITIONS:
        raise StaleStateError(
            f"No way leads from {old} to {new}.", hint="Read the event again; somebody else has moved it on."
        )
