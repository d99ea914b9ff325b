"""Line ends: detecting, unifying and splitting at them."""

import re

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")


def flat(text: str) -> str:
    r"""Return the text with `\n` for every line end and the same length, so that offsets stay valid.

    A carriage return before a line feed becomes a space, which CommonMark ignores at the end of a line.
    """
    if "\r" not in text:
        return text
    return text.replace("\r\n", " \n").replace("\r", "\n")


def newline_of(text: str) -> str:
    """Return the line end that a text uses most; a line feed if it has none."""
    if "\r" not in text:
        return "\n"
    crlf = text.count("\r\n")
    counts = {"\r\n": crlf, "\n": text.count("\n") - crlf, "\r": text.count("\r") - crlf}
    return max(counts, key=lambda newline: counts[newline])


def with_newlines(text: str, newline: str) -> str:
    """Replace every line end of a text."""
    unified = text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
    return unified if newline == "\n" else unified.replace("\n", newline)


def split_lines(text: str) -> list[str]:
    """Split a text after every line feed, as diffs do, and keep the line ends."""
    lines = text.split("\n")
    last = lines.pop()
    kept = [line + "\n" for line in lines]
    return [*kept, last] if last else kept


def split_any_lines(text: str) -> list[str]:
    """Split a text after every line end of any kind, and keep the line ends."""
    return _LINE.findall(text)


def without_line_end(line: str) -> str:
    """Remove the line end of a line."""
    return line.rstrip("\r\n")
