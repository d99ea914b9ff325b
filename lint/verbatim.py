"""Where a text stands verbatim: in code, where white space is content, and in HTML blocks."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from garden.grammar.blocks import block_tokens, line_starts
from garden.grammar.values import Span

# Without any of these at the start of some line, all is prose and nothing has to be parsed.
_MAY_BE_CODE = re.compile("```|~~~|    |\t")
_TAG = re.compile("<(?!!--[ \t]*@anchor:)")
_ANCHOR_LINE = re.compile(r" {0,3}<!--[ \t]*@anchor:[^\n]*-->[ \t]*\n?")


class Verbatim(NamedTuple):
    """A block in whole lines; `is_code` tells fenced and indented code from HTML."""

    span: Span
    is_code: bool


def verbatim_blocks(flat_text: str, start: int) -> tuple[Verbatim, ...]:
    """Find the blocks, from `start` on, that hold code or HTML other than an anchor."""
    if not _MAY_BE_CODE.search(flat_text, start) and not _TAG.search(flat_text, start):
        return ()
    blocks = _blocks(flat_text[start:], start)
    return tuple(
        block for block in blocks if block.is_code or not _ANCHOR_LINE.fullmatch(flat_text, *block.span)
    )


def _blocks(body: str, start: int) -> Iterator[Verbatim]:
    starts = [start + offset for offset in line_starts(body)]
    for token in block_tokens(body):
        if token.type in _TYPES and token.map:
            first, after = token.map
            span = Span(starts[first], starts[min(after, len(starts) - 1)])
            yield Verbatim(span, token.type != "html_block")


_TYPES = frozenset({"fence", "code_block", "html_block"})
