"""For every fixture: the marked lines are found, the snapshot matches, and the fixed text is clean."""

from difflib import SequenceMatcher

import pytest

from garden.lint.catalogue import CATALOGUE
from garden.lint.finding import Finding
from garden.lint.fixes import fix
from garden.lint.rule import Rule
from tests.lint.cases import FIXTURES, UPDATE, Case, cases
from tests.lint.notation import encoded

CASES = list(cases())
FIXABLE = [case for case in CASES if any(finding.fixable for finding in case.report().findings)]
every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
every_fixable_case = pytest.mark.parametrize("case", FIXABLE, ids=lambda case: case.name)


def written(finding: Finding) -> str:
    words = [finding.rule, finding.name, finding.severity.value, *(["fixable"] if finding.fixable else [])]
    amount = "" if finding.amount is None else f" amount={finding.amount}"
    where = f"{finding.line}:{finding.column} [{finding.anchor or '-'}]"
    return f"{where} {' '.join(words)}{amount} key={finding.key}\n    {finding.message}\n"


def held(case: Case, ending: str, text: str) -> bool:
    path = case.snapshot(ending)
    if UPDATE:
        path.write_text(text, encoding="utf-8")
    return path.exists() and path.read_text(encoding="utf-8") == text


@every_case
def test_exactly_the_marked_lines_are_found(case: Case) -> None:
    found = sorted((finding.line, finding.rule) for finding in case.report().findings)
    assert found == case.marks


@pytest.mark.parametrize("case", [case for case in CASES if case.is_bad], ids=lambda case: case.name)
def test_the_snapshot_of_findings_holds(case: Case) -> None:
    assert held(case, "findings.txt", "".join(written(finding) for finding in case.report().findings))


@pytest.mark.parametrize("case", [case for case in CASES if not case.is_bad], ids=lambda case: case.name)
def test_a_good_fixture_has_no_finding_and_nothing_to_fix(case: Case) -> None:
    assert case.report().findings == ()
    assert fix(case.document, case.kind) == case.text


@every_fixable_case
def test_the_snapshot_of_the_fixed_text_holds(case: Case) -> None:
    assert held(case, "fixed.md", encoded(fix(case.document, case.kind)))


@every_fixable_case
def test_a_fixed_text_keeps_only_findings_that_are_not_fixable(case: Case) -> None:
    after = case.report(fix(case.document, case.kind))
    assert not [finding for finding in after.findings if finding.fixable]
    unfixable = [finding.rule for finding in case.report().findings if not finding.fixable]
    assert [finding.rule for finding in after.findings] == unfixable


@every_fixable_case
def test_a_fix_changes_only_marked_lines(case: Case) -> None:
    before, after = (
        case.text.splitlines(keepends=True),
        fix(case.document, case.kind).splitlines(keepends=True),
    )
    changed = {
        line + 1
        for tag, start, end, _, _ in SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
        if tag != "equal"
        for line in range(start, max(end, start + 1))
    }
    assert changed <= _allowed(case, before)


def _allowed(case: Case, lines: list[str]) -> set[int]:
    allowed = {line for line, _ in case.marks}
    for line, rule in case.marks:
        if rule == "MG601":  # one finding covers all lines with other line ends
            allowed |= set(range(line, len(lines) + 1))
        if rule == "MG605":  # any of several blank lines may be removed
            allowed |= {number for number, text in enumerate(lines, 1) if not text.strip()}
        if rule == "MG401" and lines[line].startswith("---"):
            allowed.add(line + 1)
    return allowed


@pytest.mark.parametrize("rule", CATALOGUE, ids=lambda rule: rule.name)
def test_every_rule_has_a_bad_and_a_good_fixture(rule: Rule) -> None:
    own = [case for case in CASES if case.rule == rule.name]
    assert any(case.is_bad and rule.id in {mark for _, mark in case.marks} for case in own)
    assert any(not case.is_bad for case in own)


def test_every_folder_of_fixtures_belongs_to_a_rule() -> None:
    assert {path.name for path in FIXTURES.iterdir()} <= {rule.name for rule in CATALOGUE}
