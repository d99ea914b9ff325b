import pytest
from hypothesis import given

from garden.grammar.parser import parse
from garden.grammar.values import Anchor
from tests.grammar.strategies import any_text, documents

PROFILE = """---
id: anxious-achiever
user_id: u1
schema: 1
---

# Anxious Achiever

Some words.

## Concerns
<!-- @anchor: concerns v1 -->

- says yes too fast
  and then regrets it

  - above all at work
- can't rest

## Needs
<!-- @anchor: needs v12 -->
rest
"""


@given(any_text())
def test_parsing_never_raises_and_keeps_the_text(text: str) -> None:
    document = parse(text)
    assert document.text == text
    assert isinstance(document.hash, str)
    for section in document.sections:
        assert all(item.span.of(text) for item in section.items)


@given(documents())
def test_sections_and_items_follow_each_other_and_their_spans_match_the_text(text: str) -> None:
    document = parse(text)
    position = document.frontmatter.span.end if document.frontmatter else 0
    for section in document.sections:
        assert position <= section.heading.span.start == section.span.start
        head_end = section.anchor_span.end if section.anchor_span else section.heading.span.end
        assert section.body_span == (head_end, section.span.end)
        assert section.body_span.of(text) == section.body
        assert section.span.of(text) == section.text
        position = section.span.end
    assert position <= len(text)
    for section in document.sections:
        position = section.body_span.start
        for item in section.items:
            assert position <= item.span.start < item.span.end <= section.body_span.end
            assert item.span.of(text).lstrip(" \t").startswith(item.marker)
            position = item.span.end


def test_a_profile_is_read_into_title_sections_anchors_and_items() -> None:
    document = parse(PROFILE)
    assert document.title == "Anxious Achiever"
    assert document.values == {"id": "anxious-achiever", "user_id": "u1", "schema": 1}
    assert [(section.name, section.line, section.body_line) for section in document.sections] == [
        ("concerns v1", 11, 13),
        ("needs v12", 20, 22),
    ]
    assert document.sections[1].anchor == Anchor("needs", 12)
    assert document.sections[1].body == "rest\n"
    assert not document.problems


def test_an_item_holds_its_continuation_lines_and_nested_items() -> None:
    first, second = parse(PROFILE).sections[0].items
    assert first.text == "says yes too fast\nand then regrets it\n\n- above all at work"
    assert (first.line, second.line) == (14, 18)
    assert second.span.of(PROFILE) == "- can't rest\n"


@pytest.mark.parametrize("newline", ["\r\n", "\r"])
def test_other_line_ends_change_no_structure(newline: str) -> None:
    plain, other = parse(PROFILE), parse(PROFILE.replace("\n", newline))
    assert [section.name for section in other.sections] == [section.name for section in plain.sections]
    assert [section.line for section in other.sections] == [section.line for section in plain.sections]
    assert [item.text for item in other.sections[0].items] == [item.text for item in plain.sections[0].items]
    assert other.values == plain.values
    assert other.newline == newline


def test_a_byte_order_mark_hides_neither_frontmatter_nor_the_first_heading() -> None:
    assert parse("\ufeff" + PROFILE).values["id"] == "anxious-achiever"
    assert parse("\ufeff## A\n").sections[0].heading.text == "A"


def test_a_section_ends_at_a_later_h1() -> None:
    document = parse("## A\nx\n# T\ny\n## B\n")
    assert [section.text for section in document.sections] == ["## A\nx\n", "## B\n"]


def test_an_anchor_counts_only_on_the_line_right_after_its_heading() -> None:
    document = parse("## A\n\n<!-- @anchor: a v1 -->\n")
    assert document.sections[0].anchor is None
    assert [(problem.code, problem.line) for problem in document.problems] == [("anchor_stray", 3)]


@pytest.mark.parametrize(
    "comment",
    [
        "<!-- @anchor: a -->",
        "<!-- @anchor: a v -->",
        "<!-- @anchor: a v1",
        "<!-- @anchor: a v1 --> x",
        "<!-- @anchor a v1 -->",
    ],
)
def test_a_malformed_anchor_is_a_problem_and_no_anchor(comment: str) -> None:
    document = parse(f"## A\n{comment}\n")
    assert document.sections[0].anchor is None
    assert [problem.code for problem in document.problems] == ["anchor_stray"]


def test_an_anchor_shown_in_a_fence_is_text() -> None:
    assert not parse("## A\n\n```\n<!-- @anchor: a v1 -->\n```\n").problems


def test_an_anchor_under_two_headings_is_reported_at_both() -> None:
    document = parse("## A\n<!-- @anchor: a v1 -->\n## B\n<!-- @anchor: a v1 -->\n")
    assert [(problem.code, problem.line) for problem in document.problems] == [
        ("anchor_duplicate", 2),
        ("anchor_duplicate", 4),
    ]
