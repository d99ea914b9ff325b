import pytest
from hypothesis import assume, given

from garden.grammar.apply import apply
from garden.grammar.dated_entry import dated_entry
from garden.grammar.edits import (
    AppendToFile,
    AppendToSection,
    ApplyDiff,
    CreateDocument,
    CurateList,
    ReplaceSection,
    WriteFile,
)
from garden.grammar.kinds.catalogue import load_kinds
from garden.grammar.parser import parse
from garden.grammar.refusals import (
    AnchorChangedError,
    AnchorInTextError,
    HeadingInSectionError,
    IdentityChangedError,
    InvalidInputError,
    NoDocumentError,
    RefusalError,
)
from tests.grammar.strategies import markdown, sound_documents

NOTES, PROFILE = load_kinds()["notes"], load_kinds()["part_profile"]


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


INBOX = "## Inbox\n<!-- @anchor: inbox v1 -->\n"
SUMMARIES = "## Summaries\n<!-- @anchor: summaries v1 -->\n\n- all\n"


@pytest.mark.parametrize(
    ("before", "text", "after"),
    [
        (f"{INBOX}\n{SUMMARIES}", "- a\n", f"{INBOX}\n- a\n\n{SUMMARIES}"),
        (f"{INBOX}\n- a\n\n{SUMMARIES}", "- b", f"{INBOX}\n- a\n\n- b\n\n{SUMMARIES}"),
        (f"{SUMMARIES}\n{INBOX}", "a\n\n  b", f"{SUMMARIES}\n{INBOX}\na\n\n  b\n"),
        (f"{INBOX}\n{SUMMARIES}", "## Day\n\na", f"{INBOX}\n{SUMMARIES}\n## Day\n\na\n"),
        (SUMMARIES, "a", f"{SUMMARIES}\na\n"),
        ("# N\r\n\r\n" + INBOX.replace("\n", "\r\n"), "a\nb", None),
    ],
)
def test_an_entry_lands_in_the_section_that_the_kind_declares(
    before: str, text: str, after: str | None
) -> None:
    applied = apply(parse(before), AppendToFile(text), kind=NOTES)
    assert applied.text == (after or f"{before}\r\na\r\nb\r\n")
    if applied.section_after and "## Day" not in text:
        assert applied.section_after.name == "inbox v1"


@given(markdown(4), markdown(4), markdown(3))
def test_an_entry_changes_nothing_outside_its_section(inbox: str, summaries: str, text: str) -> None:
    document = parse(f"{INBOX}\n{inbox}\n\n## Summaries\n<!-- @anchor: summaries v1 -->\n\n{summaries}")
    try:
        after = apply(document, AppendToFile(text), kind=NOTES).after
    except RefusalError:
        assume(False)
    below = document.text[document.sections[0].span.end :]
    assert below in after.text
    assert after.text.startswith(document.text[: document.sections[0].span.end].rstrip())


@pytest.mark.parametrize(
    ("text", "error"),
    [("a\n\n## B", HeadingInSectionError), ("a <!-- @anchor: b v1 -->", AnchorInTextError)],
)
def test_an_entry_cannot_split_its_section(text: str, error: type[RefusalError]) -> None:
    with pytest.raises(error):
        apply(parse(f"{INBOX}\n{SUMMARIES}"), AppendToFile(text), kind=NOTES)


@pytest.mark.parametrize(
    ("text", "dated"),
    [
        ("Slept well.", "2026-11-18: Slept well."),
        ("\n- one\n  more\n- two\n", "- 2026-11-18: one\n  more\n- two\n"),
        ("2026-11-17: late", "2026-11-17: late"),
        ("* 2026-11-17 late", "* 2026-11-17 late"),
        ("2026-11-170", "2026-11-18: 2026-11-170"),
        (" \n", " \n"),
        ("*so* well", "2026-11-18: *so* well"),
        *(
            (block, f"2026-11-18:\n\n{block}")
            for block in ("```\na\n```", "### A", "> a", "1. a", "    a", "|a|\n|-|", "- ~~~\n  a\n  ~~~")
        ),
    ],
)
def test_an_entry_begins_with_its_day(text: str, dated: str) -> None:
    assert dated_entry(text, "2026-11-18") == dated


def test_an_entry_never_lands_in_the_change_log() -> None:
    profile = apply(None, CreateDocument(PROFILE, "P", {"id": "p", "user_id": "u"})).after
    for kind in (PROFILE, None):
        with pytest.raises(InvalidInputError, match="Change Log") as caught:
            apply(profile, AppendToFile("- 2026-11-18 08:25Z · a · b · c (evt:d)"), kind=kind)
        assert "md.patch_section" in caught.value.hint
    assert apply(profile, AppendToFile("## More"), kind=PROFILE).text.endswith("\n\n## More\n")
    below = parse(profile.text + "\n# Below\n")
    assert apply(below, AppendToFile("words"), kind=PROFILE).text.endswith("# Below\n\nwords\n")


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
