from hypothesis import given
from hypothesis import strategies as st

from garden.grammar.undo import Replacement, follow, replacements, take_back

LINES = st.lists(st.sampled_from(["- a\n", "- b\n", "- c\n", "\n", "## H\n"]), max_size=8)
ITEMS = st.lists(st.sampled_from([f"- {number}\n" for number in range(20)]), unique=True, max_size=5)


@given(LINES, LINES)
def test_undoing_the_newest_change_gives_the_text_before(old: list[str], new: list[str]) -> None:
    before, after = "".join(old), "".join(new)
    assert take_back(before, after, after).text == before
    assert take_back(before, after, before).text == before


@given(LINES, ITEMS, ITEMS, ITEMS, ITEMS)
def test_an_undo_commutes_with_an_edit_elsewhere(
    middle: list[str], old: list[str], new: list[str], above: list[str], above_later: list[str]
) -> None:
    apart = ["# Between\n", *middle, "# Below\n"]

    def text(top: list[str], bottom: list[str]) -> str:
        return "".join(["# Top\n", *top, *apart, *(line.replace("-", "+") for line in bottom)])

    taken = take_back(text(above, old), text(above, new), text(above_later, new))
    assert (taken.conflicts, taken.text) == ((), text(above_later, old))
    below = take_back(text(old, above), text(new, above), text(new, above_later))
    assert (below.conflicts, below.text) == ((), text(old, above_later))


def test_an_item_between_later_neighbours_goes_alone() -> None:
    taken = take_back("a\n", "a\nb\n", "x\na\nb\nc\n")
    assert taken.text == "x\na\nc\n"


def test_an_item_that_was_taken_out_comes_back_above_the_one_that_took_its_place() -> None:
    assert take_back("a\nb\n", "a\n", "a\nc\n").text == "a\nb\nc\n"


def test_a_line_that_was_changed_again_is_a_conflict() -> None:
    taken = take_back("a\nb\n", "a\nB\n", "a\nBB\n")
    assert (taken.text, taken.conflicts) == ("a\nBB\n", (Replacement(1, 2, ("b\n",)),))


def test_a_removal_between_lines_that_were_rewritten_is_a_conflict() -> None:
    assert take_back("a\nb\nc\n", "a\nc\n", "one line\n").conflicts


def test_what_a_later_edit_has_undone_already_is_left_alone() -> None:
    assert take_back("a\n", "a\nb\n", "a\nc\n").conflicts
    for before, after, now in (
        ("a\n", "a\nb\n", "a\n"),
        ("a\nb\n", "a\n", "a\nb\nc\n"),
        ("a\nb\nc\n", "a\nB\nc\n", "a\nb\nC\n"),
        ("a\n", "a\nb\nc\n", "a\n"),
    ):
        taken = take_back(before, after, now)
        assert (taken.text, taken.conflicts) == (now, ())


def test_half_of_an_addition_that_is_left_goes_too() -> None:
    assert take_back("a\n", "a\nb\nc\n", "a\nc\n").text == "a\n"


@given(LINES, LINES, st.integers(0, 8))
def test_a_place_is_followed_through_a_change(old: list[str], new: list[str], at: int) -> None:
    marked = [*old[:at], "- mark\n", *old[at:]]
    start = len(old[:at])
    place, touched = follow(Replacement(start, start + 1, ()), replacements(marked, [*new, "- mark\n"]))
    assert touched or (place.start, place.end) == (len(new), len(new) + 1)
    place, touched = follow(Replacement(start, start + 1, ()), replacements(marked, [*new, "- else\n"]))
    assert touched


def test_a_place_grows_and_shrinks_with_the_lines_that_take_its_place() -> None:
    place, touched = follow(Replacement(1, 2, ()), replacements(["a", "b", "c"], ["x", "a", "B", "BB", "c"]))
    assert (place.start, place.end, touched) == (2, 4, True)
    place, touched = follow(Replacement(1, 3, ()), replacements(["a", "b", "c"], ["a"]))
    assert (place.start, place.end, touched) == (1, 1, True)
