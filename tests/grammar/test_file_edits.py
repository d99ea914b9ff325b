import pytest
from hypothesis import assume, given

from garden.grammar.apply import apply
from garden.grammar.edits import (
    AppendToFile,
    AppendToSection,
    ApplyDiff,
    CurateList,
    ReplaceSection,
    WriteFile,
)
from garden.grammar.parser import parse
from garden.grammar.refusals import (
    AnchorChangedError,
    IdentityChangedError,
    InvalidInputError,
    NoDocumentError,
    RefusalError,
)
from tests.grammar.strategies import markdown, sound_documents


@pytest.mark.parametrize(
    ("before", "text", "after"),
    [
        ("", "entry", "entry\n"),
        ("\ufeff", "entry", "\ufeffentry\n"),
        ("# N\n", "entry\n", "# N\n\nentry\n"),
        ("# N\n\n", "\n\nentry\n\n", "# N\n\nentry\n"),
        ("# N\n \t\n", "entry", "# N\n \t\nentry\n"),
        ("# N\n\n\n", "entry", "# N\n\n\nentry\n"),
        ("# N", "entry", "# N\n\nentry"),
        ("# N\r\n", "a\nb", "# N\r\n\r\na\r\nb\r\n"),
        ("a\rb\r", "c\nd", "a\rb\r\rc\rd\r"),
        ("- a\n", "- b", "- a\n\n- b\n"),
        ("words\n", "---", "words\n\n---\n"),
        ("words\n", "## Day\n\nmore", "words\n\n## Day\n\nmore\n"),
    ],
)
def test_an_entry_is_added_after_one_blank_line(before: str, text: str, after: str) -> None:
    assert apply(parse(before), AppendToFile(text)).text == after


@given(sound_documents(), markdown(3))
def test_an_append_changes_nothing_above_it(before: str, text: str) -> None:
    document = parse(before)
    try:
        after = apply(document, AppendToFile(text)).after
    except RefusalError:
        assume(False)
    assert after.text.startswith(before)
    assert after.values == document.values


@pytest.mark.parametrize("text", ["", " \n\t\n", "```\nopen", "<!-- open"])
def test_an_entry_that_is_empty_or_open_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError):
        apply(parse("# N\n"), AppendToFile(text))


def test_an_entry_cannot_become_frontmatter() -> None:
    with pytest.raises(IdentityChangedError):
        apply(parse(""), AppendToFile("---\nid: a\n---\n"))


def test_an_entry_may_add_a_section_but_not_repeat_an_anchor() -> None:
    before = parse("## A\n<!-- @anchor: a v1 -->\n")
    assert apply(before, AppendToFile("## B\n<!-- @anchor: b v1 -->")).after.sections[1].name == "b v1"
    with pytest.raises(AnchorChangedError):
        apply(before, AppendToFile("## B\n<!-- @anchor: a v1 -->"))


def test_writing_creates_a_document_with_exactly_the_given_text() -> None:
    assert apply(None, WriteFile("x\r\ny")).text == "x\r\ny"


@pytest.mark.parametrize(
    ("before", "text", "after"),
    [
        ("a\r\nb\r\n", "c\nd\n", "c\r\nd\r\n"),
        ("a\rb\r", "c\nd\n", "c\rd\r"),
        ("a\r\nb\r\n", "c\r\nd\n", "c\r\nd\n"),
        ("a\r\nb\n", "c\nd\n", "c\nd\n"),
        ("a\nb\n", "c\r\nd\r\n", "c\r\nd\r\n"),
        ("\ufeffa\n", "b", "\ufeffb"),
        ("\ufeffa\n", "\ufeffb", "\ufeffb"),
        ("a\n", "", ""),
    ],
)
def test_writing_keeps_line_ends_and_byte_order_mark(before: str, text: str, after: str) -> None:
    assert apply(parse(before), WriteFile(text)).text == after


def test_edits_other_than_writing_need_a_document() -> None:
    for edit in (
        AppendToFile("x"),
        ApplyDiff("@@ -0,0 +1 @@\n+x\n"),
        ReplaceSection("a", "x"),
        AppendToSection("a", "x"),
        CurateList("a", ()),
    ):
        with pytest.raises(NoDocumentError):
            apply(None, edit)


@pytest.mark.parametrize("open_end", ["```\ncode\n", "<!-- a comment\n", "# T\n\n~~~\n"])
def test_an_entry_below_an_open_fence_or_comment_is_refused(open_end: str) -> None:
    with pytest.raises(InvalidInputError, match="The document ends inside a code fence"):
        apply(parse(open_end), AppendToFile("an entry"))
