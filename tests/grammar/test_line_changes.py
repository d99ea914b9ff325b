"""The lines that splices change, compared with the whole texts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from garden.grammar.canonical import encoded
from garden.grammar.diffs import unified_diff
from garden.grammar.line_changes import counts_of_lines, line_changes, split_line_bytes
from garden.grammar.splice import splices_between
from garden.grammar.word_diffs import word_diff

texts = st.lists(st.sampled_from(["a\n", "b\n", "\n", "- long line of words\n", "c", "é\r\n"]), max_size=12)


@given(texts.map("".join), texts.map("".join))
def test_the_changed_lines_put_in_place_make_the_new_text(before: str, after: str) -> None:
    data = bytearray(encoded(before))
    splices = [
        (each.offset, encoded(each.removed), encoded(each.inserted))
        for each in splices_between(before, after)
    ]
    lines = split_line_bytes(data)
    for first, removed, added in reversed(line_changes(data, splices)):
        assert lines[first : first + len(removed)] == removed
        lines[first : first + len(removed)] = added
    assert b"".join(lines) == encoded(after)
    diff = unified_diff(before, after)
    assert counts_of_lines(data, splices) == (diff.added, diff.removed)


def test_words_are_marked_inside_their_lines() -> None:
    diff = word_diff("one\nShe works late.\ngone\n", "one\nShe works too late.\n")
    assert diff.text.endswith(" @@\none\nShe works {+too +}late.\n[-gone-]\n")
    assert (diff.added, diff.removed) == (1, 2)


def test_lines_with_too_many_words_to_compare_are_marked_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("garden.grammar.word_diffs._COMPARISONS_MAX", 30)
    diff = word_diff("a b\nsame\na b c\n", "a c\nsame\na b d\n")
    assert diff.text.endswith("a [-b-]{+c+}\nsame\n[-a b c-]\n{+a b d+}\n")
