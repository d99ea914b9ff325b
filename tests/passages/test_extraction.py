"""Items, dated entries, paragraphs and other blocks are passages with their heading, day and attributes."""

from datetime import date

import pytest
from hypothesis import given

from garden.grammar.document import SectionContent
from garden.grammar.parser import parse
from garden.passages.extraction import Passage, passages_in, pieces_of
from tests.grammar.strategies import documents, markdown, profiles

HEAD = "## Inbox\n<!-- @anchor: inbox v1 -->\n\n"


def passages_of(content: SectionContent, language: str | None = None) -> list[Passage]:
    return [passage for piece in pieces_of(content, language) for passage in passages_in(*piece)]


def passages(body: str, head: str = HEAD) -> list[Passage]:
    return [passage for content in parse(head + body).contents for passage in passages_of(content)]


def texts(body: str) -> list[str]:
    return [passage.text for passage in passages(body)]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("- a\n- b\n  more\n  - nested\n\n* c\n", ["a", "b\nmore\n- nested", "c"]),
        ("1. a\n2. b\n", ["a", "b"]),
        ("One\ntwo\n\nThree\n", ["One\ntwo", "Three"]),
        ("- a\n\nOne\n\n- b\n", ["a", "One", "b"]),
        (
            "2026-11-18: a\n\nmore\n\n> q\n\n2026-11-17: b\n",
            ["2026-11-18: a\n\nmore\n\n> q", "2026-11-17: b"],
        ),
        ("2026-11-18:\n\n```\n- x\n```\n\n- y\n", ["2026-11-18:\n\n```\n- x\n```", "y"]),
        ("2026-11-18:\n\n1. a\n2. b\n", ["2026-11-18:\n\n1. a\n2. b"]),
        (
            "2026-11-18: She said:\n\n- a\n\n- b\n\n- 2026-11-17: c",
            ["2026-11-18: She said:\n\n- a\n\n- b", "2026-11-17: c"],
        ),
        ("2026-11-18: a\n\n- b\n", ["2026-11-18: a", "b"]),
        (
            "a\n\n```\n- x\n\ny\n```\n\n> q\n> r\n\n| t |\n|---|\n",
            ["a", "```\n- x\n\ny\n```", "> q\n> r", "| t |\n|---|"],
        ),
        ("<!-- a\n\n- b\n-->\n\n- c\n\n---\n", ["c"]),
        ("- a\r\n  b\r\n\r\n2026-11-18: c\r\n", ["a\nb", "2026-11-18: c"]),
        ("-\n\n", []),
    ],
)
def test_a_section_is_divided(body: str, expected: list[str]) -> None:
    assert texts(body) == expected


@pytest.mark.parametrize(
    ("body", "day"),
    [
        ("- 2026-11-18: a", date(2026, 11, 18)),
        ("**2026-11-18** a", date(2026, 11, 18)),
        ("- a on 2026-11-18", None),
        ("- 2026-02-30: a", None),
        ("### Oslo, 2026-10-02\n\n- a", date(2026, 10, 2)),
        ("### Oslo, 2026-10-02\n\n#### Evening\n\n- a", date(2026, 10, 2)),
        ("### Oslo, 2026-10-02\n\n- 2026-10-01: a", date(2026, 10, 1)),
        ("### Oslo, 2026-10-02\n\n### Home\n\n- a", None),
        ("- 2026-W47 (weekly): a", date(2026, 11, 16)),
        ("- 2026-11-19 (daily): a", date(2026, 11, 19)),
        ("- 2026-11 (monthly): a", date(2026, 11, 1)),
        ("- 2026-Q4 (quarterly): a", date(2026, 10, 1)),
        ("- 2026 (yearly): a", date(2026, 1, 1)),
    ],
)
def test_a_passage_has_the_day_that_it_or_a_heading_names(body: str, day: date | None) -> None:
    assert [passage.day for passage in passages(body)] == [day]


def test_headings_below_the_section_s_are_the_context() -> None:
    found = passages("a\n\n### Trip to Oslo\n\nb\n\n#### Day\n\nc\n\n### Home\n\nd\n")
    assert [passage.heading for passage in found] == [
        *("Inbox", "Inbox > Trip to Oslo", "Inbox > Trip to Oslo > Day", "Inbox > Home")
    ]
    assert {passage.anchor for passage in found} == {"inbox v1"}


def test_a_section_without_anchor_is_named_by_its_heading_and_text_above_the_first_by_nothing() -> None:
    found = passages("", "---\nid: a\n---\nAbove\n\n# Notes\n\nIntro\n\n## Ideas\n\n- a\n")
    assert [(passage.anchor, passage.heading, passage.text) for passage in found] == [
        *(("", "", "Above"), ("", "Notes", "Intro"), ("Ideas", "Ideas", "a"))
    ]


def test_attributes_are_read_from_items_and_paragraphs_but_not_from_code() -> None:
    item, entry, code = passages("- a (priority: 7) #Sea #sea\n\nB #c\n\n```x #d\n```\n")
    assert (item.tags, item.priority, entry.tags, code.tags) == (("sea",), 7, ("c",), ())
    assert item.text == "a (priority: 7) #Sea #sea"


def test_a_language_is_given_or_that_of_the_section_s_beginning() -> None:
    content = parse(HEAD + "- Sie kam und blieb, weil es nicht ging\n" + "- tea\n" * 900).contents[1]
    assert {passage.language for passage in passages_of(content)} == {"de"}
    assert {passage.language for passage in passages_of(content, "fr")} == {"fr"}


@given(profiles())
def test_every_item_of_a_list_is_a_passage(text: str) -> None:
    for content in parse(text).contents:
        assert {item.text for item in content.items} <= {passage.text for passage in passages_of(content)}


@given(documents() | markdown())
def test_every_text_has_passages_of_some_words(text: str) -> None:
    for content in parse(text).contents:
        assert all(each.text.strip() and "\r" not in each.text for each in passages_of(content))
