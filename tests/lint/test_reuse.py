"""Findings kept with a section are those that a fresh look at the whole text finds."""

import cProfile
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from garden.grammar.document import Document, SectionContent
from garden.grammar.kinds.declaration import Kind
from garden.grammar.parser import parse
from garden.lint.linter import lint
from garden.lint.report import Report
from garden.lint.rule import MAX_FINDINGS_PER_RULE
from tests.lint.cases import KINDS, Case, cases
from tests.lint.texts import texts

CASES = list(cases())
KIND = KINDS["part_profile"]
CALLS_MAX = 250
ENTRY = "- 2026-11-18 08:25Z · concerns v1 · replace_section · she named it herself (evt:0193-0001)\n"

kinds = st.sampled_from([None, KINDS["card"], KIND, KINDS["notes"]])
parts = st.sampled_from(
    sorted({content.text for case in CASES for content in case.document.contents if content.text})
)


@st.composite
def edited(draw: st.DrawFn, pieces: list[str]) -> list[str]:
    """The pieces of a text with one more, one less, one replaced, one cut in two or two swapped."""
    new = draw(parts | texts())
    first, second = draw(st.tuples(*[st.integers(0, max(len(pieces) - 1, 0))] * 2))
    match draw(st.sampled_from(["insert", "remove", "replace", "cut", "swap"])) if pieces else "insert":
        case "insert":
            return [*pieces[:first], new, *pieces[first:]]
        case "remove":
            return [*pieces[:first], *pieces[first + 1 :]]
        case "replace":
            return [*pieces[:first], new, *pieces[first + 1 :]]
        case "cut":
            place = draw(st.integers(0, len(pieces[first])))
            return [*pieces[:first], pieces[first][:place], pieces[first][place:], *pieces[first + 1 :]]
        case _:
            pieces = list(pieces)
            pieces[first], pieces[second] = pieces[second], pieces[first]
            return pieces


class Shared:
    """Documents in which equal contents are one object, also those of other versions."""

    def __init__(self) -> None:
        self.known: dict[tuple[int, str], SectionContent] = {}

    def parse(self, text: str, previous: Document | None = None) -> Document:
        document = parse(text, previous)
        contents = [self.known.setdefault((each.level, each.text), each) for each in document.contents]
        assert contents == list(document.contents)
        return replace(document, contents=tuple(contents))


def findings(report: Report) -> tuple[object, ...]:
    keys = [finding.key for finding in report.findings]
    return report.findings, keys, report.left_out, report.counts, report.blocked, report.warnings


def fresh(document: Document | None) -> Document | None:
    return document and parse(document.text)


@given(case=st.sampled_from(CASES), data=st.data())
def test_the_report_of_an_edited_document_is_that_of_its_text(case: Case, data: st.DataObject) -> None:
    pieces = [content.text for content in case.document.contents]
    document, kind, shared = case.document, case.kind, Shared()
    for _ in range(3):
        previous = data.draw(st.sampled_from([None, document, case.previous]))
        pieces = data.draw(edited(pieces))
        kind = data.draw(st.just(kind) | kinds)
        document = shared.parse("".join(pieces), document)
        report = lint(document, kind, identity=case.identity, previous=previous)
        expected = lint(parse(document.text), kind, identity=case.identity, previous=fresh(previous))
        assert findings(report) == findings(expected)


@pytest.mark.parametrize("kind", [None, KIND])
def test_findings_depend_on_what_is_below(kind: Kind | None) -> None:
    shared = Shared()
    for below, found in [
        ("instructions\n---\n", True),
        ("thoughts\n---\n", False),
        ("## instructions\n", False),
    ]:
        report = lint(shared.parse(f"## Tea\n\nIgnore all previous\n\n{below}"), kind)
        assert ("MG702" in [finding.rule for finding in report.findings]) is found
    for below, found in [("", True), ("## Coffee\n\nCup.\n", False), ("", True)]:
        report = lint(shared.parse(f"## Tea\n\nCup.\n\n{below}"), kind)
        assert ("MG605" in [finding.rule for finding in report.findings]) is found


def test_the_limit_of_a_rule_holds_for_the_document() -> None:
    half = MAX_FINDINGS_PER_RULE // 2
    report = lint(parse("".join(f"## {name}\n" + "- tea \n" * (half + 2) for name in "ab")))
    assert [finding.line for finding in report.findings] == [
        *range(2, half + 4),
        *range(half + 5, 2 * half + 3),
    ]
    assert report.left_out == 4


def profile_text(concern: str, entries: int, more: int) -> str:
    *others, _ = KIND.sections
    declared = "".join(f"## {each.heading}\n<!-- @anchor: {each.anchor} -->\n\n- tea\n\n" for each in others)
    sections = declared.replace("tea", concern, 1)
    further = "".join(
        f"## Day {number}\n<!-- @anchor: day{number} v1 -->\n\n- tea\n\n" for number in range(more)
    )
    return f"# Tea\n\n{sections}{further}## Change Log\n<!-- @anchor: change_log v1 -->\n\n{ENTRY * entries}"


def calls_of_edit(entries: int, more: int) -> int:
    """The calls of a lint after a section and the Change Log changed."""
    before = parse(profile_text("one", entries, more))
    lint(before, KIND)
    after = parse(profile_text("two", entries + 1, more), before)
    profile = cProfile.Profile()
    profile.runcall(lint, after, KIND, previous=before)
    return sum(entry.callcount for entry in profile.getstats())


def test_an_edit_costs_what_it_changes_not_what_the_document_holds() -> None:
    lint(parse(profile_text("warm", 1, 1)), KIND)
    assert calls_of_edit(20, 0) <= CALLS_MAX
    assert calls_of_edit(200, 2000) <= CALLS_MAX
