import pytest

from garden.grammar.parser import parse
from garden.grammar.section_changes import changed_sections

BEFORE = "# Notes\n\n## Inbox\n<!-- @anchor: inbox v1 -->\n\n- rain\n\n## Loose\n\nwords\n\n## Empty\n"


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        ("- rain", "- sun", ("inbox v1",)),
        ("## Inbox", "## Entries", ("inbox v1",)),
        ("# Notes", "# Mine", ()),
        ("- rain\n\n", "- rain\n\n\n", ()),
        ("## Loose", "## Loose ends", ("Loose ends", "Loose")),
        ("## Loose\n\nwords\n\n", "", ("Loose",)),
        ("## Empty\n", "", ()),
        ("## Empty\n", "## Empty\n\n## Loose\n\nmore\n", ("Loose",)),
    ],
)
def test_the_sections_with_other_words_or_another_heading_are_named(
    old: str, new: str, changed: tuple[str, ...]
) -> None:
    assert changed_sections(parse(BEFORE), parse(BEFORE.replace(old, new))) == changed


def test_a_new_document_changes_the_sections_that_have_words() -> None:
    assert changed_sections(None, parse(BEFORE)) == ("inbox v1", "Loose")
