"""Comparing two reports: what got worse, and what needs an override."""

from garden.grammar.kinds.catalogue import load_kinds
from garden.grammar.parser import parse
from garden.lint.comparison import Comparison, compare
from garden.lint.linter import lint
from garden.lint.report import Report

KIND = load_kinds()["part_profile"]


def profile(evidence: int = 0, words: int = 0, concerns: str = "") -> Report:
    items = "".join(f'- "Quote {number}" (ev:s1-m{number})\n' for number in range(evidence))
    return report(
        f"## Summary\n<!-- @anchor: summary v1 -->\n\n{'word ' * words}\n\n"
        f"## Concerns\n<!-- @anchor: concerns v1 -->\n\n{concerns}\n\n"
        f"## Evidence\n<!-- @anchor: evidence v1 -->\n\n{items}"
    )


def report(text: str) -> Report:
    return lint(parse(text), KIND)


def exceeded(before: Report, after: Report) -> list[str]:
    return [finding.name for finding in compare(before, after).exceeded]


def test_a_newly_exceeded_cap_needs_an_override() -> None:
    assert exceeded(profile(evidence=7), profile(evidence=8)) == ["too-many-items"]
    assert exceeded(profile(words=400), profile(words=401)) == ["too-many-words"]


def test_a_further_exceeded_cap_needs_an_override() -> None:
    assert exceeded(profile(evidence=8), profile(evidence=9)) == ["too-many-items"]
    assert exceeded(profile(words=500), profile(words=501)) == ["too-many-words"]


def test_a_cap_exceeded_as_before_or_less_needs_no_override() -> None:
    assert exceeded(profile(evidence=9), profile(evidence=9, concerns="- more")) == []
    assert exceeded(profile(evidence=9), profile(evidence=8)) == []
    assert exceeded(profile(words=500), profile(words=450)) == []


def test_a_new_document_over_its_cap_needs_an_override() -> None:
    assert exceeded(Report(), profile(evidence=8, words=401)) == ["too-many-words", "too-many-items"]


def test_a_worse_style_finding_needs_no_override() -> None:
    comparison = compare(profile(words=201), profile(words=202))
    assert [finding.name for finding in comparison.further] == ["many-words"]
    assert comparison.exceeded == ()


def test_a_corrected_finding_is_gone() -> None:
    comparison = compare(profile(evidence=8), profile(evidence=7))
    assert [finding.name for finding in comparison.gone] == ["too-many-items"]
    assert comparison.worse == ()
    assert not comparison.empty


def test_an_edit_elsewhere_makes_no_finding_new() -> None:
    comparison = compare(
        profile(evidence=8, words=401), profile(evidence=8, words=401, concerns="- one\n\n- two\n\n\n")
    )
    assert [finding.name for finding in comparison.worse] == ["blank-lines"]


def test_a_second_finding_with_the_same_words_is_new() -> None:
    once = report("## Concerns\n<!-- @anchor: concerns v1 -->\n\n- tea \n")
    twice = report("## Concerns\n<!-- @anchor: concerns v1 -->\n\n- tea \n- tea \n")
    assert [finding.line for finding in compare(once, twice).new] == [5]


def test_the_comparison_of_two_empty_reports_is_empty() -> None:
    assert compare(Report(), Report()) == Comparison()
    assert compare(Report(), Report()).empty
