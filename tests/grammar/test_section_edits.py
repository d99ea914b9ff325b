from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from garden.grammar.apply import apply
from garden.grammar.edits import AppendToSection, ReplaceSection
from garden.grammar.parser import parse
from garden.grammar.refusals import (
    AnchorInTextError,
    HeadingInSectionError,
    InvalidInputError,
    RefusalError,
)
from tests.grammar.fixture_files import cases
from tests.grammar.strategies import HEAD, markdown, profiles

FIXTURES = Path(__file__).parent / "fixtures"
SECTIONS = st.sampled_from(("summary v1", "concerns"))
PLAIN = "# T\n\n## A\n<!-- @anchor: a v1 -->\n\nold\n\n## B\n<!-- @anchor: b v1 -->\n\nkeep\n"


@pytest.mark.parametrize(("before", "text", "after"), cases(FIXTURES / "replace.md"))
def test_replacing_section_a(before: str, text: str, after: str) -> None:
    assert apply(parse(before), ReplaceSection("a", text)).text == after


@pytest.mark.parametrize(("before", "text", "after"), cases(FIXTURES / "append.md"))
def test_appending_to_section_a(before: str, text: str, after: str) -> None:
    assert apply(parse(before), AppendToSection("a", text)).text == after


@given(profiles(), SECTIONS, markdown(5), st.booleans())
def test_an_edit_changes_only_its_section_and_a_second_replacement_changes_nothing(
    profile: str, section: str, text: str, append: bool
) -> None:
    before = parse(profile)
    edit = AppendToSection(section, text) if append else ReplaceSection(section, text)
    try:
        after = apply(before, edit).after
    except RefusalError:
        assume(False)
    assert append or apply(after, edit).text == after.text
    position = 0 if section.startswith("summary") else 1
    assert [part.name for part in after.sections] == [part.name for part in before.sections]
    old, new = before.sections[position], after.sections[position]
    assert after.text[: new.body_span.start] == before.text[: old.body_span.start]
    assert after.text[new.span.end :] == before.text[old.span.end :]


@given(profiles(), SECTIONS)
def test_replacing_a_body_with_itself_changes_nothing(profile: str, section: str) -> None:
    before = parse(profile)
    body = before.sections[0 if section.startswith("summary") else 1].body
    assert apply(before, ReplaceSection(section, body)).unchanged


@given(profiles(), st.lists(SECTIONS, min_size=1, max_size=4))
def test_emptying_and_refilling_adds_no_blank_lines(profile: str, sections: list[str]) -> None:
    document = parse(profile)
    for section in sections:
        document = apply(document, ReplaceSection(section, "words")).after
    filled = document.text
    for section in sections:
        document = apply(document, ReplaceSection(section, "")).after
        document = apply(document, ReplaceSection(section, "words")).after
    emptied_once = document.text
    for section in sections:
        document = apply(document, ReplaceSection(section, "")).after
        document = apply(document, ReplaceSection(section, "words")).after
    assert document.text == emptied_once
    assert emptied_once.count("words") == filled.count("words")


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("## New", HeadingInSectionError),
        ("# New", HeadingInSectionError),
        ("words\n\n  ## New", HeadingInSectionError),
        ("New\n---", HeadingInSectionError),
        ("New\n===", HeadingInSectionError),
        ("- item\n## New", HeadingInSectionError),
        ("##", HeadingInSectionError),
        ("<!-- @anchor: b v1 -->", AnchorInTextError),
        ("words <!--@anchor: b v1--> words", AnchorInTextError),
        ("```\n<!-- @anchor: b v1 -->\n```", AnchorInTextError),
        ("<!--\n@anchor: b v1 -->", AnchorInTextError),
        ("```\ncode", InvalidInputError),
        ("~~~~\ncode\n~~~", InvalidInputError),
        ("<!-- comment", InvalidInputError),
        ("<script>", InvalidInputError),
        ("<?php", InvalidInputError),
        ("<!DOCTYPE", InvalidInputError),
        ("<![CDATA[", InvalidInputError),
        ("- " * 10 + "x", InvalidInputError),
    ],
)
@pytest.mark.parametrize("section", ["a", "b"])
def test_text_that_would_affect_other_sections_is_refused(
    section: str, text: str, error: type[RefusalError]
) -> None:
    for edit in (ReplaceSection(section, text), AppendToSection(section, text)):
        with pytest.raises(error) as caught:
            apply(parse(PLAIN), edit)
        assert caught.value.hint


@pytest.mark.parametrize(
    "text",
    [
        "### deeper",
        "> ## quoted",
        "- ## in an item",
        "```\n## shown\n```",
        "`## code`",
        "    ## code",
        "\\## x",
        "##x",
        "<div>\n## x\n</div>",
    ],
)
def test_text_that_only_looks_like_a_heading_is_accepted(text: str) -> None:
    applied = apply(parse(PLAIN), ReplaceSection("a", text))
    assert [section.name for section in applied.after.sections] == ["a v1", "b v1"]
    assert text in applied.text


def test_an_edit_names_its_section_before_and_after() -> None:
    text = PLAIN + "\n## A2\n<!-- @anchor: a v2 -->\n"
    applied = apply(parse(text), ReplaceSection("a v2", "new"))
    assert applied.section_before == parse(text).sections[-1]
    assert applied.section_after == applied.after.sections[-1]


def test_a_section_that_was_looked_up_already_is_edited() -> None:
    document = parse(PLAIN)
    edit = ReplaceSection("b v1", "new")
    assert apply(document, edit, section=document.sections[1]) == apply(document, edit)


def test_appending_nothing_is_refused() -> None:
    with pytest.raises(InvalidInputError):
        apply(parse(PLAIN), AppendToSection("a", " \n\t\n"))


def test_appending_below_an_open_fence_is_refused() -> None:
    text = PLAIN.replace("keep", "```\nopen")
    with pytest.raises(InvalidInputError):
        apply(parse(text), AppendToSection("b", "swallowed"))


def test_text_that_closes_a_fence_above_and_begins_a_section_is_refused() -> None:
    text = PLAIN.replace("keep", "```\nopen")
    with pytest.raises(HeadingInSectionError):
        apply(parse(text), AppendToSection("b", "```\n## x"))


def test_frontmatter_comments_and_unknown_keys_survive() -> None:
    text = HEAD + "\n## A\n<!-- @anchor: a v1 -->\n"
    assert apply(parse(text), ReplaceSection("a", "x")).text.startswith(HEAD)


def test_appending_below_an_open_fence_names_the_section() -> None:
    document = parse("# T\n\n## Concerns\n<!-- @anchor: concerns v1 -->\n\n```\ncode\n")
    with pytest.raises(InvalidInputError, match="The section 'concerns v1' ends inside a code fence"):
        apply(document, AppendToSection("concerns v1", "more"))
