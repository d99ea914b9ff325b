import pytest
from hypothesis import given
from hypothesis import strategies as st

from garden.grammar.refusals import PatchConflictError
from garden.grammar.splice import Splice, apply_splice, splice_between

TEXTS = st.text("ab\né🙂\ud800", max_size=20)


@given(TEXTS, TEXTS)
def test_a_splice_is_minimal_and_turns_either_text_into_the_other(before: str, after: str) -> None:
    splice = splice_between(before, after)
    assert apply_splice(before, splice) == after
    assert apply_splice(after, splice.reverse) == before
    assert not (splice.removed and splice.inserted and splice.removed[0] == splice.inserted[0])
    assert not (splice.removed and splice.inserted and splice.removed[-1] == splice.inserted[-1])


def test_the_offset_counts_bytes() -> None:
    assert splice_between("🙂éa", "🙂éb") == Splice(6, "a", "b")


def test_a_shared_prefix_and_suffix_do_not_overlap() -> None:
    assert splice_between("aa", "aaa") == Splice(2, "", "a")
    assert splice_between("same", "same") == Splice(4, "", "")


@pytest.mark.parametrize(
    "splice", [Splice(0, "b", ""), Splice(9, "", "x"), Splice(2, "cd", ""), Splice(1, "bcd", "")]
)
def test_a_splice_that_does_not_fit_is_refused(splice: Splice) -> None:
    with pytest.raises(PatchConflictError):
        apply_splice("abc", splice)
