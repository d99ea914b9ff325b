"""Finds the list item that a caller names: by whole text, evidence token, or number and first words."""

import re
from collections.abc import Sequence

from garden.grammar.refusals import InvalidInputError, ItemNotFoundError, PatchConflictError, excerpt
from garden.grammar.values import ListItem

_TOKEN = re.compile(r"\(?(ev:[^\s()]+)\)?")
_NUMBERED = re.compile(r"#?([0-9]{1,6})[.:)]?\s+(\S.*)", re.DOTALL)
_MARKER = re.compile(r"(?:[-+*]|[0-9]{1,9}[.)])[ \t]+")


def find_item(items: Sequence[ListItem], match: str) -> int:
    """Return the position of the one item that matches."""
    wanted = match.strip()
    if not wanted:
        raise InvalidInputError(
            "The match is empty.", hint="Name an item by its text, its ev: token or its number."
        )
    found = _by_text(items, wanted) or _by_token(items, wanted) or _by_number(items, wanted)
    if not found:
        raise ItemNotFoundError(
            f"No item matches {excerpt(match)!r}.", hint=_HINT, details={"items": listing(items)}
        )
    if len(found) > 1:
        raise PatchConflictError(
            f"{len(found)} items match {excerpt(match)!r}.",
            hint="Name one by its number and first words, as in '3: I can't relax'.",
            details={"items": listing([items[position] for position in found], found)},
        )
    return found[0]


_HINT = (
    "Give an item's whole text, an ev: token it holds, or its number and first words ('3: I can't relax')."
)


def listing(items: Sequence[ListItem], positions: Sequence[int] | None = None) -> list[str]:
    """List items by number and first line, a form that callers can send back."""
    numbers = positions if positions is not None else range(len(items))
    return [f"{number + 1}: {_first_line(item.text)}" for number, item in zip(numbers, items, strict=True)]


def _first_line(text: str) -> str:
    line = text.split("\n", 1)[0]
    return line if len(line) <= 80 else line[:79] + "…"


def _by_text(items: Sequence[ListItem], wanted: str) -> list[int]:
    ways = {_plain(wanted), _plain(_MARKER.sub("", wanted, count=1))}
    return [position for position, item in enumerate(items) if _plain(item.text) in ways]


def _by_token(items: Sequence[ListItem], wanted: str) -> list[int]:
    token = _TOKEN.fullmatch(wanted)
    if token is None:
        return []
    # A dot or colon followed by more belongs to a longer token; one that ends a sentence does not.
    exact = re.compile(rf"(?<![\w:-]){re.escape(token[1])}(?![\w-]|[^\s(),;\w]+\w)")
    return [position for position, item in enumerate(items) if exact.search(item.text)]


def _by_number(items: Sequence[ListItem], wanted: str) -> list[int]:
    numbered = _NUMBERED.fullmatch(wanted)
    if numbered is None or not 1 <= int(numbered[1]) <= len(items):
        return []
    position = int(numbered[1]) - 1
    words = _plain(numbered[2]).rstrip("….")
    return [position] if words and _plain(items[position].text).startswith(words) else []


def _plain(text: str) -> str:
    return " ".join(text.split())
