r"""A fast scanner for top-level headings that agrees with markdown-it-py or gives up.

A line that begins in the first column with `#`, a fence or an HTML block ends every paragraph, quote and list
above it. So only an open fence or HTML block can hide such a heading, and both end by simple rules. All other
candidates depend on the lines above: an indented line if a list may be open, an underline below anything but
plain lines. There the scanner gives up, and markdown-it-py decides.

It also gives up if a list may be nested ten deep: markdown-it-py stops reading there.
"""

import re

from markdown_it.common.utils import mdTrim
from markdown_it.rules_block.html_block import HTML_SEQUENCES

from garden.grammar.blocks import may_nest_too_deep, one_line, replace_surrogates
from garden.grammar.values import Heading, Span

# Every pattern begins with a literal line feed, which the regular expression engine finds fast, by memchr.
_CANDIDATE = re.compile(
    r"\n {0,3}(?:(#{1,6})(?=[ \t\n]|\Z)|(~{3,}|`{3,}(?=[^`\n]*(?:\n|\Z)))|(<)|(=+|-+)[ \t]*(?=\n|\Z))"
)
_FENCE_ENDS = {marker: re.compile(rf"\n {{0,3}}({marker}{{3,}})[ \t]*(?=\n|\Z)") for marker in "`~"}
_BLANK_LINE = re.compile(r"\n[ \t]*(?=\n|\Z)")
_LIST_LINE = re.compile(r"\n[ \t]*[-+*0-9]")
_NOT_PLAIN = frozenset(" \t\n#>-+*_=<[~`0123456789")
_COMMENT, _LAST_WITH_END_MARK, _NEEDS_BLOCK_START = 1, 4, 6
_UNSURE = -1


def scan_headings(source: str, start: int) -> list[Heading] | None:
    """Find the top-level headings from `start` on, which must follow a line feed; None if not sure."""
    if may_nest_too_deep(source, start):
        return None
    scan = _Scan(source, start)
    return scan.headings if scan.run() else None


def may_hold_headings(flat_text: str) -> bool:
    """Whether a line of a text may be a heading, or hide one below."""
    source = "\n" + flat_text
    return _CANDIDATE.search(source) is not None or may_nest_too_deep(source, 1)


class _Scan:
    """One pass over a text, from candidate line to candidate line."""

    def __init__(self, source: str, start: int) -> None:
        self.source = source
        self.headings: list[Heading] = []
        # The end of the last block known to be top-level: a new block begins there.
        self.block_end = start
        # No list that began above this offset can still be open.
        self.list_floor = start
        self.counted_to = 0
        self.line = 1

    def run(self) -> bool:
        """Scan all candidates; False as soon as one can't be decided."""
        # A local: as an attribute it would create a reference cycle that keeps the text alive.
        handlers = (self._atx, self._fence, self._html, self._underline)
        position = self.block_end - 1
        while position >= 0:
            match = _CANDIDATE.search(self.source, position)
            if match is None:
                return True
            position = handlers[match.lastindex - 1](match) if match.lastindex else _UNSURE
        return False

    def _atx(self, match: re.Match[str]) -> int:
        start = match.start() + 1
        if match.start(1) != start and self._list_may_be_open(start):
            return _UNSURE
        end = self._line_end(match.end())
        hashes = len(match[1])
        self._add(hashes, _atx_text(self.source[match.end() : end]), start, end, setext=False)
        return end

    def _fence(self, match: re.Match[str]) -> int:
        start = match.start() + 1
        if match.start(2) != start and self._list_may_be_open(start):
            return _UNSURE
        fence = match[2]
        for closing in _FENCE_ENDS[fence[0]].finditer(self.source, match.end()):
            if len(closing[1]) >= len(fence):
                return self._end_block(closing.end())
        return self._end_block(len(self.source))

    def _html(self, match: re.Match[str]) -> int:
        start, tag = match.start() + 1, match.start(3)
        line_end = self._line_end(tag)
        kind = self._html_kind(tag, line_end)
        if kind is None:
            return line_end
        if kind == _NEEDS_BLOCK_START and not self._at_block_start(start):
            return _UNSURE
        if tag != start and self._list_may_be_open(start):
            return _UNSURE
        return self._end_block(self._html_end(kind, tag, line_end))

    def _html_kind(self, tag: int, line_end: int) -> int | None:
        if self.source.startswith("<!--", tag):
            return _COMMENT
        line = self.source[tag:line_end]
        return next(
            (kind for kind, (opening, _, _) in enumerate(HTML_SEQUENCES) if opening.search(line)), None
        )

    def _html_end(self, kind: int, tag: int, line_end: int) -> int:
        if kind > _LAST_WITH_END_MARK:
            blank = _BLANK_LINE.search(self.source, line_end)
            return blank.start() if blank else len(self.source)
        closing = HTML_SEQUENCES[kind][1].search(self.source, tag)
        return self._line_end(closing.end()) if closing else len(self.source)

    def _underline(self, match: re.Match[str]) -> int:
        underline = match.start() + 1
        if self._at_block_start(underline):
            return match.end()
        start = self._plain_lines_above(underline)
        if start is None:
            return _UNSURE
        text = one_line(mdTrim(self.source[start : match.start()]))
        self._add(1 if match[4][0] == "=" else 2, text, start, match.end(), setext=True)
        return match.end()

    def _plain_lines_above(self, underline: int) -> int | None:
        """Return the start of the paragraph above an underline; None unless all its lines are plain."""
        start = underline
        while not self._at_block_start(start):
            start = self.source.rfind("\n", 0, start - 1) + 1
            if self.source[start] in _NOT_PLAIN:
                return None
        return start

    def _at_block_start(self, line_start: int) -> bool:
        if line_start <= self.block_end:
            return True
        above = self.source.rfind("\n", 0, line_start - 1) + 1
        return not self.source[above : line_start - 1].strip(" \t")

    def _list_may_be_open(self, line_start: int) -> bool:
        if _LIST_LINE.search(self.source, self.list_floor - 1, line_start):
            return True
        self.list_floor = line_start
        return False

    def _line_end(self, position: int) -> int:
        end = self.source.find("\n", position)
        return end if end >= 0 else len(self.source)

    def _end_block(self, line_end: int) -> int:
        self.block_end = self.list_floor = line_end + 1
        return line_end

    def _add(self, level: int, text: str, start: int, line_end: int, *, setext: bool) -> None:
        self.line += self.source.count("\n", self.counted_to, start)
        self.counted_to = start
        end = min(line_end + 1, len(self.source))
        self.headings.append(Heading(level, replace_surrogates(text), Span(start, end), self.line, setext))
        self._end_block(line_end)


def _atx_text(rest: str) -> str:
    words = rest.rstrip(" \t")
    without_hashes = words.rstrip("#")
    if without_hashes and without_hashes[-1] in " \t":
        words = without_hashes
    return mdTrim(words)
