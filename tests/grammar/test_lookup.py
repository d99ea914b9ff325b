import pytest

from garden.grammar.kinds.catalogue import load_kinds
from garden.grammar.lookup import anchor_names, find_section
from garden.grammar.parser import parse
from garden.grammar.refusals import AnchorAmbiguousError, AnchorNotFoundError

TEXT = "# T\n\n## First Things\n<!-- @anchor: a v1 -->\n\nold\n\n## B\n<!-- @anchor: b v1 -->\n\nkeep\n"


@pytest.mark.parametrize(
    "name", ["a v1", "a", " a  v1 ", "@anchor: a v1", "A", "A V1", "First Things", "first  things"]
)
def test_a_section_is_found_by_its_anchor_or_heading_in_any_case(name: str) -> None:
    assert find_section(parse(TEXT), name).name == "a v1"


def test_a_missing_section_is_refused_with_a_list_of_sections() -> None:
    with pytest.raises(AnchorNotFoundError) as caught:
        find_section(parse(TEXT), "c v1")
    assert caught.value.details == {"sections": ["a v1", "b v1"]}
    assert "'a v1'" in caught.value.hint


def test_a_refusal_lists_at_most_forty_sections() -> None:
    document = parse("".join(f"## S{number}\n\n" for number in range(1_000)))
    with pytest.raises(AnchorNotFoundError) as caught:
        find_section(document, "nothing")
    assert "'S39'" in caught.value.hint
    assert caught.value.hint.endswith(", and 960 more.")


@pytest.mark.parametrize("name", ["a v2", "", "a v1 x", "First", "## A", "a  v01x"])
def test_a_similar_name_is_not_found(name: str) -> None:
    with pytest.raises(AnchorNotFoundError):
        find_section(parse(TEXT), name)


def test_a_section_without_an_anchor_is_found_by_its_heading() -> None:
    assert find_section(parse("## My Day\n\nold\n"), "My Day").line == 1


def test_a_name_that_is_one_sections_anchor_and_anothers_heading_is_refused() -> None:
    document = parse(TEXT + "\n## B\n\n## b\n\n## Day\n\n## day\n")
    for name in ("B", "DAY"):
        with pytest.raises(AnchorAmbiguousError):
            find_section(document, name)
    assert [find_section(document, name).line for name in ("b v1", "b", "Day", "day")] == [8, 8, 17, 19]


@pytest.mark.parametrize(
    "name", ["questions v1", "Questions", "QUESTIONS V1", "open questions", "@anchor: questions"]
)
def test_every_name_of_a_declared_section_leads_to_its_anchor(name: str) -> None:
    kinds = load_kinds().values()
    assert anchor_names(kinds, name) == {name, "questions v1"}
    assert anchor_names(kinds, " My Day ") == {"My Day"}


def test_an_ambiguous_name_is_refused() -> None:
    document = parse(TEXT + "\n## A2\n<!-- @anchor: a v2 -->\n")
    with pytest.raises(AnchorAmbiguousError) as caught:
        find_section(document, "a")
    assert [entry["name"] for entry in caught.value.details["sections"]] == ["a v1", "a v2"]
    assert find_section(document, "a v2") == document.sections[-1]
