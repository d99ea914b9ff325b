"""Line ends: which ones a text uses, and how to see through them without losing a position."""

import re

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")


def flat(text: str) -> str:
    r"""Give a text of the same length in which every line ends with `\n`, so that offsets stay true.

    A carriage return before a line feed becomes a space: at the end of a line CommonMark ignores it.
    """
    if "\r" not in text:
        return text
    return text.replace("\r\n", " \n").replace("\r", "\n")


def newline_of(text: str) -> str:
    """Tell which line end a text uses most; a text without any gets a line feed."""
    if "\r" not in text:
        return "\n"
    crlf = text.count("\r\n")
    counts = {"\r\n": crlf, "\n": text.count("\n") - crlf, "\r": text.count("\r") - crlf}
    return max(counts, key=lambda newline: counts[newline])


def with_newlines(text: str, newline: str) -> str:
    """Rewrite every line end of a text."""
    unified = text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
    return unified if newline == "\n" else unified.replace("\n", newline)


def split_lines(text: str) -> list[str]:
    """Cut a text after every line feed, as diffs do, and keep the line ends."""
    lines = text.split("\n")
    last = lines.pop()
    kept = [line + "\n" for line in lines]
    return [*kept, last] if last else kept


def split_any_lines(text: str) -> list[str]:
    """Cut a text after every line end of whatever kind, and keep the line ends."""
    return _LINE.findall(text)


def without_line_end(line: str) -> str:
    """Take the line end off a line."""
    return line.rstrip("\r\n")
