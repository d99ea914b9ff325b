import pytest
from hypothesis import given
from hypothesis import strategies as st

from garden.grammar.change_log import log_entry
from garden.grammar.passages import (
    PassageFinder,
    ShingleFinder,
    cut_spans,
    shingles,
    strike,
    windows,
    words_of,
)

PASSAGE = "The blue door, at noon"


@pytest.mark.parametrize(
    "text",
    [
        "so: the blue door, at noon.",
        "THE BLUE DOOR, AT NOON",
        "The\u00a0blue \n\t door, at noon",
        "T\u200bhe bl\u00adue do\u2060or, at noon\ufe0f",
        "\uff34he \uff42lue door, at noon",
    ],
)
def test_a_passage_is_found_without_regard_to_case_width_invisible_characters_and_white_space(
    text: str,
) -> None:
    (found,) = PassageFinder(PASSAGE).find(text)
    assert PassageFinder(PASSAGE).folded == PassageFinder(found.of(text)).folded


def test_a_passage_is_found_in_the_change_log_line_that_quotes_it() -> None:
    words = "la col·lecció secreta · de la Mireia"
    assert PassageFinder(words).find(log_entry("t", "needs v1", "append_section", f"diu {words}", "e1"))


def test_other_words_are_not_found() -> None:
    assert PassageFinder(PASSAGE).find("The blue floor, at noon. The blue door.") == []


def test_a_short_passage_is_found_as_whole_words_and_a_long_one_anywhere() -> None:
    assert PassageFinder("Ann").find("cannot, Anna") == []
    assert len(PassageFinder("Ann").find("Ann's (ann)")) == 2
    assert PassageFinder("k3y" * 4).find("id_xk3yk3yk3yk3yz")


def test_what_a_removal_joins_is_removed_as_well() -> None:
    finder = PassageFinder("ab cd ef gh ij")
    assert [tuple(span) for span in cut_spans("1 ab cd ab cd ef gh ij ef gh ij 2", finder)] == [(2, 31)]
    assert strike("1 AB  cd ef gh ij 2", finder) == "1 [erased] 2"


@pytest.mark.parametrize(
    ("passage", "size", "count"),
    [
        ("one two three", 3, 1),
        ("one, two; three four five six!", 5, 2),
        ("sk-1234567890", 2, 1),
        ("naïve café", 2, 0),
        ("我今天不想说话", 5, 3),
    ],
)
def test_a_passage_is_told_by_its_words_or_by_runs_of_five(passage: str, size: int, count: int) -> None:
    assert shingles(passage) == ({size: shingles(passage)[size]} if count else {})
    assert sum(map(len, shingles(passage).values())) == count


def test_a_passage_of_which_only_fingerprints_are_known_is_found_whole() -> None:
    passage = "one two three four five six seven"
    [(size, known)] = shingles(passage).items()
    text = f"zero {passage.upper()} eight one two three four"
    (found,) = ShingleFinder((size,), known.__contains__).find(text)
    assert found.of(text) == passage.upper()


@given(st.text("ab é\u200b\n\uff21ß-", max_size=30), st.integers(0, 30), st.integers(0, 30))
def test_a_widened_range_holds_every_occurrence_that_overlaps_it(text: str, one: int, other: int) -> None:
    finder = PassageFinder("a bé")
    start, end = sorted((min(one, len(text)), min(other, len(text))))
    wide = finder.widen(text, start, end)
    for found in finder.find(text):
        if found.start <= end and found.end >= start:
            assert wide.start <= found.start
            assert found.end <= wide.end


@given(st.text("abé \u0301_我-", max_size=40))
def test_words_keep_their_places(text: str) -> None:
    for run, span in windows(words_of(text), 2):
        assert [word.text for word in words_of(span.of(text))] == run.split(" ")
