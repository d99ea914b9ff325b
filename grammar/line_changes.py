"""The lines that splices change: for each place the first line, the lines removed and the lines added."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from garden.grammar.diffs import count_lines, line_opcodes

ByteSplice = tuple[int, bytes, bytes]
"""A splice of encoded texts: its offset in the old one, the bytes removed and the bytes put in."""


class LineChange(NamedTuple):
    """Lines with their ends, from the line of the old text with the number `first`, counted from 0."""

    first: int
    removed: list[bytes]
    added: list[bytes]


class _Block(NamedTuple):
    """Whole lines of the old text from `start` to `end`, and what splices make of them."""

    start: int
    end: int
    after: bytes


def splice_bytes(data: bytearray, splices: Sequence[ByteSplice], moved: int = 0) -> None:
    """Apply ascending splices in place: a small change of a long text moves few bytes."""
    for offset, removed, inserted in reversed(splices):
        data[offset - moved : offset - moved + len(removed)] = inserted


def line_changes(data: bytearray, splices: Sequence[ByteSplice]) -> list[LineChange]:
    """The lines that ascending splices of a text change."""
    changes: list[LineChange] = []
    counted = line = 0
    for block in _blocks(data, splices):
        line, counted = line + data.count(b"\n", counted, block.start), block.start
        old, new = split_line_bytes(data[block.start : block.end]), split_line_bytes(block.after)
        changes += [
            LineChange(line + first, old[first:last], new[new_first:new_last])
            for tag, first, last, new_first, new_last in line_opcodes(old, new)
            if tag != "equal"
        ]
    return changes


def counts_of_lines(data: bytearray, splices: Sequence[ByteSplice]) -> tuple[int, int]:
    """How many lines a diff of the texts before and after ascending splices adds and removes."""
    blocks = list(_blocks(data, splices))
    if not blocks:
        return 0, 0
    # A diff compares everything between the first change and the last.
    start, end = blocks[0].start, blocks[-1].end
    after = data[start:end]
    splice_bytes(after, splices, moved=start)
    return count_lines(line_opcodes(split_line_bytes(data[start:end]), split_line_bytes(after)))


def split_line_bytes(data: bytes | bytearray) -> list[bytes]:
    """Split an encoded text after every line feed, as diffs do, and keep the line ends."""
    *lines, last = bytes(data).split(b"\n")
    kept = [line + b"\n" for line in lines]
    return [*kept, last] if last else kept


def _blocks(data: bytearray, splices: Sequence[ByteSplice]) -> Iterator[_Block]:
    """Put splices that touch the same line together."""
    group: list[ByteSplice] = []
    start = end = 0
    for splice in splices:
        first = data.rfind(b"\n", 0, splice[0]) + 1
        if group and first >= end:
            yield _block(data, start, end, group)
            group = []
        start = start if group else first
        group.append(splice)
        end = data.find(b"\n", splice[0] + len(splice[1])) + 1 or len(data)
    if group:
        yield _block(data, start, end, group)


def _block(data: bytearray, start: int, end: int, splices: Sequence[ByteSplice]) -> _Block:
    after = data[start:end]
    splice_bytes(after, splices, moved=start)
    return _Block(start, end, bytes(after))
