"""Where the top-level headings of a Markdown text are, as markdown-it-py (CommonMark) decides."""

import re
from functools import lru_cache
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token

from garden.grammar.values import Heading, Span

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


@lru_cache(maxsize=1)
def _markdown() -> MarkdownIt:
    markdown = MarkdownIt("commonmark")
    # The rules are compiled on first use, and not safely if two threads come at once: so before anyone can.
    markdown.block.ruler.getRules("")
    return markdown


def block_tokens(flat_text: str) -> list[Token]:
    r"""Parse the block structure of a text whose line ends are all `\n`; inline content stays unparsed."""
    # Neither character matters to block structure, but a surrogate breaks the reading of link definitions.
    source = printable(flat_text.replace("\0", "\ufffd"))
    tokens: list[Token] = []
    markdown = _markdown()
    markdown.block.parse(source, markdown, {}, tokens)
    return tokens


def printable(text: str) -> str:
    """Put the replacement character where a lone surrogate stands."""
    return text if text.isascii() else _LONE_SURROGATE.sub("\ufffd", text)


def line_starts(flat_text: str) -> list[int]:
    """List the offset at which each line begins, and the end of the text as a last entry."""
    starts = [0]
    starts.extend(match.end() for match in re.finditer("\n", flat_text))
    if starts[-1] != len(flat_text):
        starts.append(len(flat_text))
    return starts


def one_line(content: str) -> str:
    """Join the lines of a heading's words; white space around a line break is no part of them."""
    return " ".join(line.strip(" \t") for line in content.split("\n")) if "\n" in content else content


def headings_by_markdown_it(flat_text: str) -> list[Heading]:
    """Find the top-level headings the slow and certain way."""
    starts = line_starts(flat_text)
    found = []
    tokens = block_tokens(flat_text)
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open" and opening.level == 0 and opening.map:
            first, after = opening.map
            span = Span(starts[first], starts[after])
            setext = opening.markup in ("-", "=")
            found.append(Heading(int(opening.tag[1]), one_line(inline.content), span, first + 1, setext))
    return found


def code_starts(flat_text: str, start: int) -> set[int]:
    """Find where the lines of fences and indented code begin, from `start` on, however deeply nested."""
    source = flat_text[start:]
    starts = line_starts(source)
    return {
        start + starts[line]
        for token in block_tokens(source)
        if token.type in ("fence", "code_block") and token.map
        for line in range(*token.map)
    }
