"""Entries that begin with their day, as in `2026-11-18: Slept well`."""

import re

_START = re.compile(r"(?P<lead>(?:[-+*][ \t]+)?)(?P<words>.*)", re.DOTALL)
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?![0-9])")
_LEAD = re.compile(rf"[*_]{{0,2}}({_DAY.pattern})[*_]{{0,2}}:?[*_]{{0,2}}\s*")
# The first line of a fence, a heading, a quote, a table, HTML, an ordered list, a rule or indented code.
_BLOCK = re.compile(r"```|~~~|[#>|<]|[0-9]{1,9}[.)](?:[ \t]|$)|[-+*_][-+*_ \t]*$|    |[ \t]*\t", re.MULTILINE)


def dated_entry(text: str, day: str) -> str:
    """Return an entry that begins with its day; one that already begins with a day stays as it is.

    The day stands in the first item or paragraph, or above a text that begins with another block.
    """
    start = _START.fullmatch(text.lstrip("\r\n"))
    if start is None or not text.strip() or _DAY.match(start["words"]):
        return text
    if _BLOCK.match(start["words"]):
        return f"{day}:\n\n{start[0]}"
    return f"{start['lead']}{day}: {start['words'].lstrip()}"


def split_day(text: str) -> tuple[str, str]:
    """The day that an entry, given without its list marker, begins with, or an empty text; and the rest."""
    lead = _LEAD.match(text)
    return (lead[1], text[lead.end() :]) if lead else ("", text)
