"""Line ends: which ones a text uses, and how to see through them without losing a position."""

NEWLINES = ("\r\n", "\r", "\n")


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
