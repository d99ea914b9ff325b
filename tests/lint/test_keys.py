"""A finding keeps its key while the rest of the document changes."""

import pytest

from garden.grammar.parser import parse
from garden.lint.linter import lint
from tests.lint.cases import Case, cases

# What a finding of these is about is the whole document, or changes with the words put in.
WITH_SECTIONS = [case for case in cases() if case.is_bad and "\n# Tea\n" in case.text]


def keys(case: Case, text: str) -> list[str]:
    report = lint(parse(text), case.kind, identity=case.identity, previous=case.previous)
    return [finding.key for finding in report.findings]


@pytest.mark.parametrize("case", WITH_SECTIONS, ids=lambda case: case.name)
def test_words_put_in_elsewhere_leave_every_key_as_it_was(case: Case) -> None:
    more = case.text.replace("\n# Tea\n", "\n# Tea\n\nSome words more.\n\nAnd others.\n", 1)
    assert keys(case, more) == keys(case, case.text)


def test_no_key_holds_words_of_the_document() -> None:
    findings = lint(parse("- tea and biscuits \n- password: hunter2hunter2hunter2\n")).findings
    assert [len(finding.key) for finding in findings] == [len("MG603:") + 12, len("MG701:") + 12]
