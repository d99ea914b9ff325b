"""What got worse from one version of a document to the next, and what an override is asked for."""

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


def test_a_cap_that_is_newly_exceeded_asks_for_an_override() -> None:
    assert exceeded(profile(evidence=7), profile(evidence=8)) == ["too-many-items"]
    assert exceeded(profile(words=400), profile(words=401)) == ["too-many-words"]


def test_a_cap_that_is_further_exceeded_asks_for_an_override() -> None:
    assert exceeded(profile(evidence=8), profile(evidence=9)) == ["too-many-items"]
    assert exceeded(profile(words=500), profile(words=501)) == ["too-many-words"]


def test_a_cap_that_is_still_exceeded_or_improved_asks_for_nothing() -> None:
    assert exceeded(profile(evidence=9), profile(evidence=9, concerns="- more")) == []
    assert exceeded(profile(evidence=9), profile(evidence=8)) == []
    assert exceeded(profile(words=500), profile(words=450)) == []


def test_a_document_that_begins_over_its_cap_asks_for_an_override() -> None:
    assert exceeded(Report(), profile(evidence=8, words=401)) == ["too-many-words", "too-many-items"]


def test_matters_of_style_get_worse_without_asking_for_an_override() -> None:
    comparison = compare(profile(words=201), profile(words=202))
    assert [finding.name for finding in comparison.further] == ["many-words"]
    assert comparison.exceeded == ()


def test_what_was_mended_is_gone() -> None:
    comparison = compare(profile(evidence=8), profile(evidence=7))
    assert [finding.name for finding in comparison.gone] == ["too-many-items"]
    assert comparison.worse == ()
    assert not comparison.empty


def test_an_edit_elsewhere_makes_no_finding_new() -> None:
    comparison = compare(
        profile(evidence=8, words=401), profile(evidence=8, words=401, concerns="- one\n\n- two\n\n\n")
    )
    assert [finding.name for finding in comparison.worse] == ["blank-lines"]


def test_a_second_finding_of_the_same_words_is_new() -> None:
    once = report("## Concerns\n<!-- @anchor: concerns v1 -->\n\n- tea \n")
    twice = report("## Concerns\n<!-- @anchor: concerns v1 -->\n\n- tea \n- tea \n")
    assert [finding.line for finding in compare(once, twice).new] == [5]


def test_two_empty_reports_are_no_comparison_worth_telling() -> None:
    assert compare(Report(), Report()) == Comparison()
    assert compare(Report(), Report()).empty
