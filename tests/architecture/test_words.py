"""The check on words finds an expression, and leaves plain prose alone."""

from pathlib import Path

import pytest

from tools import check_words


@pytest.mark.parametrize(
    "line",
    [
        "Whoever opens the document next settles it.",
        "A document that nobody wrote.",
        "The caller is told of each step.",
        "The answer comes, come what may.",
        "A move that broke off amid its steps.",
    ],
)
def test_an_expression_that_is_hard_to_read_is_found_with_its_line(folder: Path, line: str) -> None:
    page = folder / "page.md"
    page.write_text(f"# Title\n\n{line}\n")
    (found,) = check_words.findings(page)
    assert found.startswith(f"{page}:3: ")


def test_plain_words_pass(folder: Path) -> None:
    page = folder / "page.md"
    page.write_text("The next caller settles the document.\nwhoever # words: allow\n")
    assert check_words.findings(page) == []
