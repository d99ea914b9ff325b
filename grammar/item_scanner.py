"""A fast scanner for the items of top-level lists that agrees with markdown-it-py or gives up.

It handles the usual form: markers in the first column followed by words, the rest of an item indented at
least as far as those words, other lines plain. markdown-it-py decides everything else.
"""

import re

from garden.grammar.blocks import may_nest_too_deep

_ITEM_LINE = re.compile(r"([-+*]|[0-9]{1,9}[.)])( {1,4})(?=[^ \t\n])")
_RULE_LIKE = re.compile(r"([-*])(?:[ \t]*\1)+[ \t]*$")
_HEADING_LINE = re.compile(r"#{1,6}(?:[ \t]|$)")
_NOT_PLAIN = frozenset("\t#>-+*_=<[~`0123456789")
# Most bodies, above all Change Logs: one bullet a line, none followed by another marker.
ONE_A_LINE = re.compile(r"\n*(?:- (?![ \t>+*-]|[0-9]{1,9}[.)])[^\n]+(?:\n|\Z))+\n*")

Extent = tuple[int, int]


def scan_items(flat_body: str) -> list[Extent] | None:
    """Return each item's first line and the line after its last, blank lines included; None if not sure."""
    if ONE_A_LINE.fullmatch(flat_body):
        return _one_a_line(flat_body)
    if may_nest_too_deep("\n" + flat_body, 1):
        return None
    lines = flat_body.split("\n")
    scan = _ItemScan()
    for number, line in enumerate(lines):
        if not scan.read(number, line):
            return None
    return scan.finish(len(lines))


def _one_a_line(flat_body: str) -> list[Extent]:
    end = flat_body.count("\n") + 1
    first = len(flat_body) - len(flat_body.lstrip("\n"))
    last = first + flat_body.strip("\n").count("\n")
    return [*((line, line + 1) for line in range(first, last)), (last, end)]


class _ItemScan:
    """One pass over a body, line by line."""

    def __init__(self) -> None:
        self.found: list[Extent] = []
        self.item_start: int | None = None
        self.item_indent = 0
        self.after_blank = True

    def read(self, number: int, line: str) -> bool:
        """Read one line; False if the scanner can't decide what it belongs to."""
        if not line.strip(" \t"):
            self.after_blank = True
            return True
        sure = self._indented(line) if line[0] == " " else self._first_column(number, line)
        self.after_blank = False
        return sure

    def finish(self, end: int) -> list[Extent]:
        """Close the last item and return all items."""
        if self.item_start is not None:
            self.found.append((self.item_start, end))
            self.item_start = None
        return self.found

    def _indented(self, line: str) -> bool:
        spaces = len(line) - len(line.lstrip(" "))
        return self.item_start is not None and spaces >= self.item_indent

    def _first_column(self, number: int, line: str) -> bool:
        marker = _ITEM_LINE.match(line)
        if marker:
            return self._item_line(number, line, marker)
        if _HEADING_LINE.match(line):
            self.finish(number)
            # A new block begins after a heading, as after a blank line, but may be indented code.
            return True
        if line[0] in _NOT_PLAIN or (self.item_start is not None and not self.after_blank):
            return False
        self.finish(number)
        return True

    def _item_line(self, number: int, line: str, marker: re.Match[str]) -> bool:
        interrupts_words = self.item_start is None and not self.after_blank
        if interrupts_words and marker[1][0].isdigit():
            return False
        if _RULE_LIKE.match(line) or _ITEM_LINE.match(line, marker.end()):
            return False
        self.finish(number)
        self.item_start = number
        self.item_indent = marker.end()
        return True
