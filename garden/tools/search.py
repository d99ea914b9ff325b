"""Searching a text line by line with an expression that takes linear time, whatever it is."""

from collections.abc import Iterator
from typing import NamedTuple

import re2

from garden.grammar.lines import with_newlines
from garden.tools.globs import InvalidPatternError

LINE_CHARACTERS_MAX = 2000


class LineMatch(NamedTuple):
    """The number of a matching line, and its text with the lines around it that were wanted."""

    line: int
    text: str


class Searcher:
    """One expression, ready to be looked for in many texts."""

    def __init__(self, pattern: str, *, ignore_case: bool = False, literal: bool = False) -> None:
        options = re2.Options()
        options.case_sensitive = not ignore_case
        options.literal = literal
        options.never_nl = True
        options.log_errors = False
        try:
            # By itself first: behind the flag, what is no expression could become one.
            compiled = re2.compile(pattern.encode(), options)
            self._compiled = compiled if literal else re2.compile(f"(?m){pattern}".encode(), options)
        except re2.error as error:
            raise InvalidPatternError(
                f"The pattern is no RE2 expression: {_told(error)}.",
                hint="Escape signs that stand for themselves with a backslash, or set literal.",
            ) from None
        except UnicodeEncodeError:
            raise InvalidPatternError("The pattern is not valid text.", hint="Use UTF-8.") from None

    def lines(self, text: str, context: int, matches_max: int) -> Iterator[LineMatch]:
        """Find the matching lines, the first ones first."""
        data = with_newlines(text, "\n").encode()
        lines = data.split(b"\n")
        number, start = 1, 0
        # What follows the last line end is a line only where something stands there.
        while matches_max > 0 and (start < len(data) or not data):
            found = self._compiled.search(data, start)
            if found is None or (found.start() == len(data) and data.endswith(b"\n")):
                return
            number += data.count(b"\n", start, found.start())
            around = lines[max(number - 1 - context, 0) : number + context]
            yield LineMatch(number, "\n".join(_shown(line) for line in around))
            matches_max -= 1
            end = data.find(b"\n", found.start())
            if end < 0:
                return
            number, start = number + 1, end + 1

    def spans(self, line: str) -> Iterator[tuple[int, int]]:
        """Tell which characters of a line match, for those who show it."""
        data = line.encode()
        for found in self._compiled.finditer(data):
            start = len(data[: found.start()].decode())
            yield start, start + len(data[found.start() : found.end()].decode())


def _shown(line: bytes) -> str:
    text = line.decode()
    return text if len(text) <= LINE_CHARACTERS_MAX else text[: LINE_CHARACTERS_MAX - 1] + "…"


def _told(error: Exception) -> str:
    told = error.args[0] if error.args else "it can't be read"
    return told.decode(errors="replace") if isinstance(told, bytes) else str(told)
