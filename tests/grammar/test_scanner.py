"""The scanners always agree with markdown-it-py, and are sure about ordinary documents."""

import subprocess
import sys
from random import Random

import pytest
from hypothesis import example, given
from markdown_it import MarkdownIt

from garden.grammar.blocks import headings_by_markdown_it, line_starts
from garden.grammar.headings import find_headings
from garden.grammar.item_scanner import scan_items
from garden.grammar.items import items_by_markdown_it
from garden.grammar.lines import flat
from garden.grammar.scanner import scan_headings
from tests.grammar.strategies import markdown, random_markdown
from tests.support.hypothesis_profiles import NIGHTLY

TEXTS_PER_SEED = 400_000 if NIGHTLY else 8_000

Found = list[tuple[int, int, int]]


def by_the_library_alone(text: str) -> Found:
    """Levels and lines of top-level headings, as markdown-it-py parses the unchanged text."""
    tokens = MarkdownIt("commonmark").parse(text.replace("\ud800", "\ufffd"))
    return [
        (int(token.tag[1]), token.map[0], token.map[1])
        for token in tokens
        if token.type == "heading_open" and token.level == 0 and token.map
    ]


def by_the_scanner(text: str) -> Found:
    flat_text = flat(text)
    starts = line_starts(flat_text)
    return [
        (heading.level, heading.line - 1, starts.index(heading.span.end, heading.line - 1))
        for heading in find_headings(flat_text, 0)
    ]


@given(markdown(12))
@example("- - - - - - - - - - x\n\n## swallowed")
@example("<a b=\0>\n## in the block, because NUL is read as another character")
@example("- a\n  ## nested")
@example("- a\n\n  ```\n## not in the fence")
@example("- a\n\n  <!--\n## not in the comment")
@example("- a\n  b\n  ===")
@example("a\n<b>\n## a heading all the same")
@example("a\n\n<b>\n## in the block")
@example("- a\n ## not certain")
@example("[a]: /u 't\n===\nt'\n## b")
@example("> # h\nfoo\n===")
@example("<b\0>\n## x")
@example("# NUL \0 and a lone surrogate \ud800")
@example("- a\n  b\n\nNUL \0\n===")
def test_the_scanner_finds_the_same_headings_as_markdown_it(text: str) -> None:
    flat_text = flat(text)
    assert by_the_scanner(text) == by_the_library_alone(text)
    assert list(find_headings(flat_text, 0)) == headings_by_markdown_it(flat_text)


@pytest.mark.parametrize("seed", range(4))
def test_the_scanners_agree_with_markdown_it_on_thousands_of_seeded_texts(seed: int) -> None:
    random = Random(seed)  # noqa: S311 - no secrets here
    for _ in range(TEXTS_PER_SEED):
        text = flat(random_markdown(random)).replace("\0", "\ufffd")
        assert list(find_headings(text, 0)) == headings_by_markdown_it(text), repr(text)
        assert_items_agree(text)


@given(markdown(8))
@example("- a\n  " + "- " * 10 + "swallows\n- b\n")
@example("- a\n  > " + "- " * 10 + "swallows\n- b\n")
def test_the_item_scanner_finds_the_same_items_as_markdown_it(text: str) -> None:
    flat_text = flat(text).replace("\0", "\ufffd")
    assert_items_agree(flat_text)


def assert_items_agree(text: str) -> None:
    found = scan_items(text)
    if found is not None:
        lines = text.split("\n")
        expected = without_blank_ends(lines, items_by_markdown_it(text))
        assert without_blank_ends(lines, found) == expected, repr(text)


def without_blank_ends(lines: list[str], extents: list[tuple[int, int]]) -> list[tuple[int, int]]:
    trimmed = []
    for start, end in extents:
        last = end
        while not lines[last - 1].strip(" \t"):
            last -= 1
        trimmed.append((start, last))
    return trimmed


@pytest.mark.parametrize(
    "text",
    [
        "# T\n\n## A\n<!-- @anchor: a v1 -->\n\n- x\n  - y\n    - z\n\n## B\n\n---\n\n```\n## c\n```\n",
        "Title\n=====\n\nWords\nSection\n-------\n\n***\n",
        "<div>\n## text\n</div>\n\n## B\n\n> quote\n> ## text\n",
    ],
)
def test_the_scanner_is_sure_of_ordinary_documents(text: str) -> None:
    assert scan_headings("\n" + text, 1) is not None


def test_the_item_scanner_is_sure_of_ordinary_lists() -> None:
    body = "Words.\n\n- a\n  more of it\n  - nested\n\n    deep\n- b\n\n1. one\n2. two\n\nWords.\n"
    assert scan_items(body) == [(2, 7), (7, 9), (9, 10), (10, 12)]


@pytest.mark.parametrize(
    ("body", "extents"),
    [
        ("- a", [(0, 1)]),
        ("\n- a\n- 2026-11-18 b\n\n", [(1, 2), (2, 5)]),
        ("- a\n- - b\n- c\n", None),
        ("- a\n- 1) b\n", None),
        ("- a\n\n- b\n", [(0, 2), (2, 4)]),
    ],
)
def test_lists_of_one_line_items_are_read_like_other_lists(
    body: str, extents: list[tuple[int, int]] | None
) -> None:
    assert scan_items(body) == extents


def test_a_parsed_text_is_freed_at_once() -> None:
    done = subprocess.run([sys.executable, "-c", _READ_AND_SEARCH], check=False)
    assert done.returncode == 0


# Runs in a process of its own, without other garbage; the exit code is the number of unreachable objects.
_READ_AND_SEARCH = """
import gc, sys
from garden.grammar.parser import parse

text = "# T\\n\\n## A\\n\\n```\\ncode\\n```\\n\\n<div>\\n\\nWords\\n-----\\n\\n- a\\n- b\\n"
parse(text)
gc.collect()
gc.disable()
parse(text)
sys.exit(min(gc.collect(), 100))
"""
