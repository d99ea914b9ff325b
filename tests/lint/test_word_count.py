"""Counting words in many scripts."""

import pytest

from garden.lint.word_count import count_words, may_exceed


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("one", 1),
        ("It can't be five words", 5),
        ("- a list — with *marks* and 1 number", 7),
        ("see [the page](https://example.org/a_b)", 3),
        ("naïve Grüße, мир и труд", 5),
        ("她总是在看表", 3),
        ("她总是在看", 3),
        ("これはテストです。", 4),
        ("우리는 차를 마신다", 3),
        ("ฉันชอบดื่มชา", 3),
        ("she said 她总是在看表 twice", 6),
        ("___ --- *** ...", 0),
        ("שלום עולם", 2),
    ],
)
def test_words_are_counted_as_a_reader_would(text: str, count: int) -> None:
    assert count_words(text) == count


@pytest.mark.parametrize("text", ["", "a b c", "她总是在看表", "ab " * 30, "x" * 50])
@pytest.mark.parametrize("words", [1, 2, 3, 30])
def test_the_cheap_test_never_misses_a_text_over_the_limit(text: str, words: int) -> None:
    assert may_exceed(text, words) or count_words(text) <= words
