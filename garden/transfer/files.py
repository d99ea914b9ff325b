"""The outcome of one file of an import or export."""

from dataclasses import dataclass
from typing import Literal

from garden.grammar.errors import GardenError

TransferOutcome = Literal["imported", "exported", "unchanged", "refused"]


@dataclass(frozen=True)
class TransferredFile:
    """What happened to one file of the tree."""

    file: str
    outcome: TransferOutcome
    code: str | None = None
    message: str | None = None
    hint: str | None = None


def refused_file(name: str, error: GardenError) -> TransferredFile:
    """A file that could not be transferred, with the reason."""
    return TransferredFile(name, "refused", error.code, error.message, error.hint)
