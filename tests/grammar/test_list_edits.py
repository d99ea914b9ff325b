import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from garden.grammar.apply import apply
from garden.grammar.edits import AppendItem, CurateList, ListOp, MergeItems, PruneItem
from garden.grammar.parser import parse
from garden.grammar.refusals import (
    AnchorInTextError,
    InvalidInputError,
    ItemNotFoundError,
    PatchConflictError,
    RefusalError,
)
from tests.grammar.strategies import markdown, profiles

HEAD = "## Evidence\n<!-- @anchor: evidence v1 -->\n\n"
LIST = """- "I can't rest" (ev:s1-m2)
  said twice

  - nested
- "It was fine" (ev:s1-m20)
- 3 cups of tea
"""


def curate(body: str, *ops: ListOp) -> str:
    return apply(parse(HEAD + body), CurateList("evidence", ops)).text.removeprefix(HEAD)


def test_an_item_is_added_below_the_last() -> None:
    assert curate(LIST, AppendItem("new")) == LIST + "- new\n"


def test_an_item_is_added_above_words_below_the_list() -> None:
    assert curate("- a\n\nwords\n", AppendItem("b")) == "- a\n- b\n\nwords\n"


def test_the_first_item_of_a_section() -> None:
    assert curate("", AppendItem("a")) == "\n- a\n".removeprefix("\n")
    assert curate("words\n", AppendItem("a")) == "words\n\n- a\n"


def test_a_marker_in_the_text_is_not_doubled() -> None:
    assert curate("* a\n", AppendItem("- b")) == "* a\n* b\n"


def test_a_numbered_list_continues_its_count() -> None:
    assert curate("1. a\n2. b\n", AppendItem("c\nmore")) == "1. a\n2. b\n3. c\n   more\n"


def test_lines_and_lists_below_the_first_line_are_nested() -> None:
    assert curate("- a\n", AppendItem("b\nmore\n\n- nested")) == "- a\n- b\n  more\n\n  - nested\n"


def test_a_loose_list_stays_loose() -> None:
    assert curate("- a\n\n- b\n", AppendItem("c")) == "- a\n\n- b\n\n- c\n"


@pytest.mark.parametrize(
    "match",
    [
        "ev:s1-m2",
        "(ev:s1-m2)",
        "1: \"I can't",
        "#1 \"I can't rest",
        '"I can\'t rest" (ev:s1-m2) said twice - nested',
    ],
)
def test_an_item_is_pruned_with_everything_nested_in_it(match: str) -> None:
    assert curate(LIST, PruneItem(match)) == '- "It was fine" (ev:s1-m20)\n- 3 cups of tea\n'


def test_the_whole_text_of_an_item_takes_precedence_over_a_number() -> None:
    assert "cups" not in curate(LIST, PruneItem("3 cups of tea"))
    assert "cups" not in curate(LIST, PruneItem("- 3 cups of tea"))


@pytest.mark.parametrize(
    "match", ["ev:s1", "ev:s1-m", "s1-m2", "cups", "2: cups", "9: x", "0: x", "1: said", "3"]
)
def test_a_match_that_is_not_exact_finds_nothing_and_lists_the_items(match: str) -> None:
    with pytest.raises(ItemNotFoundError) as caught:
        curate(LIST, PruneItem(match))
    assert caught.value.details["items"][2] == "3: 3 cups of tea"


@pytest.mark.parametrize("longer", ["ev:s1.2", "ev:s1:2", "ev:s1/2", "ev:s1..2"])
def test_the_beginning_of_a_token_is_not_the_token(longer: str) -> None:
    with pytest.raises(ItemNotFoundError):
        curate(f"- x ({longer})\n", PruneItem("ev:s1"))


@pytest.mark.parametrize(
    "text", ["x (ev:s1)", "ev:s1. Then x", "x (ev:s1, ev:s2)", "ev:s1,ev:s2", "as ev:s1: x"]
)
def test_a_token_is_found_before_any_punctuation(text: str) -> None:
    assert curate(f"- {text}\n- y\n", PruneItem("ev:s1")) == "- y\n"


def test_an_empty_match_or_no_operation_is_refused() -> None:
    for ops in ((), (PruneItem(" "),), (AppendItem(" \n"),), (MergeItems('1: "I', ()),)):
        with pytest.raises(InvalidInputError) as caught:
            curate(LIST, *ops)
        assert caught.value.hint


def test_a_pruned_item_leaves_no_gap() -> None:
    assert curate("- a\n\n- b\n\n- c\n", PruneItem("b")) == "- a\n\n- c\n"
    assert curate("words\n\n- a\n\nwords\n", PruneItem("a")) == "words\n\nwords\n"
    assert curate("- a\n", PruneItem("a")) == ""


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_words_around_a_pruned_item_stay_apart(newline: str) -> None:
    for body, left in (
        ("words\n- a\n\nother words\n", "words\n\nother words\n"),
        ("- b\n- a\n\nwords\n", "- b\n\nwords\n"),
        ("- b\n- a\n\n- c\n", "- b\n- c\n"),
        ("words\n- a\n\n===\n", "words\n\n===\n"),
        ("- a\n\nwords\n", "words\n"),
    ):
        text = (HEAD + body).replace("\n", newline)
        after = apply(parse(text), CurateList("evidence", (PruneItem("a"),))).text
        assert after == (HEAD + left).replace("\n", newline)


def test_a_merge_without_text_keeps_every_word() -> None:
    merged = curate(LIST, MergeItems("ev:s1-m2", ("3: 3 cups", "ev:s1-m20")))
    assert merged == (
        '- "I can\'t rest" (ev:s1-m2); 3 cups of tea; "It was fine" (ev:s1-m20)\n  said twice\n\n  - nested\n'
    )


def test_a_merge_uses_the_given_text() -> None:
    merged = curate("- a\n- b\n- c\n", MergeItems("c", ("a",), "both\nof them"))
    assert merged == "- b\n- both\n  of them\n"


@pytest.mark.parametrize("sources", [("a",), ("b", "b"), ("b", "2: b"), ("b", "a")])
def test_a_merge_of_an_item_with_itself_is_refused(sources: tuple[str, ...]) -> None:
    with pytest.raises(InvalidInputError):
        curate("- a\n- b\n", MergeItems("a", sources))


def test_operations_apply_in_order() -> None:
    assert curate("- a\n- b\n", PruneItem("a"), AppendItem("c"), MergeItems("c", ("b",), "d")) == "- d\n"


def test_one_refused_operation_refuses_the_whole_edit() -> None:
    with pytest.raises(ItemNotFoundError):
        curate("- a\n- b\n", PruneItem("a"), PruneItem("x"))


@pytest.mark.parametrize("text", ["---", "- - - - - - - - - - - x"])
def test_text_that_is_no_single_item_is_refused(text: str) -> None:
    with pytest.raises((PatchConflictError, InvalidInputError)):
        curate("- a\n", AppendItem(text))


def test_a_fence_left_open_in_an_item_ends_with_the_item() -> None:
    curated = curate("- a\n", AppendItem("b\n```"), AppendItem("c"))
    assert curated == "- a\n- b\n  ```\n- c\n"
    assert [item.text for item in parse(HEAD + curated).sections[0].items] == ["a", "b\n```", "c"]


def test_an_anchor_in_an_item_is_refused() -> None:
    with pytest.raises(AnchorInTextError):
        curate("- a\n", AppendItem("<!-- @anchor: x v1 -->"))


@given(profiles(), markdown(3))
def test_adding_an_item_keeps_its_words_and_the_other_items(profile: str, text: str) -> None:
    before = parse(profile)
    old = before.sections[1].items
    try:
        after = apply(before, CurateList("concerns", (AppendItem(text),))).after
    except RefusalError:
        assume(False)
    new = after.sections[1].items
    assert [item.text for item in new[:-1]] == [item.text for item in old]
    assert "".join(new[-1].text.split()) in "".join(("-" + text).split())


@given(profiles(), st.integers(0, 3))
def test_pruning_removes_one_item_and_keeps_the_others(profile: str, seed: int) -> None:
    before = parse(profile)
    old = before.sections[1].items
    assume(old)
    number = seed % len(old) + 1
    first_words = old[number - 1].text.split("\n")[0]
    after = apply(before, CurateList("concerns", (PruneItem(f"{number}: {first_words}"),))).after
    kept = [item.text for position, item in enumerate(old) if position != number - 1]
    assert [item.text for item in after.sections[1].items] == kept


def test_more_operations_than_the_limit_are_refused() -> None:
    document = parse("# T\n\n## Concerns\n<!-- @anchor: concerns v1 -->\n")
    with pytest.raises(InvalidInputError, match="101 operations are too many"):
        apply(document, CurateList("concerns v1", tuple(AppendItem(str(number)) for number in range(101))))
