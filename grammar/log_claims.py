"""The lines that an edit adds to the Change Log and that name an event: each claims that it happened."""

import html
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from garden.grammar.change_log import change_logs
from garden.grammar.document import Document
from garden.grammar.kinds.declaration import Kind
from garden.grammar.lines import split_any_lines

_EVENT = re.compile(r"\bevt:\s*([^\s()<>\[\]]*)", re.IGNORECASE)
# Marks and tags that a reader doesn't see.
_MARKUP = re.compile(r"<[^<>]*>|[\\*_`~]")
_TIME = re.compile(r"[ \t]*[-*+][ \t]+([0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}Z)(?![^\s])")


@dataclass(frozen=True, slots=True)
class LogClaim:
    """An event that a line of the Change Log names, and the time with which the line begins, if any."""

    event_id: str
    time: str | None


def log_claims(
    before: Document | None, after: Document, kind: Kind | None, entry: str | None
) -> tuple[LogClaim, ...]:
    """Return the claims of the lines that an edit adds; `entry` is the line that the write itself adds."""
    old, new = _log_words(before, kind), _log_words(after, kind)
    if new.startswith(old):
        old, new = "", new[len(old) :]
        if new.strip() == (entry or ""):
            return ()
    added = _lines(new) - _lines(old) - _lines(entry or "")
    return tuple(claim for line in added for claim in _claims(line))


def _log_words(document: Document | None, kind: Kind | None) -> str:
    logs = change_logs(document, kind) if document else []
    return "\n".join([log.content.layout.words for log in logs])


def _lines(words: str) -> Counter[str]:
    return Counter(line.strip() for line in split_any_lines(words))


def _as_read(line: str) -> str:
    """Return a line about as a reader sees it, without markup and invisible characters."""
    shown = _MARKUP.sub("", unicodedata.normalize("NFKC", html.unescape(line)))
    return "".join(character for character in shown if unicodedata.category(character) != "Cf")


def _claims(line: str) -> Iterator[LogClaim]:
    time = _TIME.match(line)
    for event in _EVENT.finditer(_as_read(line)):
        yield LogClaim(event[1], time[1] if time else None)
