"""Line-by-line search with RE2, which takes linear time for every expression."""

from collections.abc import Iterator
from typing import NamedTuple

import re2

from garden.tools.globs import InvalidPatternError

LINE_CHARACTERS_MAX = 2000


class Place(NamedTuple):
    """A matching line, and the offset of its first match in the data."""

    line: int
    offset: int


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

    def places(self, data: bytes) -> Iterator[Place]:
        """Matching lines of UTF-8 text with plain line ends, from the top."""
        if self._needle not in data:
            return
        number, start = 1, 0
        # An empty rest after the last newline is not a line.
        while start < len(data) or not data:
            found = self._compiled.search(data, start)
            if found is None or (found.start() == len(data) and data.endswith(b"\n")):
                return
            number += data.count(b"\n", start, found.start())
            yield Place(number, found.start())
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


def with_plain_ends(content: bytes) -> bytes:
    """The content with a line feed at the end of each line."""
    return content.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in content else content


def column_of(data: bytes, place: Place) -> int:
    """Column of the first match in its line, in characters from 1."""
    return len(data[data.rfind(b"\n", 0, place.offset) + 1 : place.offset].decode()) + 1


def text_around(lines: list[bytes], place: Place, context: int) -> str:
    """The matching line with so many lines before and after it."""
    around = lines[max(place.line - 1 - context, 0) : place.line + context]
    return "\n".join(_short_line(line) for line in around)


def _short_line(line: bytes) -> str:
    text = line.decode()
    return text if len(text) <= LINE_CHARACTERS_MAX else text[: LINE_CHARACTERS_MAX - 1] + "…"


def _error_text(error: Exception) -> str:
    text = error.args[0] if error.args else "it can't be read"
    return text.decode(errors="replace") if isinstance(text, bytes) else str(text)
