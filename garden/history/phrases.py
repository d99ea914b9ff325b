"""When a phrase came into the sections of a document, and when it went."""

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
            # Where the phrase stands, any change may end its section.
            if step.splices and (self._standing or self._may_come(texts.data, step.splices)):
                after = bytearray(texts.data)
                splice_bytes(after, step.splices)
                yield from self._compare(decoded(after), step)
        for section, came_with in self._standing.items():
            yield Stretch(self._path, section, came_with, None)

    def _may_come(self, data: bytearray, splices: Sequence[ByteSplice]) -> bool:
        """Whether a change brings the phrase, looking only around the change."""
        return self._phrase in str(_after(data, splices, self._reach), "utf-8", "ignore").lower()

    def _compare(self, text: str, step: Step) -> Iterator[Stretch]:
        self._document = parse(text, self._document)
        having = {each.section_name for each in self._document.contents if self._phrase in each.text.lower()}
        event_id = step.row["event_id"]
        for section in [each for each in self._standing if each not in having]:
            yield Stretch(self._path, section, self._standing.pop(section), event_id)
        for section in sorted(having - self._standing.keys()):
            self._standing[section] = event_id


def _after(data: bytearray, splices: Sequence[ByteSplice], reach: int) -> bytearray:
    """What splices leave, with so many bytes before the first and behind the last."""
    (first, _, _), (last, removed, _) = splices[0], splices[-1]
    start = max(0, first - reach)
    after = data[start : last + len(removed) + reach]
    splice_bytes(after, splices, moved=start)
    return after
