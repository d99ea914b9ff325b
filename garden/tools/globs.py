"""Glob patterns: `*` and `?` match within a name, `**` matches across folders, all else is literal."""

import re
from collections.abc import Callable
from typing import Annotated

import re2
from pydantic import Field

from garden.grammar.errors import GardenError

_TOKENS = re.compile(r"\*\*/|\*\*|\*|\?|[^*?]+")
_MEANINGS = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}

Glob = Annotated[str, Field(max_length=200)]


class InvalidPatternError(GardenError):
    """A pattern is not valid."""

    code = "invalid_input"


def matcher(glob: str) -> Callable[[str], bool]:
    """Predicate that is true for the paths that match the pattern."""
    expression = "".join(_MEANINGS.get(token) or re2.escape(token) for token in _TOKENS.findall(glob))
    try:
        compiled = re2.compile(expression)
    except (re2.error, UnicodeEncodeError):
        raise InvalidPatternError(
            "The glob is not valid.", hint="Use *, ? and ** only, as in **/notes.md."
        ) from None
    return lambda path: compiled.fullmatch(path) is not None
