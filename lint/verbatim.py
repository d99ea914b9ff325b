"""Where a text stands verbatim: in code, where white space is content, and in HTML blocks."""

import re

from grammar.blocks import block_tokens, line_starts
from grammar.values import Span

# Without any of these at the start of some line, all is prose and nothing has to be parsed.
_MAY_BE_CODE = re.compile("```|~~~|    |\t")
_ANCHOR_LINE = re.compile(r" {0,3}<!--[ \t]*@anchor:[^\n]*-->[ \t]*\n?")
_TAG = re.compile("<(?!!--[ \t]*@anchor:)")
_CODE = frozenset({"fence", "code_block"})


def code_spans(flat_text: str, start: int) -> tuple[Span, ...]:
    """Find the whole lines, from `start` on, that hold fenced or indented code, fences included."""
    return _spans(flat_text, start, _CODE) if _MAY_BE_CODE.search(flat_text, start) else ()


def verbatim_spans(flat_text: str, start: int) -> tuple[Span, ...]:
    """Find the whole lines, from `start` on, that hold code or an HTML block other than an anchor."""
    if not _MAY_BE_CODE.search(flat_text, start) and not _TAG.search(flat_text, start):
        return ()
    spans = _spans(flat_text, start, _CODE | {"html_block"})
    return tuple(span for span in spans if not _ANCHOR_LINE.fullmatch(flat_text, *span))


def _spans(flat_text: str, start: int, types: frozenset[str]) -> tuple[Span, ...]:
    body = flat_text[start:]
    starts = [start + offset for offset in line_starts(body)]
    return tuple(
        Span(starts[token.map[0]], starts[min(token.map[1], len(starts) - 1)])
        for token in block_tokens(body)
        if token.type in types and token.map
    )
