"""A finding keeps its key when other parts of the document change."""

import pytest

from garden.grammar.parser import parse
from garden.lint.linter import lint
from tests.lint.cases import Case, cases

# Findings of other fixtures are about the whole document or change with the added words.
WITH_SECTIONS = [case for case in cases() if case.is_bad and "\n# Tea\n" in case.text]


def keys(case: Case, text: str) -> list[str]:
    report = lint(parse(text), case.kind, identity=case.identity, previous=case.previous)
    return [finding.key for finding in report.findings]


@pytest.mark.parametrize("case", WITH_SECTIONS, ids=lambda case: case.name)
def test_words_added_elsewhere_change_no_key(case: Case) -> None:
    more = case.text.replace("\n# Tea\n", "\n# Tea\n\nSome words more.\n\nAnd others.\n", 1)
    assert keys(case, more) == keys(case, case.text)


def test_no_key_contains_words_of_the_document() -> None:
    findings = lint(parse("- tea and biscuits \n- password: hunter2hunter2hunter2\n")).findings
    assert [len(finding.key) for finding in findings] == [len("MG603:") + 12, len("MG701:") + 12]
