"""Repairing a text: anchors and identity come back, the person's lines stay, twice equals once."""

from collections.abc import Callable
from itertools import dropwhile

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from garden.grammar.kinds.catalogue import load_kinds
from garden.grammar.kinds.template import template_text
from garden.grammar.lines import split_any_lines
from garden.grammar.parser import parse
from garden.grammar.refusals import RefusalError
from garden.grammar.repair import RepairedText, repair_text
from tests.grammar.strategies import markdown

IDENTITY = {"id": "critic", "user_id": "ada"}
NEEDS = "<!-- @anchor: needs v1 -->\n"
TOP = "---\nid: critic\nuser_id: ada\nschema: 1\n---\n"


def _whole() -> str:
    text = template_text(load_kinds()["part_profile"], "The Critic", IDENTITY)
    for anchor, words in (("concerns", "- c1\n- c2"), ("needs", "- n1\n- n2"), ("evidence", "- e1")):
        text = text.replace(f"@anchor: {anchor} v1 -->\n", f"@anchor: {anchor} v1 -->\n\n{words}\n")
    return text


GOOD = _whole()


def repair(text: str, good: str = GOOD) -> RepairedText:
    return repair_text(text, good, IDENTITY)


def anchors(text: str) -> list[str]:
    return [str(section.anchor) for section in parse(text).sections if section.anchor]


def body_of(text: str, name: str) -> str:
    return next(section.body for section in parse(text).sections if section.name == name)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", ""),
        (NEEDS, ""),
        (NEEDS, "<!-- @anchor needs -->\n"),
        (NEEDS, "<!-- @anchor: needs v1 --\n"),
        (NEEDS, "<!-- @anchor: needs v1\n"),
        (NEEDS, "<!- @anchor: needs v1 ->\n"),
        (NEEDS, "<!\u2014 @anchor: needs v1 \u2014>\n"),
        (NEEDS, "<!-- @anchor: wishes v1 -->\n"),
        (NEEDS, "<!-- @anchor: concerns v1 -->\n"),
        ("## Needs\n", ""),
        (f"## Needs\n{NEEDS}\n", ""),
        (TOP + "\n", ""),
        ("---\nid", "id"),
        ("schema: 1\n---\n", "schema: 1\n"),
        ("id: critic\n", ""),
        ("id: critic\n", "id: [critic\n"),
        ("id: critic", "id: somebody"),
        ("id: critic\nuser_id: ada\n", "id: x\nuser_id: y\n"),
        ("schema: 1", "schema: '1'"),
        (TOP, f"\n \n{TOP}"),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_damage_of_one_careless_edit_is_repaired_exactly(old: str, new: str, newline: str) -> None:
    damaged = GOOD.replace(old, new, 1).replace("\n", newline)
    assert repair(damaged).text == GOOD.replace("\n", newline)


def test_an_undamaged_text_is_unchanged() -> None:
    other = GOOD.replace("- n1", "- something else\n\n### And more").replace("## Needs", "## Wishes")
    assert repair(other) == RepairedText(other)


def test_a_reworded_heading_keeps_its_words_and_gets_its_comment() -> None:
    done = repair(GOOD.replace(f"## Needs\n{NEEDS}", "## What it longs for\n"))
    assert f"## What it longs for\n{NEEDS}" in done.text
    assert done.repairs == ("the anchor 'needs v1' under 'What it longs for'",)


def test_a_reworded_heading_may_have_its_comment_further_down() -> None:
    done = repair(GOOD.replace(f"## Needs\n{NEEDS}", f"## Longing\n\n\n{NEEDS}"))
    assert f"## Longing\n{NEEDS}" in done.text
    assert done.text.count("@anchor: needs") == 1


def test_a_heading_with_other_case_or_punctuation_is_the_same_heading() -> None:
    assert f"##  NEEDS!\n{NEEDS}" in repair(GOOD.replace(f"## Needs\n{NEEDS}", "##  NEEDS!\n")).text


def test_a_new_heading_above_new_words_is_not_taken_for_the_old_one() -> None:
    damaged = GOOD.replace(f"## Needs\n{NEEDS}\n- n1\n- n2\n", "## Groceries\n\n- milk\n")
    done = repair(damaged)
    assert body_of(done.text, "needs v1").strip() == ""
    assert body_of(done.text, "Groceries").strip() == "- milk"
    assert done.repairs == ("the section 'needs v1'",)


def test_a_missing_section_comes_back_empty_at_its_place() -> None:
    done = repair(GOOD.replace(f"## Needs\n{NEEDS}\n- n1\n- n2\n\n", ""))
    assert anchors(done.text) == anchors(GOOD)
    assert body_of(done.text, "needs v1").strip() == ""
    assert done.emptied == ("needs v1",)


def test_a_section_that_keeps_its_words_or_had_none_is_not_reported_as_emptied() -> None:
    assert repair(GOOD.replace(NEEDS, "")).emptied == ()
    without = GOOD.replace("- n1\n- n2\n", "")
    gone = without.replace(f"## Needs\n{NEEDS}\n", "")
    assert repair_text(gone, without, {}).repairs == ("the section 'needs v1'",)
    assert repair_text(gone, without, {}).emptied == ()


def test_words_between_two_sections_stay_where_they_are() -> None:
    damaged = GOOD.replace(f"## Needs\n{NEEDS}\n- n1\n- n2\n", "- mine\n")
    done = repair(damaged)
    assert body_of(done.text, "concerns v1").strip() == "- c1\n- c2\n\n- mine"


def test_words_beside_a_comment_stay_below_it() -> None:
    done = repair(GOOD.replace(NEEDS, NEEDS.replace("\n", " hello\n")))
    assert f"## Needs\n{NEEDS}hello\n" in done.text


def test_a_second_copy_of_an_anchor_is_removed() -> None:
    done = repair(GOOD.replace("- n1\n", f"- n1\n\n{NEEDS}\n"))
    assert done.text.count(NEEDS) == 1
    assert done.repairs == ("misplaced anchor comments",)


def test_a_demoted_heading_stays_in_the_section_with_its_words() -> None:
    done = repair(GOOD.replace("## Needs\n", "### Needs\n"))
    assert body_of(done.text, "needs v1").strip() == "- n1\n- n2"
    assert "### Needs\n" in done.text


def test_other_keys_stay_byte_for_byte() -> None:
    odd = "---\nmood:   'calm'   # so so\nid:  x   # mine\n\nlist:\n  - a\n  -   b\nuser_id: ada\n---\n"
    done = repair(GOOD.replace(TOP, odd))
    assert done.text.split("---\n")[1] == (
        "mood:   'calm'   # so so\nid: critic   # mine\n\nlist:\n  - a\n  -   b\nuser_id: ada\nschema: 1\n"
    )


@pytest.mark.parametrize("written", ["\n  - critic\n  - child", " [critic, child]", "\n- critic\n- child"])
@pytest.mark.parametrize("other", ["\n  - somebody", " [x, y]  # two", " nobody", ""])
def test_a_list_of_participants_comes_back_as_it_was_written(written: str, other: str) -> None:
    good = GOOD.replace("schema: 1\n", f"schema: 1\nparticipants:{written}\nmood: calm\n")
    damaged = good.replace(f"participants:{written}", f"participants:{other}")
    done = repair(damaged, good)
    assert parse(done.text).values["participants"] == ("critic", "child")
    assert f"participants:{written}" in done.text
    assert "mood: calm" in done.text


def test_an_unreadable_block_is_replaced_with_a_warning() -> None:
    done = repair(GOOD.replace("schema: 1", "schema: 1\n\tmood: {calm"))
    assert done.text == GOOD
    assert "the event log keeps" in done.warnings[0]


def test_an_unclosed_block_swallows_no_text_up_to_a_later_rule() -> None:
    damaged = GOOD.replace("schema: 1\n---\n", "schema: [1\n").replace("- n2\n", "- n2\n\n---\n\nmore\n")
    done = repair(damaged)
    assert done.text == GOOD.replace("- n2\n", "- n2\n\n---\n\nmore\n")


def test_an_empty_text_gets_all_anchors_and_identity_back() -> None:
    done = repair("")
    assert anchors(done.text) == anchors(GOOD)
    assert dict(parse(done.text).values) == dict(parse(GOOD).values)


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text.replace(f"## Needs\n{NEEDS}", "## Needs\n\n- a\n\n## Needs\n\n- b\n\n## Wants\n"),
        lambda text: text.replace(f"## Needs\n{NEEDS}\n- n1\n", "## A\n\n- n1\n\n## B\n\n"),
        lambda text: text.replace(f"## Needs\n{NEEDS}", f"{NEEDS}\n\n{NEEDS}"),
        lambda text: text.replace(f"## Needs\n{NEEDS}", "```\n\n"),
        lambda text: text.replace("\n# The Critic", f"{TOP}\n# The Critic"),
        lambda text: text.replace("id: critic\nuser_id: ada\nschema: 1", "{id: x, user_id: ada}"),
    ],
    ids=["two headings", "two new headings", "two comments", "an open fence", "two blocks", "a flow mapping"],
)
def test_an_ambiguous_repair_is_refused_with_a_hint(damage: Callable[[str], str]) -> None:
    with pytest.raises(RefusalError) as refused:
        repair(damage(GOOD))
    assert refused.value.code == "document_damaged"
    assert "editor" in refused.value.hint


def test_swapped_anchors_are_left_to_a_person() -> None:
    """Nothing is missing, so nothing is put back."""
    swapped = GOOD.replace("concerns v1", "?").replace("needs v1", "concerns v1").replace("?", "needs v1")
    assert repair(swapped) == RepairedText(swapped)


LINES = GOOD.splitlines(keepends=True)
CHANGES = st.one_of(
    st.tuples(st.just("drop"), st.integers(0, len(LINES)), st.just("")),
    st.tuples(st.just("put"), st.integers(0, len(LINES)), markdown(4)),
    st.tuples(
        st.just("cut"), st.integers(0, len(LINES)), st.sampled_from(["", "#", "##", "---", "<!-- @anchor"])
    ),
    st.tuples(st.just("twice"), st.integers(0, len(LINES)), st.just("")),
)


def edited_carelessly(changes: list[tuple[str, int, str]]) -> str:
    """Edit the text like a person who does not know what the comments are for."""
    lines = list(LINES)
    for how, at, words in changes:
        at = min(at, len(lines) - 1)
        match how:
            case "drop" if lines:
                del lines[at]
            case "put":
                lines.insert(at, f"{words}\n")
            case "cut" if lines:
                lines[at] = f"{words}\n"
            case "twice" if lines:
                lines.insert(at, lines[at])
            case _:
                pass
    return "".join(lines)


def kept(text: str, done: RepairedText) -> list[str]:
    """The person's lines: all but frontmatter and anchor comments."""
    front = parse(text).frontmatter
    below = text[front.span.end :] if front else text.removeprefix("\ufeff")
    lines = [line.rstrip("\r\n") for line in split_any_lines(below)]
    if "the lines around the frontmatter" in done.repairs:
        # What stands above the headings may be the value of an identity key, which goes on in the next line.
        lines = [*dropwhile(lambda line: not line.startswith("#"), lines)]
    return [line for line in lines if "@anchor" not in line]


@example([("drop", 0, ""), ("put", 1, "  - x\n")], "\n", "")
@given(st.lists(CHANGES, max_size=6), st.sampled_from(["\n", "\r\n"]), st.sampled_from(["", "\ufeff"]))
def test_any_damage_is_repaired_once_without_loss_or_refused(
    changes: list[tuple[str, int, str]], newline: str, mark: str
) -> None:
    damaged = mark + edited_carelessly(changes).replace("\r", "").replace("\n", newline)
    try:
        done = repair(damaged)
    except RefusalError:
        return
    after = parse(done.text)
    assert set(anchors(GOOD)) <= set(anchors(done.text))
    assert not after.malformed
    assert {**parse(GOOD).values, **after.values} == dict(after.values)
    assert done.text.startswith(mark)
    if not parse(damaged).malformed:
        following = iter([line.rstrip("\r\n") for line in split_any_lines(done.text)])
        assert all(line in following for line in kept(damaged, done)), (damaged, done.text)
    assert repair(done.text) == RepairedText(done.text)
