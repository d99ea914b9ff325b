"""Gaps: erased passages in the changes of a document, each byte replaced by a letter.

Every byte of a version comes from the text that some change put in. A byte that belongs to a passage in one
version is filled where it was put in, and so in every version that has it. Offsets and lengths stay, so that
each version can be rebuilt around the gaps. A byte of the newest version that is filled but belongs to no
passage there is put back by the change that removes the passages.
"""

import re
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from garden.grammar.canonical import decoded, encoded
from garden.grammar.passages import Finder, cut_spans, fill, joined
from garden.grammar.splice import Splice, splices_between
from garden.grammar.values import Span

_GAP = re.compile(rb"\x01+")
_LOOK_BYTES = 256


@dataclass(frozen=True, slots=True)
class RecordedChange:
    """A change in the order of its document.

    One that was not `carried_out` left no version. One that `erases` removed passages, of this erasure or of
    another one.
    """

    splices: Sequence[Splice]
    carried_out: bool = True
    erases: bool = False


@dataclass(frozen=True, slots=True)
class FilledChange:
    """A change with its gaps filled.

    `is_touched` says that its splices are others now. A change `is_near` a gap if that is so, or if the
    version before it or after it has a gap; `text` is then the version after it.
    """

    splices: tuple[Splice, ...]
    is_touched: bool
    is_near: bool
    text: bytes = b""


class Gaps:
    """The gaps that a finder makes in a document's changes."""

    def __init__(self, changes: Sequence[RecordedChange], finder: Finder) -> None:
        self._changes = changes
        self._finder = finder
        # One mark for each byte that a change put in, in the order of the changes.
        self._marks = bytearray()
        self._text = bytearray()
        self._origins = array("Q")
        for change in changes:
            self._follow(change)
        self._mark_cuts()

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to erase."""
        return not self.bytes_count

    @property
    def is_in_newest(self) -> bool:
        """Whether the newest version has a gap."""
        return any(self._marks[origin] for origin in self._origins)

    @property
    def bytes_count(self) -> int:
        """The number of bytes to erase, each counted where it was put in."""
        return self._marks.count(1)

    @property
    def text(self) -> str:
        """The newest version, as it is recorded."""
        return decoded(self._text)

    def removal(self, after: str) -> tuple[Splice, ...]:
        """The splices from the newest version to the text after the erasure; one covers each gap.

        So bytes of a gap that belong to no passage in this version are put back.
        """
        marks = bytes(self._marks[origin] for origin in self._origins)
        gaps = [Span(*gap.span()) for gap in _GAP.finditer(marks)]
        return _cover(bytes(self._text), after, gaps)

    def filled(self) -> Iterator[FilledChange]:
        """Every change, with its gaps filled."""
        text, marks, start = bytearray(), bytearray(), 0
        for change in self._changes:
            was_near = 1 in marks
            splices: list[Splice] = []
            puts: list[tuple[Span, bytes, bytearray]] = []
            for splice in change.splices:
                inserted, place = encoded(splice.inserted), _place(splice)
                own = self._marks[start : start + len(inserted)]
                start += len(inserted)
                put = _fill_marked(inserted, own, self._finder.filler)
                puts.append((place, put, own))
                splices.append(Splice(splice.offset, decoded(text[slice(*place)]), decoded(put)))
            if change.carried_out:
                for place, put, own in reversed(puts):
                    text[slice(*place)] = put
                    marks[slice(*place)] = own
            is_touched = tuple(splices) != tuple(change.splices)
            is_near = was_near or is_touched or 1 in marks
            after = bytes(text) if is_near and change.carried_out else b""
            yield FilledChange(tuple(splices), is_touched, is_near, after)

    def _mark_cuts(self) -> None:
        """Mark the passages of this version, those included that only appear when others have gone."""
        for span in cut_spans(self.text, self._finder):
            start, end = _byte_span(self.text, span)
            self._mark_origins(self._origins[start:end])

    def _follow(self, change: RecordedChange) -> None:
        """Apply a change, and mark the passages that it completes."""
        if change.erases:
            self._mark_cuts()
        text, origins = self._text, self._origins
        if not change.carried_out:
            text, origins = text[:], origins[:]
        moved, places = 0, []
        for splice in change.splices:
            inserted, place = encoded(splice.inserted), _place(splice)
            start = place.start + moved
            own = array("Q", range(len(self._marks), len(self._marks) + len(inserted)))
            self._marks += bytes(len(inserted))
            text[start : place.end + moved] = inserted
            origins[start : place.end + moved] = own
            places.append(Span(start, start + len(inserted)))
            moved += len(inserted) - (place.end - place.start)
        for place in places:
            for found in self._find_around(text, place):
                self._mark_origins(origins[found.start : found.end])

    def _mark_origins(self, origins: Sequence[int]) -> None:
        for origin in origins:
            self._marks[origin] = 1

    def _find_around(self, text: bytearray, place: Span) -> list[Span]:
        """Find the passages that a changed place may be part of."""
        reach = _LOOK_BYTES
        while True:
            around = _whole_characters(
                text, Span(max(place.start - reach, 0), min(place.end + reach, len(text)))
            )
            before = decoded(text[around.start : place.start])
            own = decoded(text[place.start : place.end])
            shown = before + own + decoded(text[place.end : around.end])
            start, end = self._finder.widen(shown, len(before), len(before) + len(own))
            is_cut = (start == 0 and around.start > 0) or (end == len(shown) and around.end < len(text))
            if not is_cut:
                break
            reach *= 4
        # Where the text is cut off, a letter says that a word may go on; no passage has this one.
        head = self._finder.filler if start + around.start > 0 else ""
        tail = self._finder.filler if end < len(shown) or around.end < len(text) else ""
        moved = start - len(head)
        found = self._finder.find(head + shown[start:end] + tail)
        whole = (Span(max(each.start + moved, start), min(each.end + moved, end)) for each in found)
        return [
            Span(around.start + span.start, around.start + span.end)
            for span in (_byte_span(shown, each) for each in whole)
        ]


def fill_text(text: str, finder: Finder) -> str:
    """Fill every passage of a text; its length in bytes stays."""
    data = bytearray(encoded(text))
    for span in (_byte_span(text, each) for each in finder.find(text)):
        data[slice(*span)] = fill(bytes(data[slice(*span)]), finder.filler)
    return decoded(data)


def _cover(before: bytes, after: str, gaps: Sequence[Span]) -> tuple[Splice, ...]:
    """The splices from one text to the other, widened to cover these ranges of the first."""
    splices, new = splices_between(decoded(before), after), encoded(after)
    places = [_place(splice) for splice in splices]
    grown = [len(encoded(splice.inserted)) - len(encoded(splice.removed)) for splice in splices]
    covering = []
    for start, end in joined([*places, *gaps]):
        new_start = start + sum(
            more for place, more in zip(places, grown, strict=True) if place.start < start
        )
        new_end = end + sum(more for place, more in zip(places, grown, strict=True) if place.start <= end)
        covering.append(Splice(start, decoded(before[start:end]), decoded(new[new_start:new_end])))
    return tuple(covering)


def _fill_marked(data: bytes, marks: bytearray, filler: str) -> bytes:
    filled = bytearray(data)
    for gap in _GAP.finditer(marks):
        filled[slice(*gap.span())] = fill(data[slice(*gap.span())], filler)
    return bytes(filled)


def _whole_characters(text: bytearray, span: Span) -> Span:
    """Widen a range of bytes to whole characters."""
    start, end = span
    while start > 0 and text[start] & 0xC0 == 0x80:
        start -= 1
    while end < len(text) and text[end] & 0xC0 == 0x80:
        end += 1
    return Span(start, end)


def _byte_span(text: str, span: Span) -> Span:
    start = len(encoded(text[: span.start]))
    return Span(start, start + len(encoded(text[span.start : span.end])))


def _place(splice: Splice) -> Span:
    return Span(splice.offset, splice.offset + len(encoded(splice.removed)))
