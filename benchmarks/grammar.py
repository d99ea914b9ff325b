"""The cost of parsing a document, relative to markdown-it-py's block parse of the same text."""

from markdown_it import MarkdownIt
from markdown_it.token import Token

from benchmarks.profiles import profile, text_of
from benchmarks.ratios import Ratio, seconds
from garden.grammar.apply import apply
from garden.grammar.change_log import log_entry
from garden.grammar.edits import ReplaceSection
from garden.grammar.headings import find_headings
from garden.grammar.parser import parse


def block_parse(markdown: MarkdownIt, text: str) -> list[Token]:
    tokens: list[Token] = []
    markdown.block.parse(text, markdown, {}, tokens)
    return tokens


def measure() -> list[Ratio]:
    text = profile()
    document = parse(text)
    start = document.frontmatter.span.end if document.frontmatter else 0
    body, markdown = text[start:], MarkdownIt("commonmark")
    entry = log_entry("2026-11-18 08:25Z", "concerns v1", "replace_section", "why", "0193")
    edit = ReplaceSection("concerns v1", "- rests badly\n- and says so\n")
    blocks = seconds(lambda: block_parse(markdown, body), 20)
    table = seconds(lambda: find_headings(text, start), 400)
    whole = seconds(lambda: parse(text), 200)
    items = seconds(lambda: [section.items for section in parse(text).sections], 50)
    edited = seconds(lambda: apply(document, edit, entry=entry), 100)
    small, large = text_of(100_000), text_of(1_000_000)
    table_growth = seconds(lambda: find_headings(large, start), 5) / seconds(
        lambda: find_headings(small, start), 50
    )
    growth = seconds(lambda: parse(large), 5) / seconds(lambda: parse(small), 50)
    return [
        Ratio("section table: times faster than markdown-it's block parse", blocks / table, 8, True),
        Ratio("whole document: times faster than markdown-it's block parse", blocks / whole, 4, True),
        Ratio("document with all list items: share of the block parse", items / blocks, 0.6, False),
        Ratio("edit with Change Log line and guards: share of the block parse", edited / blocks, 1, False),
        Ratio("section table of 1 MB over that of 100 KB", table_growth, 13, False),
        Ratio("whole document of 1 MB over one of 100 KB", growth, 13, False),
    ]
