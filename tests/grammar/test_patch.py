import pytest
from hypothesis import given
from hypothesis import strategies as st
from unidiff import PatchSet  # type: ignore[attr-defined]

from garden.grammar.apply import apply
from garden.grammar.diffs import unified_diff
from garden.grammar.edits import ApplyDiff, WriteFile
from garden.grammar.parser import parse
from garden.grammar.patch import apply_diff
from garden.grammar.refusals import DiffDeletesFileError, InvalidInputError, PatchConflictError

LETTERS = "".join(f"{letter}\n" for letter in "abcdefghijklmnopqrst")
LINES = st.lists(
    st.sampled_from(
        [
            "a\n",
            "b\n",
            "a\r\n",
            "\n",
            "\r\n",
            "-- x\n",
            "++ y\n",
            "@@ z\n",
            "\\ w\n",
            " \n",
            "é🙂\n",
            "\x0c\n",
        ]
    ),
    max_size=25,
).map("".join)
TEXTS = st.tuples(LINES, st.sampled_from(["", "", "end", "\r", "\u2028", "a\rb"])).map("".join)


@given(TEXTS, TEXTS)
def test_a_diff_is_read_by_unidiff_and_applied_back_exactly(before: str, after: str) -> None:
    diff = unified_diff(before, after)
    assert (diff.text == "") == (before == after)
    if diff.text:
        (file,) = PatchSet(diff.text)
        assert (file.added, file.removed) == (diff.added, diff.removed)
        assert apply_diff(before, diff.text, "\n") == after


@given(TEXTS, TEXTS, st.integers(0, 12))
def test_a_diff_applies_below_additional_lines(before: str, after: str, above: int) -> None:
    diff = unified_diff(before, after)
    shift = "".join(f"above {number}\n" for number in range(above))
    if diff.text and before:
        try:
            result = apply_diff(shift + before, diff.text, "\n")
        except PatchConflictError:
            return
        # If the same lines occur again further down, the hunk may name that place by chance.
        assert result == shift + after or len(set(before.split("\n"))) < len(before.split("\n"))


@pytest.mark.parametrize(
    ("before", "after"), [("", "a\n"), ("a\n", ""), ("a", "a\n"), ("a\n", "a"), ("", "\n")]
)
def test_the_shortest_texts_there_and_back(before: str, after: str) -> None:
    assert apply_diff(before, unified_diff(before, after).text, "\n") == after


def test_a_diff_may_come_without_the_two_file_lines() -> None:
    assert apply_diff("a\nb\n", "\n@@ -1,2 +1,2 @@\n a\n-b\n+c", "\n") == "a\nc\n"


def test_a_hunk_applies_at_another_place_if_it_is_the_only_one() -> None:
    assert apply_diff(LETTERS, "@@ -1,2 +1,2 @@\n m\n-n\n+N\n", "\n") == LETTERS.replace("n", "N")


def test_a_hunk_that_matches_at_its_line_need_not_be_unique() -> None:
    assert apply_diff("a\nb\na\nb\n", "@@ -3,2 +3,2 @@\n a\n-b\n+c\n", "\n") == "a\nb\na\nc\n"


def test_later_hunks_shift_by_the_offset_of_earlier_ones() -> None:
    diff = "@@ -1,2 +1,3 @@\n c\n+new\n d\n@@ -3,1 +4,1 @@\n-x\n+y\n"
    assert apply_diff("0\n0\nc\nd\nx\nx\n", diff, "\n") == "0\n0\nc\nnew\nd\ny\nx\n"


def test_a_hunk_that_matches_nowhere_is_named_and_shown_the_nearest_text() -> None:
    with pytest.raises(PatchConflictError) as caught:
        apply_diff("one two\nthree four\nfive\n", "@@ -1,2 +1,2 @@\n three for\n-fife\n+six\n", "\n")
    assert "Hunk 1 matches nowhere" in caught.value.message
    assert caught.value.details["nearest"] == "three four\nfive"
    assert caught.value.details["nearestLine"] == 2


def test_a_hunk_that_matches_twice_is_refused_and_lists_the_lines() -> None:
    with pytest.raises(PatchConflictError) as caught:
        apply_diff("x\na\nx\na\n", "@@ -9,1 +9,1 @@\n-a\n+b\n", "\n")
    assert caught.value.details == {"hunk": 1, "lines": [2, 4]}


@pytest.mark.parametrize("line", [" x", "x ", "X"])
def test_context_must_match_exactly(line: str) -> None:
    with pytest.raises(PatchConflictError):
        apply_diff("x\ny\n", f"@@ -1,2 +1,2 @@\n {line}\n-y\n+z\n", "\n")


@pytest.mark.parametrize("newline", ["\r\n", "\r"])
def test_a_plain_diff_fits_a_text_with_other_line_ends_and_keeps_them(newline: str) -> None:
    before = "a\nb\nc\n".replace("\n", newline)
    assert apply_diff(before, "@@ -1,3 +1,4 @@\n a\n-b\n+B\n+BB\n c\n", newline) == newline.join(
        ["a", "B", "BB", "c", ""]
    )


def test_a_diff_with_carriage_returns_fits_a_plain_text() -> None:
    assert apply_diff("a\nb\n", "@@ -1,2 +1,2 @@\r\n a\r\n-b\r\n+c\r\n", "\n") == "a\nc\n"


def test_a_text_without_a_final_line_end_stays_without_it() -> None:
    assert apply_diff("a\nb", "@@ -1,2 +1,3 @@\n a\n b\n+c\n", "\n") == "a\nb\nc"


def test_the_marker_for_a_missing_line_end_is_honoured() -> None:
    diff = "@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n"
    assert apply_diff("a\n", diff, "\n") == "b"


@pytest.mark.parametrize(
    "diff",
    [
        "",
        "words",
        "--- a\n+++ b\n",
        "@@ -1,2 +1,2 @@\n-a\n+b\n",
        "@@ -1 +1 @@\n-a\n+b\n+c\n",
        "@@ -1 +1 @@\n-a\n+b\n words\n",
        "@@ -1 +1 @@\n-a\n*b\n",
        "@@ x @@\n-a\n",
        "--- a\n+++ b\n@@ -1 +1 @@\n-a\n+b\n--- c\n+++ d\n@@ -1 +1 @@\n-a\n+b\n",
        "+++ b\n@@ -1 +1 @@\n-a\n+b\n",
        "diff --git a/x b/y\nrename from x\nrename to y\n",
    ],
)
def test_an_unreadable_diff_is_refused(diff: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        apply_diff("a\n", diff, "\n")
    assert caught.value.hint


def test_a_diff_that_deletes_the_file_is_refused() -> None:
    with pytest.raises(DiffDeletesFileError):
        apply_diff("a\n", "--- a\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", "\n")


def test_a_hunk_without_context_is_refused() -> None:
    with pytest.raises(PatchConflictError):
        apply_diff("a\n", "@@ -1,0 +2 @@\n+b\n", "\n")


@given(st.text("@-+ \\,0123ab\n\r", max_size=60))
def test_reading_a_diff_raises_nothing_but_refusals(diff: str) -> None:
    for text in (diff, "@@ -1,2 +1,2 @@\n" + diff):
        try:
            apply_diff("a\nb\n", text, "\n")
        except (InvalidInputError, PatchConflictError, DiffDeletesFileError):
            continue


def test_a_long_text_that_changed_throughout_is_compared_in_bounded_time() -> None:
    before = "".join(f"line {number}\n" for number in range(30_000))
    diff = unified_diff(before, before.replace("line", "words"))
    assert (diff.added, diff.removed) == (30_000, 30_000)


def test_frequent_lines_are_compared_in_bounded_time() -> None:
    before = "".join(f"same\nline {number}\n" for number in range(1_000))
    after = before.replace("line", "words")
    assert apply_diff(before, unified_diff(before, after).text, "\n") == after


def test_a_hunk_of_equal_lines_is_searched_in_bounded_time() -> None:
    alike = " x\n" * 40_000
    with pytest.raises(PatchConflictError, match="matches nowhere"):
        apply_diff("x\n" * 80_000, f"@@ -1,40001 +1,40000 @@\n{alike}-y\n", "\n")


def test_thousands_of_misplaced_hunks_are_refused_in_bounded_time() -> None:
    text = "".join(f"{number}\n" for number in range(100_000))
    hunks = "".join(f"@@ -1 +1 @@\n-{number}\n+x\n" for number in range(0, 100_000, 7))
    with pytest.raises(PatchConflictError, match="Too many hunks"):
        apply_diff(text, hunks, "\n")


@given(st.lists(st.sampled_from("ab"), max_size=14), st.lists(st.sampled_from("ab"), min_size=1, max_size=5))
def test_a_hunk_matches_exactly_the_places_that_hold_its_lines(keys: list[str], source: list[str]) -> None:
    places = [at for at in range(len(keys)) if keys[at : at + len(source)] == source]
    minus = "".join(f"-{line}\n" for line in source)
    diff = f"@@ -99,{len(source)} +99,1 @@\n{minus}+c\n"
    text = "".join(f"{line}\n" for line in keys)
    if len(places) == 1:
        rest = [*keys[: places[0]], "c", *keys[places[0] + len(source) :]]
        assert apply_diff(text, diff, "\n") == "".join(f"{line}\n" for line in rest)
        return
    with pytest.raises(PatchConflictError) as caught:
        apply_diff(text, diff, "\n")
    if places:
        assert caught.value.details["lines"] == [place + 1 for place in places]


def test_the_diff_of_an_edit_makes_the_same_edit() -> None:
    before = parse("# T\r\n\r\nwords\r\n")
    applied = apply(before, WriteFile("# T\r\n\r\nother"))
    assert apply(before, ApplyDiff(applied.diff("notes.md").text)).text == applied.text
