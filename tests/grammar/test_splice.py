import pytest
from hypothesis import given
from hypothesis import strategies as st

from garden.grammar.refusals import PatchConflictError
from garden.grammar.splice import Splice, apply_splices, reverse_splices, splices_between

TEXTS = st.text("ab\né🙂\ud800", max_size=20)
LINES = st.lists(st.sampled_from([f"{letter * 30}\n" for letter in "abcdefgé🙂"] + ["\n", "x"]), max_size=12)


@given(TEXTS | LINES.map("".join), TEXTS | LINES.map("".join))
def test_splices_turn_either_text_into_the_other(before: str, after: str) -> None:
    splices = splices_between(before, after)
    assert apply_splices(before, splices) == after
    assert apply_splices(after, reverse_splices(splices)) == before


@given(TEXTS)
def test_an_unchanged_text_has_no_splice(text: str) -> None:
    assert splices_between(text, text) == ()


def test_the_offset_counts_bytes() -> None:
    assert splices_between("🙂éa", "🙂éb") == (Splice(6, "a", "b"),)


def test_a_shared_prefix_and_suffix_do_not_overlap() -> None:
    assert splices_between("aa", "aaa") == (Splice(2, "", "a"),)


def test_the_text_between_two_changes_stays_out_of_the_splices() -> None:
    middle = "".join(f"- item {number}\n" for number in range(1000))
    splices = splices_between(f"# É\n{middle}\n## Log\n", f"# È\n{middle}\n## Log\n- changed\n")
    assert splices == (Splice(2, "É", "È"), Splice(5 + len(middle) + 7, "", "\n- changed"))


def test_a_moved_line_is_removed_and_inserted_and_the_others_stay() -> None:
    lines = [f"{letter * 30}\n" for letter in "abcdef"]
    splices = splices_between("".join(lines), "".join([*lines[1:], lines[0]]))
    assert [(len(each.removed), len(each.inserted)) for each in splices] == [(31, 0), (0, 31)]


def test_changes_close_to_each_other_are_one_splice() -> None:
    assert splices_between("a\nshort\nb\n", "A\nshort\nB\n") == (Splice(0, "a\nshort\nb", "A\nshort\nB"),)


def test_a_change_in_very_many_places_is_one_splice() -> None:
    lines = [f"line {number} is as long as it has to be\n" for number in range(1000)]
    changed = [line.upper() if number % 2 else line for number, line in enumerate(lines)]
    assert len(splices_between("".join(lines), "".join(changed))) == 1


@pytest.mark.parametrize(
    "splices",
    [
        [Splice(0, "b", "")],
        [Splice(9, "", "x")],
        [Splice(2, "cd", "")],
        [Splice(1, "bcd", "")],
        [Splice(0, "ab", ""), Splice(1, "b", "")],
    ],
)
def test_splices_that_do_not_fit_are_refused(splices: list[Splice]) -> None:
    with pytest.raises(PatchConflictError):
        apply_splices("abc", splices)
