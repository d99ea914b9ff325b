"""Erased passages in the changes of a document."""

from hypothesis import given
from hypothesis import strategies as st

from garden.grammar.gaps import Gaps, RecordedChange, fill_text
from garden.grammar.passages import Finder, PassageFinder, WholeTextFinder, without
from garden.grammar.splice import apply_splices, splices_between

PASSAGE = "ab é cd"
PIECES = st.lists(
    st.sampled_from(["ab", " ", "\u200b", "é", "É", "cd", "\n", "x", "ab é cd", "🙂"]), max_size=8
)
LOG_LINE = "- erased\n"
TEXTS = st.lists(st.tuples(PIECES.map("".join), st.booleans()), min_size=1, max_size=6)


def changes_of(texts: list[tuple[str, bool]]) -> list[RecordedChange]:
    """The changes that lead from one text to the next; those not carried out lead nowhere."""
    changes, before = [], ""
    for text, carried_out in texts:
        changes.append(RecordedChange(splices_between(before, text), carried_out))
        before = text if carried_out else before
    return changes


def erased(changes: list[RecordedChange], finder: Finder) -> list[str]:
    """Every version, with the removal at the end, after filling; the texts of failed changes too."""
    gaps = Gaps(changes, finder)
    before = gaps.text
    changes = [*changes, RecordedChange(gaps.removal(without(gaps.text, finder) + LOG_LINE), erases=True)]
    texts, text = [], ""
    for change, filled in zip(changes, Gaps(changes, finder).filled(), strict=True):
        for one, other in zip(change.splices, filled.splices, strict=True):
            assert one.offset == other.offset
            assert len(one.removed.encode()) == len(other.removed.encode())
            assert len(one.inserted.encode()) == len(other.inserted.encode())
        after = apply_splices(text, filled.splices)
        texts.append(after)
        if change.carried_out:
            text = after
            assert not filled.is_near or filled.text == text.encode()
    if isinstance(finder, PassageFinder) and not finder.find(before):
        assert texts[-1] == before + LOG_LINE
    return texts


@given(TEXTS)
def test_every_version_is_rebuilt_around_the_gaps_and_none_holds_the_passage(
    texts: list[tuple[str, bool]],
) -> None:
    finder = PassageFinder(PASSAGE)
    for text in erased(changes_of(texts), finder):
        assert finder.find(text) == []


@given(TEXTS)
def test_a_whole_document_is_filled_to_the_last_byte(texts: list[tuple[str, bool]]) -> None:
    for text in erased(changes_of(texts), WholeTextFinder()):
        assert set(text) <= {"x", "\n"}


def test_a_passage_that_was_put_in_by_pieces_is_filled_in_all_of_them() -> None:
    texts = [("- ab\n", True), ("- ab é\n", True), ("- ab é cd\n", True), ("- other\n", True)]
    assert erased(changes_of(texts), PassageFinder(PASSAGE)) == [
        "- xx\n", "- xxxxx\n", "- xxxxxxxx\n", "- other\n", "- other\n" + LOG_LINE,
    ]  # fmt: skip


def test_a_passage_that_appears_when_another_goes_is_filled_as_well() -> None:
    texts = [("1 ab é ab é cd cd 2", True)]
    assert erased(changes_of(texts), PassageFinder(PASSAGE)) == [
        f"1 {'x' * 17} 2",
        "1  2" + LOG_LINE,
    ]


def test_words_that_outlived_the_passage_stay_in_the_newest_version() -> None:
    texts = [("- my ab é cd is\n", True), ("- my ab is\n", True)]
    assert erased(changes_of(texts), PassageFinder(PASSAGE)) == [
        "- my xxxxxxxx is\n", "- my xxxis\n", "- my ab is\n" + LOG_LINE,
    ]  # fmt: skip


def test_a_passage_that_only_a_failed_change_would_have_made_is_filled() -> None:
    texts = [("ab \n", True), ("ab é cd\n", False), ("ab!\n", True)]
    assert erased(changes_of(texts), PassageFinder(PASSAGE)) == [
        "xxx\n",
        "xxxxxxxx\n",
        "xx!\n",
        "ab!\n" + LOG_LINE,
    ]


def test_a_text_of_its_own_is_filled_in_place() -> None:
    assert fill_text("1 AB \n é  cd 2", PassageFinder(PASSAGE)) == "1 xxx\nxxxxxxx 2"
