"""The block structure of a Markdown text, as markdown-it-py (CommonMark) reads it."""

import re
from functools import lru_cache
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token

from garden.grammar.values import Heading, Span

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
# markdown-it-py stops reading at twenty levels and swallows the rest; each list takes two. The tenth marker
# is at column 18 or further right, with only white space, quote marks and other markers before it.
_DEEP_PREFIX = re.compile(r"\n((?:[ \t>]|[-+*][ \t]|[0-9]{1,9}[.)][ \t]){5,})(?=[-+*0-9])")
_DEEP_COLUMNS = 18


@lru_cache(maxsize=1)
def _markdown() -> MarkdownIt:
    markdown = MarkdownIt("commonmark")
    # The rules are compiled on first use, which is not thread-safe, so compile them here.
    markdown.block.ruler.getRules("")
    return markdown


def block_tokens(flat_text: str) -> list[Token]:
    r"""Parse the blocks of a text whose line ends are all `\n`; inline content stays unparsed."""
    # Neither character affects block structure, but a surrogate breaks the parsing of link definitions.
    source = replace_surrogates(flat_text.replace("\0", "\ufffd"))
    tokens: list[Token] = []
    markdown = _markdown()
    markdown.block.parse(source, markdown, {}, tokens)
    return tokens


def replace_surrogates(text: str) -> str:
    """Replace lone surrogates by the replacement character."""
    return text if text.isascii() else _LONE_SURROGATE.sub("\ufffd", text)


def line_starts(flat_text: str) -> list[int]:
    """List the offset of each line, then the end of the text."""
    starts = [0]
    starts.extend(match.end() for match in re.finditer("\n", flat_text))
    if starts[-1] != len(flat_text):
        starts.append(len(flat_text))
    return starts


def one_line(content: str) -> str:
    """Join the lines of a heading without the white space around line breaks."""
    return " ".join(line.strip(" \t") for line in content.split("\n")) if "\n" in content else content


def headings_by_markdown_it(flat_text: str) -> list[Heading]:
    """Find the top-level headings by a full parse: slow, but always right."""
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
    """Return the offsets of all lines of fenced and indented code from `start` on, nested ones included."""
    source = flat_text[start:]
    starts = line_starts(source)
    return {
        start + starts[line]
        for token in block_tokens(source)
        if token.type in ("fence", "code_block") and token.map
        for line in range(*token.map)
    }


def may_nest_too_deep(source: str, start: int) -> bool:
    """Whether a line from `start` on may hold a list ten deep; `start` must follow a line feed."""
    if not _DEEP_PREFIX.search(source, start - 1):
        return False
    return any(
        len(match[1].expandtabs(4)) >= _DEEP_COLUMNS for match in _DEEP_PREFIX.finditer(source, start - 1)
    )
