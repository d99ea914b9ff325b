"""Conversations as documents: one for each, with a line that names the speaker above each message."""

import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, NamedTuple

from garden.transfer.formats.entry import Entry, records_in
from garden.transfer.formats.source import ForeignExportError, Source, printable

_UNPRINTED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_TITLE_CHARACTERS_MAX = 200
# A document holds a megabyte, and a character may take four bytes.
_PART_MAX_CHARACTERS = 250_000
Times = tuple[datetime | None, datetime | None]


class Turn(NamedTuple):
    """One message of a conversation."""

    speaker: str
    at: datetime | None
    text: str


def chats_in(source: Source, name: str, messages: str) -> list[dict[str, Any]]:
    """The conversations of a file, or the only one, which keep their messages in this field."""
    content = source.json(name)
    chats = records_in([content] if isinstance(content, dict) else content)
    if content != [] and not any(messages in each for each in chats):
        raise ForeignExportError(
            f"{printable(name)} has no conversations as this program exports them.",
            hint="Name the program that made the export with --from.",
        )
    return chats


def chat_entries(
    source: str, chat_id: str, title: str, times: Times, turns: Iterable[Turn]
) -> Iterator[Entry]:
    """A conversation with its title and the times when it began and ended, in parts that fit a document."""
    began, ended = times
    title = " ".join(title.split())[:_TITLE_CHARACTERS_MAX]
    name = f"{began:%Y-%m-%d} {title}" if began else title
    parts = list(_parts(f"**{each.speaker}**{_minute(each.at)}:\n\n{each.text.strip()}\n" for each in turns))
    for number, part in enumerate(parts, 1):
        more = f" {number}" if number > 1 else ""
        # What a terminal or a model left in a message is no reason to refuse the conversation.
        text = _UNPRINTED.sub("", "\n".join([f"# {title}{more}\n", *part]))
        place = (source, "chats", name + more)
        yield Entry(id=chat_id + more, text=text, place=place, at=began, changed_at=ended, is_chat=True)
    if not parts:
        yield Entry(id=chat_id, is_chat=True, skip_reason="The conversation has no text.")


def _parts(said: Iterable[str]) -> Iterator[list[str]]:
    part: list[str] = []
    size = 0
    for each in said:
        if part and size + len(each) > _PART_MAX_CHARACTERS:
            yield part
            part, size = [], 0
        part.append(each)
        size += len(each)
    if part:
        yield part


def _minute(at: datetime | None) -> str:
    return f" ({at:%Y-%m-%d %H:%M} UTC)" if at else ""
