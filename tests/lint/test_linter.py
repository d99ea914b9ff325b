"""Linting a document and fixing it."""

import pytest

from garden.grammar.kinds.catalogue import load_kinds
from garden.grammar.kinds.declaration import Kind
from garden.grammar.kinds.template import template_text
from garden.grammar.parser import parse
from garden.lint.finding import Severity
from garden.lint.fixes import fix
from garden.lint.linter import lint
from garden.lint.report import Report
from garden.lint.rule import MAX_FINDINGS_PER_RULE
from tests.lint.notation import SECRET

KINDS = load_kinds()
FEWER = """
extends = "part_profile"
kind = "part_profile"

[[sections]]
anchor = "evidence v1"
cap_items = 2
"""
IDENTITY = {"id": "tea", "user_id": "sample-user", "participants": ["tea", "coffee"]}


def template(kind: Kind) -> str:
    return template_text(kind, "Tea", {key: IDENTITY[key] for key in kind.identity if key in IDENTITY})


def evidence(items: int) -> str:
    lines = "".join(f'- "Quote {number}" (ev:s1-m{number})\n' for number in range(items))
    return f"## Evidence\n<!-- @anchor: evidence v1 -->\n\n{lines}"


def names(report: Report) -> list[str]:
    return [finding.name for finding in report.findings]


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.kind)
def test_a_new_document_from_a_template_has_no_finding(kind: Kind) -> None:
    document = parse(template(kind))
    assert lint(document, kind, identity={"id": "tea"}, previous=document).findings == ()
    assert fix(document, kind) == document.text


def test_blocks_are_reasons_and_other_findings_are_warnings() -> None:
    report = lint(parse("## Concerns \n\nWords.\n"), KINDS["part_profile"])
    assert report.blocked
    assert len(report.blocked_reasons) == len(report.of(Severity.BLOCK)) == 2
    assert len(report.warnings) == len(report.findings) - 2
    assert report.blocked_reasons[0] == (
        'line 1, Concerns: "Concerns" has no anchor; its next line should be '
        "<!-- @anchor: concerns v1 -->. (MG101 missing-anchor)"
    )


def test_a_cap_is_a_warning_and_blocks_nothing() -> None:
    report = lint(parse(template(KINDS["part_profile"])), KINDS["part_profile"])
    assert not report.blocked
    report = lint(parse(evidence(8)), KINDS["part_profile"])
    assert [finding.amount for finding in report.caps] == [8]
    assert report.counts["cap"] == 1
    assert any("(MG301 too-many-items)" in warning for warning in report.warnings)


def test_an_operator_can_change_a_cap() -> None:
    kind = load_kinds([("own.toml", FEWER)])["part_profile"]
    assert "too-many-items" in names(lint(parse(evidence(3)), kind))
    assert "too-many-items" not in names(lint(parse(evidence(3)), KINDS["part_profile"]))


def test_without_a_kind_only_general_rules_report() -> None:
    report = lint(parse("## Anything\n\n- tea \n"))
    assert names(report) == ["trailing-space"]


def test_a_finding_never_repeats_the_secret() -> None:
    (finding,) = lint(parse(f"The key is {SECRET}.\n")).findings
    assert finding.name == "secret"
    assert SECRET[:8] not in repr(finding)


def test_a_rule_lists_a_limited_number_of_findings_and_the_report_counts_the_rest() -> None:
    report = lint(parse("- tea \n" * (MAX_FINDINGS_PER_RULE + 5)))
    assert len(report.findings) == MAX_FINDINGS_PER_RULE
    assert report.left_out == 5
    assert report.warnings[-1] == "5 more findings are left out."


def test_fix_corrects_more_than_a_report_lists() -> None:
    assert fix(parse("- tea \n" * (MAX_FINDINGS_PER_RULE + 5))) == "- tea\n" * (MAX_FINDINGS_PER_RULE + 5)


def test_findings_come_in_the_order_of_the_text() -> None:
    report = lint(parse("one \n\n\ntwo\tthree\n\u200b"))
    assert names(report) == [
        "trailing-space",
        "blank-lines",
        "tab-character",
        "invisible-character",
        "final-newline",
    ]


def test_an_empty_document_misses_every_section_of_its_kind() -> None:
    report = lint(parse(""), KINDS["notes"])
    assert names(report) == ["missing-identity", "missing-section", "missing-section"]


@pytest.mark.parametrize("text", ["words ", "\ufeff \n# Tea\n", "words\t\r\nand more\r\n"])
def test_trailing_white_space_is_found_before_every_kind_of_line_end(text: str) -> None:
    assert "trailing-space" in names(lint(parse(text)))


@pytest.mark.parametrize("text", ["selectors a\ufe00\ufe01\n", "soft\xadhyphen\n", "\u3164\n", "a\u2028b\n"])
def test_a_single_invisible_character_is_found(text: str) -> None:
    assert names(lint(parse(text))) == ["invisible-character"]


@pytest.mark.parametrize("character", ["\0", "\x1b", "\x7f", "\x85", "\ud800"])
def test_every_kind_of_control_character_is_found(character: str) -> None:
    assert names(lint(parse(f"tea{character}\n"))) == ["control-character"]


def test_an_anchor_on_the_first_or_the_last_line_is_found() -> None:
    assert names(lint(parse("<!-- @anchor: needs v1 -->\n"))) == ["misplaced-anchor"]
    assert names(lint(parse("words\n\n<!-- @anchor: needs v1 -->"))) == ["misplaced-anchor", "final-newline"]
    assert names(lint(parse("see @anchor: needs v1\n"))) == ["forged-markup"]


def test_style_findings_do_not_block() -> None:
    report = lint(parse("- tea \n"))
    assert report.findings
    assert not report.blocked


def test_prose_begins_on_the_line_after_code() -> None:
    assert names(lint(parse("```\n-\tcode\n```\n-\twords\n"))) == ["tab-character"]


def test_white_space_in_an_html_block_may_be_content() -> None:
    text = "<pre>\nwords \n</pre>\n"
    assert lint(parse(text)).findings == ()
    assert fix(parse(text)) == text


def test_one_participant_is_enough() -> None:
    text = "---\nid: tea\nuser_id: sample-user\nschema: 1\nparticipants: [Aunt Mary]\n---\n"
    assert lint(parse(text)).findings == ()


def test_a_finding_at_the_very_end_belongs_to_the_last_section() -> None:
    (finding,) = lint(parse("## Concerns\n<!-- @anchor: concerns v1 -->\n\n- tea")).findings
    assert (finding.name, finding.anchor) == ("final-newline", "concerns v1")


def test_a_finding_below_another_title_belongs_to_no_section() -> None:
    (finding,) = lint(parse("## Concerns\n<!-- @anchor: concerns v1 -->\n\n# Title\n\ntea \n")).findings
    assert (finding.name, finding.anchor) == ("trailing-space", None)


@pytest.mark.parametrize("participants", ["[]", "[tea, '']", "[tea, 3]", "tea", "{tea: 1}"])
def test_participants_are_a_list_of_names(participants: str) -> None:
    text = f"---\nid: tea\nuser_id: sample-user\nschema: 1\nparticipants: {participants}\n---\n"
    assert names(lint(parse(text))) == ["malformed-identity"]


def test_blank_lines_below_an_empty_item_are_allowed() -> None:
    assert names(lint(parse("-\n\n\n  words\n"))) == []
    assert names(lint(parse("- tea\n\n\n  words\n"))) == ["blank-lines"]
