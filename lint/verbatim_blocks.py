"""Verbatim blocks: code and HTML, where white space may be content."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from garden.grammar.blocks import block_tokens, line_starts
from garden.grammar.values import Span

# A text without any of these is all prose and need not be parsed.
_MAY_BE_CODE = re.compile("```|~~~|    |\t")
_TAG = re.compile("<(?!!--[ \t]*@anchor:)")
_ANCHOR_LINE = re.compile(r" {0,3}<!--[ \t]*@anchor:[^\n]*-->[ \t]*\n?")


class Verbatim(NamedTuple):
    """A block of whole lines; `is_code` is true for fenced and indented code, false for HTML."""

    span: Span
    is_code: bool


def verbatim_blocks(flat_text: str, start: int) -> tuple[Verbatim, ...]:
    """Find the blocks of code and of HTML other than anchors, from `start` on."""
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
