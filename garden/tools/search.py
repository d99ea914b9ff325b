"""Line-by-line search with RE2, which takes linear time for every expression."""

from collections.abc import Iterator
from typing import NamedTuple

import re2

from garden.tools.globs import InvalidPatternError

LINE_CHARACTERS_MAX = 2000


class LineMatch(NamedTuple):
    """The number of a matching line, and its text with the requested context."""

    line: int
    text: str


class Searcher:
    """One compiled expression, for many texts."""

    def __init__(self, pattern: str, *, ignore_case: bool = False, literal: bool = False) -> None:
        options = re2.Options()
        options.case_sensitive = not ignore_case
        options.literal = literal
        options.never_nl = True
        options.log_errors = False
        try:
            # Compiled alone first: behind the flag, an invalid expression could become valid.
            compiled = re2.compile(pattern.encode(), options)
            self._compiled = compiled if literal else re2.compile(f"(?m){pattern}".encode(), options)
            # Finding a plain text takes less time than matching it, and most files do not hold it.
            is_plain = pattern.isprintable() and (literal or re2.escape(pattern) == pattern)
            self._needle = pattern.encode() if is_plain and not ignore_case else b""
        except re2.error as error:
            raise InvalidPatternError(
                f"The pattern is not a valid RE2 expression: {_error_text(error)}.",
                hint="Escape special characters with a backslash, or set literal.",
            ) from None
        except UnicodeEncodeError:
            raise InvalidPatternError("The pattern is not valid text.", hint="Use UTF-8.") from None

    def lines(self, content: bytes, context: int, matches_max: int) -> Iterator[LineMatch]:
        """Matching lines of UTF-8 text, from the top."""
        if self._needle not in content:
            return
        data = content.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in content else content
        lines: list[bytes] = []
        number, start = 1, 0
        # An empty rest after the last newline is not a line.
        while matches_max > 0 and (start < len(data) or not data):
            found = self._compiled.search(data, start)
            if found is None or (found.start() == len(data) and data.endswith(b"\n")):
                return
            lines = lines or data.split(b"\n")
            number += data.count(b"\n", start, found.start())
            around = lines[max(number - 1 - context, 0) : number + context]
            yield LineMatch(number, "\n".join(_short_line(line) for line in around))
            matches_max -= 1
            end = data.find(b"\n", found.start())
            if end < 0:
                return
            number, start = number + 1, end + 1

    def spans(self, line: str) -> Iterator[tuple[int, int]]:
        """Start and end of each match in a line."""
        data = line.encode()
        for found in self._compiled.finditer(data):
            start = len(data[: found.start()].decode())
            yield start, start + len(data[found.start() : found.end()].decode())


def _short_line(line: bytes) -> str:
    text = line.decode()
    return text if len(text) <= LINE_CHARACTERS_MAX else text[: LINE_CHARACTERS_MAX - 1] + "…"


def _error_text(error: Exception) -> str:
    text = error.args[0] if error.args else "it can't be read"
    return text.decode(errors="replace") if isinstance(text, bytes) else str(text)
