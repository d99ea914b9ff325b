"""The items of a section's lists, with their continuation lines and everything nested in them."""

import re

from garden.grammar.blocks import block_tokens, line_starts
from garden.grammar.item_scanner import ONE_A_LINE, Extent, scan_items
from garden.grammar.lines import flat
from garden.grammar.values import ListItem, Span

_MARKER = re.compile(r"[ \t]*([-+*]|[0-9]{1,9}[.)])([ \t]*)")


def find_items(body: str, offset: int, first_line: int) -> tuple[ListItem, ...]:
    """Find the items of the top-level lists in a body that begins at `offset` and `first_line`."""
    flat_body = flat(body)
    return tuple(
        _item(body[start:end], Span(offset + start, offset + end), first_line + line)
        for start, end, line in _item_extents(flat_body)
    )


def is_bullet_lines(text: str) -> bool:
    """Whether a text is a list of one bullet a line, perhaps with blank lines around it."""
    return ONE_A_LINE.fullmatch(flat(text)) is not None


def item_spans(body: str) -> list[Span]:
    """Return the spans of the items of a body without reading their text."""
    return [Span(start, end) for start, end, _ in _item_extents(flat(body))]


def _item_extents(flat_body: str) -> list[tuple[int, int, int]]:
    extents = scan_items(flat_body)
    if extents is None:
        extents = items_by_markdown_it(flat_body)
    starts = line_starts(flat_body)
    return [
        (
            starts[first],
            _drop_blank_end(flat_body, starts[first], starts[min(after, len(starts) - 1)]),
            first,
        )
        for first, after in extents
    ]


def items_by_markdown_it(flat_body: str) -> list[Extent]:
    """Find the items of top-level lists by a full parse: slow, but always right."""
    return [
        (token.map[0], token.map[1])
        for token in block_tokens(flat_body)
        if token.type == "list_item_open" and token.level == 1 and token.map
    ]


def _drop_blank_end(flat_body: str, start: int, end: int) -> int:
    kept = start + len(flat_body[start:end].rstrip(" \t\n"))
    line_end = flat_body.find("\n", kept, end)
    return end if line_end < 0 else line_end + 1


def _item(raw: str, span: Span, line: int) -> ListItem:
    marker = _MARKER.match(raw)
    if marker is None:  # a list item always begins with its marker
        return ListItem(span, "", raw, line)
    return ListItem(span, marker[1], _content(raw, marker), line)


def _content(raw: str, marker: re.Match[str]) -> str:
    gap = len(marker[2])
    kept = flat(raw).rstrip(" \t\n")
    if gap <= 4 and "\n" not in kept:
        return kept[marker.end() :]
    first, *rest = kept.split("\n")
    indent = marker.end(1) + (gap if 1 <= gap <= 4 else 1)
    lines = [first[min(marker.end(1) + (gap if gap <= 4 else 1), len(first)) :]]
    lines.extend(_outdent(line, indent) for line in rest)
    return "\n".join(line.rstrip(" \t") for line in lines)


def _outdent(line: str, columns: int) -> str:
    width = 0
    for position, character in enumerate(line):
        if width >= columns or character not in " \t":
            return line[position:]
        width += 4 - width % 4 if character == "\t" else 1
    return ""
