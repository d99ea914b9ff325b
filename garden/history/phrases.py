"""When a phrase came into the sections of a document, and when it went."""

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple
from uuid import UUID

from garden.events.reader import EventReader
from garden.events.version_texts import VERSION_MAX, Step, VersionTexts
from garden.grammar.canonical import decoded
from garden.grammar.line_changes import ByteSplice, splice_bytes
from garden.grammar.parser import parse

if TYPE_CHECKING:
    from garden.grammar.document import Document

# Lines that may begin, name or end a section.
_STRUCTURE = re.compile(rb"^ {0,3}(?:#|[=-]+\s*$|```|~~~|<)", re.MULTILINE)
_CHARACTER_BYTES_MAX = 4


class Stretch(NamedTuple):
    """From one event to another, if it has ended, the phrase stood in a section; above all it has no name."""

    path: str
    section: str
    came_with: UUID
    went_with: UUID | None


def find_phrase(reader: EventReader, user_id: str, paths: Sequence[str], phrase: str) -> Iterator[Stretch]:
    """Find the stretches in which a phrase stood, in any case, document by document and oldest first."""
    with reader.snapshot(user_id) as snapshot:
        for path in paths:
            yield from _Search(path, phrase.lower()).follow(VersionTexts(snapshot, path))


class _Search:
    """One document's versions in turn, and the sections that have the phrase."""

    def __init__(self, path: str, phrase: str) -> None:
        self._path = path
        self._phrase = phrase
        # No occurrence that a change touches lies further from it.
        self._reach = _CHARACTER_BYTES_MAX * len(phrase)
        self._standing: dict[str, UUID] = {}
        self._document: Document | None = None

    def follow(self, texts: VersionTexts) -> Iterator[Stretch]:
        for step in texts.steps(1, VERSION_MAX):
            if step.splices and self._may_change(texts.data, step.splices):
                after = bytearray(texts.data)
                splice_bytes(after, step.splices)
                yield from self._compare(decoded(after), step)
        for section, came_with in self._standing.items():
            yield Stretch(self._path, section, came_with, None)

    def _may_change(self, data: bytearray, splices: Sequence[ByteSplice]) -> bool:
        """Whether the phrase may come or go, looking only around the change."""
        before, after = _around(data, splices, self._reach)
        if not self._standing:
            return self._has_phrase(after)
        if self._has_phrase(before) or self._has_phrase(after):
            return True
        return any(_STRUCTURE.search(each) for each in (before, after))

    def _has_phrase(self, data: bytearray) -> bool:
        return self._phrase in str(data, "utf-8", "ignore").lower()

    def _compare(self, text: str, step: Step) -> Iterator[Stretch]:
        self._document = parse(text, self._document)
        having = {each.section_name for each in self._document.contents if self._phrase in each.text.lower()}
        event_id = step.row["event_id"]
        for section in [each for each in self._standing if each not in having]:
            yield Stretch(self._path, section, self._standing.pop(section), event_id)
        for section in sorted(having - self._standing.keys()):
            self._standing[section] = event_id


def _around(data: bytearray, splices: Sequence[ByteSplice], reach: int) -> tuple[bytearray, bytearray]:
    """What splices change, with at least so many bytes and the lines next to it, before and after."""
    (first, _, _), (last, removed, _) = splices[0], splices[-1]
    start, end = max(0, first - reach), last + len(removed) + reach
    start = data.rfind(b"\n", 0, data.rfind(b"\n", 0, start) + 1) + 1
    end = data.find(b"\n", data.find(b"\n", end) + 1 or len(data)) + 1 or len(data)
    before = data[start:end]
    after = bytearray(before)
    splice_bytes(after, splices, moved=start)
    return before, after
