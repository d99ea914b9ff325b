"""Replaces a text that stands in a document exactly once."""

from collections.abc import Iterator
from itertools import islice

from garden.grammar.lines import split_any_lines, with_newlines
from garden.grammar.patch import nearest_lines
from garden.grammar.refusals import InvalidInputError, PatchConflictError

_LINES_SHOWN_MAX = 20


def replace_once(text: str, find: str, replacement: str, newline: str) -> str:
    """Return the text with another in place of the one to find; both take the document's line ends.

    Line ends do not count when they are compared, because they are often sent as plain line feeds.
    """
    if not find:
        raise InvalidInputError("There is no text to find.", hint="Give the text that should be replaced.")
    plain, wanted = with_newlines(text, "\n"), with_newlines(find, "\n")
    places = list(islice(_places(plain, wanted), 2))
    if len(places) != 1:
        raise _no_place(plain, wanted)
    start, end = (_offset(text, plain, place) for place in (places[0], places[0] + len(wanted)))
    return text[:start] + with_newlines(replacement, newline) + text[end:]


def _places(text: str, wanted: str) -> Iterator[int]:
    """Find every place, also those that overlap."""
    place = text.find(wanted)
    while place >= 0:
        yield place
        place = text.find(wanted, place + 1)


def _offset(text: str, plain: str, place: int) -> int:
    """The place in a text of one in the same text with plain line feeds."""
    line, column = plain.count("\n", 0, place), place - plain.rfind("\n", 0, place) - 1
    return place if text == plain else sum(map(len, split_any_lines(text)[:line])) + column


def _no_place(plain: str, wanted: str) -> PatchConflictError:
    # Counting those that overlap as well could take as many searches as there are characters.
    count = plain.count(wanted)
    if count:
        lines = [plain.count("\n", 0, at) + 1 for at in islice(_places(plain, wanted), _LINES_SHOWN_MAX)]
        count = max(count, len(lines))
        return PatchConflictError(
            f"The text to replace is there {count} times, and it must be there once.",
            hint="Give more of the text around it, so that only one place matches.",
            details={"matchCount": count, "lines": lines},
        )
    line, nearest = nearest_lines(split_any_lines(plain), split_any_lines(wanted))
    return PatchConflictError(
        f"The text to replace is not there. Nearest, from line {line}: {nearest!r}.",
        hint="Read the document again and copy the text exactly.",
        details={"matchCount": 0, "nearestLine": line, "nearest": nearest},
    )
