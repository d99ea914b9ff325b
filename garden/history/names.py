"""The refusal of a name in a filter that no event has."""

import difflib
from collections.abc import Iterable
from typing import ClassVar

from garden.grammar.errors import GardenError

_SHOWN_MAX = 20


class UnknownNameError(GardenError):
    """No event has the actor, section, type, op or tool that a filter names."""

    code: ClassVar[str] = "invalid_input"


def unknown_name(what: str, name: str, known: Iterable[str]) -> UnknownNameError:
    """The refusal of a name, with the nearest known ones."""
    every = sorted(known)
    close = difflib.get_close_matches(name, every, n=3, cutoff=0.5)
    shown = close or every[:_SHOWN_MAX]
    listed = f"There are: {', '.join(shown)}." if shown else "The history is empty."
    return UnknownNameError(
        f"No event has the {what} {name!r}.",
        hint=f"Did you mean {' or '.join(close)}?" if close else listed,
        details={"names": shown},
    )
