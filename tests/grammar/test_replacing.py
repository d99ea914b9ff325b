import pytest
from hypothesis import given
from hypothesis import strategies as st

from garden.grammar.refusals import InvalidInputError, PatchConflictError
from garden.grammar.replacing import replace_once

TEXTS = st.text(st.sampled_from("ab \r\n"), max_size=30)


@given(TEXTS, TEXTS, TEXTS)
def test_only_the_text_that_was_found_changes(before: str, find: str, after: str) -> None:
    text = f"{before}<{find}>{after}"
    replaced = replace_once(text, f"<{find}>", "[\n]", "\n")
    assert replaced == f"{before}[\n]{after}"


@pytest.mark.parametrize("find", ["b\nc", "b\r\nc", "b\rc"])
def test_line_ends_do_not_count_and_the_new_text_takes_the_documents(find: str) -> None:
    assert replace_once("a\r\nb\r\nc\r\n", find, "x\ny", "\r\n") == "a\r\nx\r\ny\r\n"
    assert replace_once("a\nb\r\nc\r", find, "", "\n") == "a\n\r"


@pytest.mark.parametrize(("text", "count"), [("aaa", 2), ("aa aa", 2), ("aaaa", 3)])
def test_places_that_overlap_are_several(text: str, count: int) -> None:
    with pytest.raises(PatchConflictError) as caught:
        replace_once(text, "aa", "b", "\n")
    assert (caught.value.details or {})["matchCount"] == count


def test_a_text_that_is_not_there_is_refused_with_the_nearest_lines() -> None:
    with pytest.raises(PatchConflictError) as caught:
        replace_once("# T\n\nslept rather well\n", "slept well", "x", "\n")
    assert caught.value.details == {"matchCount": 0, "nearestLine": 3, "nearest": "slept rather well"}


def test_nothing_is_not_found() -> None:
    with pytest.raises(InvalidInputError):
        replace_once("a", "", "b", "\n")
