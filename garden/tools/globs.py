"""Patterns for paths: `*` and `?` stay within a name, `**` goes through folders, all else is itself."""

import re
from collections.abc import Callable

import re2

from garden.grammar.errors import GardenError

_TOKENS = re.compile(r"\*\*/|\*\*|\*|\?|[^*?]+")
_MEANINGS = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}


class InvalidPatternError(GardenError):
    """A pattern that can't be read."""

    code = "invalid_input"


def matcher(glob: str) -> Callable[[str], bool]:
    """Make of a pattern the question whether a path is like it."""
    expression = "".join(_MEANINGS.get(token) or re2.escape(token) for token in _TOKENS.findall(glob))
    try:
        compiled = re2.compile(expression)
    except (re2.error, UnicodeEncodeError):
        raise InvalidPatternError(
            "The glob can't be read.", hint="Use *, ? and ** only, as in **/notes.md."
        ) from None
    return lambda path: compiled.fullmatch(path) is not None
