"""Attributes of an item, as people write them: `Wants to sail the Baltic (priority: 80) #sailing`.

They stand at the end of the item's first line. A summary begins with its period and its type, as in
`2026-W47 (weekly): Slept better` or `2026-11-19 (conversation chat-7): Talked about the ferry`.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from garden.grammar.refusals import InvalidInputError, excerpt

_MONTH = "[0-9]{4}-(?:0[1-9]|1[0-2])"
_DAY = f"{_MONTH}-(?:0[1-9]|[12][0-9]|3[01])"
_KEYS = {
    "conversation": (_DAY, "2026-11-19"),
    "daily": (_DAY, "2026-11-19"),
    "weekly": ("[0-9]{4}-W(?:0[1-9]|[1-4][0-9]|5[0-3])", "2026-W47"),
    "monthly": (_MONTH, "2026-11"),
    "quarterly": ("[0-9]{4}-Q[1-4]", "2026-Q4"),
    "yearly": ("[0-9]{4}", "2026"),
}
SUMMARY_TYPES = tuple(_KEYS)
_SUMMARY = re.compile(
    rf"(\S+)[ \t]+\(({'|'.join(SUMMARY_TYPES)})(?:(?<=conversation)[ \t]+([^\s()]+))?\):[ \t]*"
)
_TAG = re.compile(r"[^\W\d_][\w-]*")
_PART = re.compile(
    rf"(?:#({_TAG.pattern})|\(priority:[ \t]*(100|[0-9]{{1,2}})\))(?=\s|\Z)|\S+", re.IGNORECASE
)
_ANY_PRIORITY = re.compile(r"\([ \t]*priority\b[^()\n]*\)", re.IGNORECASE)
_CODE = re.compile(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", re.DOTALL)


class Attributes(NamedTuple):
    """The words of an item without its attributes, and each attribute; `chat` is that of a conversation."""

    words: str
    tags: tuple[str, ...] = ()
    priority: int | None = None
    summary_type: str | None = None
    period_key: str | None = None
    chat: str | None = None


def read_attributes(text: str) -> Attributes:
    """Read the attributes of an item, given without its marker; malformed ones stay among the words."""
    words, tags, priority = _read_end(text)
    summary = _SUMMARY.match(words)
    if summary is None or not is_period_key(summary[2], summary[1]):
        return Attributes(words, tags, priority)
    return Attributes(words[summary.end() :], tags, priority, summary[2], summary[1], summary[3])


def with_attributes(words: str, tags: Iterable[str] = (), priority: int | None = None) -> str:
    """Return an item's text with these attributes, besides those that the words already have."""
    plain, own_tags, own_priority = _read_end(words)
    first, line_end, rest = plain.partition("\n")
    expected = tuple(dict.fromkeys((*own_tags, *tags))), own_priority if priority is None else priority
    parts = [first.rstrip(), *(f"#{tag}" for tag in expected[0])]
    if expected[1] is not None:
        parts.insert(1, f"(priority: {expected[1]})")
    text = " ".join(parts if parts[0] else parts[1:]) + line_end + rest
    if _read_end(text)[1:] != expected:
        raise InvalidInputError(
            f"An item can't have these attributes: {excerpt(' '.join(parts[1:]))}.",
            hint="A tag is a letter with letters, digits, - and _ after it; a priority is 0 to 100.",
        )
    return text


def with_period(words: str, summary_type: str, period_key: str, chat: str | None = None) -> str:
    """Return the text of a summary of a period, or of a conversation on a day."""
    text = f"{period_key} ({summary_type}{f' {chat}' if chat else ''}): {words.lstrip()}"
    if read_attributes(text)[3:] != (summary_type, period_key, chat or None):
        raise InvalidInputError(
            f"No summary begins so: {excerpt(text)}.",
            hint="Its type is one of " + ", ".join(f"{each} ({key})" for each, (_, key) in _KEYS.items()),
        )
    return text


def is_period_key(summary_type: str, key: str) -> bool:
    """Whether a key has the form of a type's periods, as `2026-W47` of `weekly`."""
    return summary_type in _KEYS and re.fullmatch(_KEYS[summary_type][0], key) is not None


def misread_attributes(text: str) -> Iterator[str]:
    """Say of each part of an item that looks like an attribute why it is not read as one."""
    read = read_attributes(text)
    found = len(_ANY_PRIORITY.findall(_CODE.sub("", text)))
    for _ in range(found - (read.priority is not None)):
        yield "This priority is not read: write (priority: 80), from 0 to 100, at the end of the first line."
    summary = _SUMMARY.match(text)
    if summary and read.summary_type is None:
        yield f"This summary is not read: a {summary[2]} one begins like {_KEYS[summary[2]][1]}."


def _read_end(text: str) -> tuple[str, tuple[str, ...], int | None]:
    """Cut the attributes off the end of the first line."""
    first, line_end, rest = text.partition("\n")
    has_open_code = "`" in rest and "`" in _CODE.sub("", first)
    if has_open_code or not ("#" in first or "(" in first):
        return text, (), None
    end: list[re.Match[str]] = []
    for part in _PART.finditer(first):
        if not part.lastindex or (part[2] and any(each[2] for each in end)):
            end.clear()
        if part.lastindex:
            end.append(part)
    if not end:
        return text, (), None
    tags = tuple(dict.fromkeys(part[1] for part in end if part[1]))
    priority = next((int(part[2]) for part in end if part[2]), None)
    return first[: end[0].start()].rstrip() + line_end + rest, tags, priority
