"""Passages: words found in a text without regard to case, width, invisible characters and white space."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from string import ascii_lowercase, digits
from typing import Protocol

from garden.grammar.values import Span

WHOLE_WORDS_BELOW_CHARACTERS = 12
"""A shorter passage is found only as whole words: a name must not be found inside another word."""
SHINGLE_WORDS = 5
_WORDS_MIN = 3
_LONG_WORD_CHARACTERS = 20
ERASED = "[erased]"
"""Takes the place of a passage where no length has to stay."""
_USUAL_FILLER = "x"
_NOT_FILLED = re.compile(rf"[^{_USUAL_FILLER}\r\n]+")
_NOT_LINE_ENDS = re.compile(rb"[^\r\n]")
_LOOK_CHARACTERS = 64
# Letters without a category that says so, variation selectors and the joiner of graphemes.
_INVISIBLE = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0") | {
    chr(code) for start, end in ((0xFE00, 0xFE0F), (0x180B, 0x180F), (0xE0100, 0xE01EF))
    for code in range(start, end + 1)
}  # fmt: skip
# Scripts without spaces between words: each character counts as a word.
_WORD = re.compile(
    "[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]|[^\\W_\u3040-\u30ff\u3400-\u9fff]+"
)


class Finder(Protocol):
    """Finds what is to be erased in a text."""

    @property
    def filler(self) -> str:
        """The letter that takes the place of each erased byte."""

    def find(self, text: str) -> list[Span]:
        """Find every occurrence, in order; occurrences that touch are one."""

    def widen(self, text: str, start: int, end: int) -> Span:
        """Widen a range, so that it holds every occurrence that overlaps it."""


@dataclass(frozen=True, slots=True)
class Word:
    """A folded word, and its range in the text."""

    text: str
    start: int
    end: int


@dataclass(frozen=True)
class FoldedText:
    """A text without the differences that do not count; `places` holds the offset of each character."""

    text: str
    places: Sequence[int]


def fold(text: str) -> FoldedText:
    """Fold case and width, remove invisible characters, and make each run of white space one space."""
    folded: list[str] = []
    places: list[int] = []
    for place, character in enumerate(text):
        piece = _fold_character(character)
        if piece == " " and folded and folded[-1] == " ":
            continue
        folded += piece
        places += [place] * len(piece)
    return FoldedText("".join(folded), places)


def words_of(text: str) -> list[Word]:
    """List the words of a text, without punctuation and accents."""
    folded = fold(text)
    kept = [place for place, each in enumerate(folded.text) if not unicodedata.combining(each)]
    plain = "".join(folded.text[place] for place in kept)
    return [
        Word(
            match[0],
            folded.places[kept[match.start()]],
            folded.places[kept[match.end() - 1]] + 1,
        )
        for match in _WORD.finditer(plain)
    ]


def windows(words: Sequence[Word], size: int) -> Iterator[tuple[str, Span]]:
    """Yield each run of so many words: its folded text, and its range."""
    for first in range(len(words) - size + 1):
        run = words[first : first + size]
        yield " ".join(word.text for word in run), Span(run[0].start, run[-1].end)


def shingles(text: str) -> dict[int, set[str]]:
    """The runs of words that tell a passage from others, by their size; none for a short passage."""
    words = words_of(text)
    size = min(len(words), SHINGLE_WORDS)
    if not words or (len(words) < _WORDS_MIN and is_short(text)):
        return {}
    return {size: {run for run, _ in windows(words, size)}}


def distinctive_runs(text: str) -> dict[int, set[str]]:
    """The runs of words that tell a text from everyday phrases: five words, or a very long one."""
    words = words_of(text)
    return {
        1: {word.text for word in words if len(word.text) >= _LONG_WORD_CHARACTERS},
        SHINGLE_WORDS: {run for run, _ in windows(words, SHINGLE_WORDS)},
    }


def runs_at(text: str, places: Iterable[Span]) -> Iterator[str]:
    """Yield every run of up to five words that overlaps one of these places."""
    around = ShingleFinder((SHINGLE_WORDS,), bool)
    for place in places:
        wide = around.widen(text, place.start, place.end)
        words = words_of(wide.of(text))
        for size in range(1, SHINGLE_WORDS + 1):
            for run, span in windows(words, size):
                if wide.start + span.start <= place.end and wide.start + span.end >= place.start:
                    yield run


def is_short(passage: str) -> bool:
    """Whether a passage is too short to be told from other text by its characters."""
    letters = [each for each in fold(passage).text.strip() if not unicodedata.combining(each)]
    return len(letters) < WHOLE_WORDS_BELOW_CHARACTERS


@dataclass(frozen=True)
class PassageFinder:
    """Finds a passage that is known word for word."""

    passage: str

    @cached_property
    def folded(self) -> str:
        """The passage as it is compared."""
        return fold(self.passage).text.strip()

    @property
    def filler(self) -> str:
        """A letter that the passage does not contain, so that filling never makes a new occurrence."""
        free = (each for each in _USUAL_FILLER + ascii_lowercase + digits if each not in self.folded)
        return next(free, _USUAL_FILLER)

    def find(self, text: str) -> list[Span]:
        """Find every occurrence, in order; occurrences that touch are one."""
        if not self.folded:
            return []
        folded, found, start = fold(text), [], 0
        while (start := folded.text.find(self.folded, start)) >= 0:
            end = start + len(self.folded)
            if not self._is_inside_a_word(folded.text, start, end):
                found.append(Span(folded.places[start], folded.places[end - 1] + 1))
            start += 1
        return joined(found)

    def widen(self, text: str, start: int, end: int) -> Span:
        """Widen a range, so that it holds every occurrence that overlaps it."""
        # One more on each side shows whether a word goes on.
        reach = len(self.folded) + 1
        return Span(
            _step(text, range(start - 1, -1, -1), reach, start),
            _step(text, range(end, len(text)), reach, end),
        )

    def _is_inside_a_word(self, text: str, start: int, end: int) -> bool:
        if not is_short(self.folded):
            return False
        goes_back = start > 0 and text[start].isalnum() and text[start - 1].isalnum()
        return goes_back or (end < len(text) and text[end - 1].isalnum() and text[end].isalnum())


@dataclass(frozen=True)
class ShingleFinder:
    """Finds passages of which only the runs of so many words can be recognised."""

    sizes: tuple[int, ...]
    is_known: Callable[[str], bool]

    @property
    def filler(self) -> str:
        """The letter that takes the place of each erased byte."""
        return _USUAL_FILLER

    def find(self, text: str) -> list[Span]:
        """Find every occurrence, in order; occurrences that touch are one."""
        words = words_of(text)
        return joined(span for size in self.sizes for run, span in windows(words, size) if self.is_known(run))

    def widen(self, text: str, start: int, end: int) -> Span:
        """Widen a range, so that it holds every occurrence that overlaps it."""
        size = max(self.sizes, default=0) + 1
        reach = _LOOK_CHARACTERS
        while len(words_of(text[max(start - reach, 0) : start])) <= size and reach < start:
            reach *= 2
        before, reach = max(start - reach, 0), _LOOK_CHARACTERS
        while len(words_of(text[end : end + reach])) <= size and end + reach < len(text):
            reach *= 2
        return Span(before, min(end + reach, len(text)))


@dataclass(frozen=True)
class WholeTextFinder:
    """Finds everything but line ends and what is filled already."""

    @property
    def filler(self) -> str:
        """The letter that takes the place of each erased byte."""
        return _USUAL_FILLER

    def find(self, text: str) -> list[Span]:
        """Find every occurrence, in order; occurrences that touch are one."""
        return [Span(*match.span()) for match in _NOT_FILLED.finditer(text)]

    def widen(self, _text: str, start: int, end: int) -> Span:
        """Widen a range, so that it holds every occurrence that overlaps it."""
        return Span(start, end)


def joined(spans: Iterable[Span]) -> list[Span]:
    """Join the spans that touch or overlap, in order."""
    found: list[Span] = []
    for span in sorted(spans):
        if found and span.start <= found[-1].end:
            found[-1] = Span(found[-1].start, max(found[-1].end, span.end))
        else:
            found.append(span)
    return found


def cut_spans(text: str, finder: Finder) -> list[Span]:
    """Find what has to go for no occurrence to be left, those included that the removal of others makes."""
    left = list(range(len(text)))
    gone: list[Span] = []
    while spans := finder.find(text):
        for span in reversed(spans):
            gone += _runs(left[span.start : span.end])
            del left[span.start : span.end]
            text = text[: span.start] + text[span.end :]
    return joined(gone)


def without(text: str, finder: Finder) -> str:
    """Return a text without any occurrence, those included that the removal of others makes."""
    for span in reversed(cut_spans(text, finder)):
        text = text[: span.start] + text[span.end :]
    return text


def strike(text: str, finder: Finder) -> str:
    """Replace every occurrence by a word that says so."""
    for span in reversed(finder.find(text)):
        text = text[: span.start] + ERASED + text[span.end :]
    return text


def fill(data: bytes, filler: str) -> bytes:
    """Replace every byte but line ends; the length stays."""
    return _NOT_LINE_ENDS.sub(filler.encode(), data)


@lru_cache(maxsize=4096)
def _fold_character(character: str) -> str:
    if character.isspace():
        return " "
    # Tabs and line ends are white space; other control and format characters are invisible.
    if unicodedata.category(character) in {"Cc", "Cf"} or character in _INVISIBLE:
        return ""
    decomposed = unicodedata.normalize("NFKD", character).casefold()
    # Change Log lines hold a hyphen for the dot that separates their fields.
    return unicodedata.normalize("NFKD", decomposed).replace(" ", "").replace("·", "-")


def _step(text: str, places: range, reach: int, last: int) -> int:
    """Go on from a place until so many characters that count are passed."""
    for place in places:
        piece = _fold_character(text[place])
        reach -= piece != "" and piece != " "
        last = place + (places.step > 0)
        if reach <= 0:
            break
    return last


def _runs(places: Sequence[int]) -> Iterator[Span]:
    start = 0
    for end in range(1, len(places) + 1):
        if end == len(places) or places[end] != places[end - 1] + 1:
            yield Span(places[start], places[end - 1] + 1)
            start = end
