"""The guards, called directly with results that no correct edit produces."""

import pytest

from garden.grammar.apply import apply
from garden.grammar.edits import (
    AppendLogLine,
    AppendToFile,
    AppendToSection,
    ApplyDiff,
    ArchiveDocument,
    CreateDocument,
    CurateList,
    Edit,
    ReplaceSection,
    WriteFile,
)
from garden.grammar.guards import check_edit, refuse_malformed
from garden.grammar.kinds.catalogue import load_kinds
from garden.grammar.parser import parse
from garden.grammar.refusals import (
    AlreadyExistsError,
    AnchorChangedError,
    ChangeLogIsAppendOnlyError,
    IdentityChangedError,
    MalformedDocumentError,
    PatchConflictError,
    RefusalError,
)

TEXT = """---
id: a
user_id: u
schema: 1
participants: [x, y]
mood: free
---

# T

Lead.

## A
<!-- @anchor: a v1 -->

- one

## B
<!-- @anchor: b v1 -->

- two

## C

free

## Change Log
<!-- @anchor: change_log v1 -->

- began (evt:e0)
"""
WRITE = WriteFile("")
REPLACE = ReplaceSection("a", "")


def refusal(after: str, edit: Edit = WRITE, before: str | None = TEXT) -> type[RefusalError] | None:
    """Return the type of the guards' refusal, or None if they accept."""
    try:
        check_edit(None if before is None else parse(before), parse(after), edit)
    except RefusalError as error:
        return type(error)
    return None


@pytest.mark.parametrize(
    "after",
    [
        TEXT.replace("<!-- @anchor: a v1 -->\n", ""),
        TEXT.replace("<!-- @anchor: a v1 -->", "<!-- @anchor: a v2 -->"),
        TEXT.replace("<!-- @anchor: a v1 -->", "<!-- @anchor: A v1 -->"),
        TEXT.replace("<!-- @anchor: a v1 -->", "<!--  @anchor: a v1 -->"),
        TEXT.replace("<!-- @anchor: a v1 -->", "\n<!-- @anchor: a v1 -->"),
        TEXT.replace("<!-- @anchor: a v1 -->", "`<!-- @anchor: a v1 -->`"),
        TEXT.replace("- one", "```"),
        TEXT.replace("- one", "<!--"),
        TEXT.replace("- one", "<script>"),
        TEXT.replace("## B", "### B"),
        TEXT.replace("## B", "# B"),
        TEXT.replace("## B", "  - ## B"),
        TEXT.replace("## B", "B"),
        TEXT[: TEXT.index("## B")],
        "",
    ],
)
def test_no_anchor_is_removed_or_altered(after: str) -> None:
    expected = IdentityChangedError if not after else AnchorChangedError
    assert refusal(after) is expected
    assert refusal(after, ApplyDiff("")) is expected


@pytest.mark.parametrize(
    "after",
    [
        TEXT + "\n## D\n<!-- @anchor: a v1 -->\n",
        TEXT + "\n## A\n<!-- @anchor: a v1 -->\n",
        TEXT.replace("## C\n", "## C\n<!-- @anchor: b v1 -->\n"),
        TEXT + "\n## D\n<!-- @anchor: d v1 -->\n\n## E\n<!-- @anchor: d v1 -->\n",
    ],
)
def test_no_anchor_is_duplicated(after: str) -> None:
    assert refusal(after) is AnchorChangedError


def test_a_new_document_has_no_duplicate_anchor() -> None:
    twice = "## A\n<!-- @anchor: a v1 -->\n## B\n<!-- @anchor: a v1 -->\n"
    assert refusal(twice, before=None) is AnchorChangedError
    assert refusal(TEXT, before=None) is None


def swapped(first: str, second: str) -> str:
    return TEXT.replace(first, "\0").replace(second, first).replace("\0", second)


@pytest.mark.parametrize(
    "after",
    [
        swapped("@anchor: a v1", "@anchor: b v1"),
        swapped("## A\n", "## B\n"),
        TEXT.replace("## A\n", "## A\n\n## Decoy\n"),
        TEXT.replace("## A\n", "## a\n\n## Decoy\n"),
        TEXT.replace("## A\n", "## **A**:\n\n## Decoy\n"),
        TEXT.replace("## A\n", "### A\n\n## Decoy\n"),
        TEXT.replace("## A\n", "# A\n\n## Decoy\n"),
        TEXT.replace("## B\n", "## C\n").replace("## C\n\nfree", "## B2\n\nfree"),
        TEXT.replace("<!-- @anchor: b v1 -->\n", "").replace("## C\n", "## C\n<!-- @anchor: b v1 -->\n"),
    ],
)
def test_no_anchor_moves_to_another_heading(after: str) -> None:
    assert refusal(after) is AnchorChangedError


def test_headings_that_differ_only_in_punctuation_are_different() -> None:
    marked = TEXT.replace("## A\n", "## C++\n").replace("## B\n", "## C--\n")
    after = marked.replace("C++", "\0").replace("C--", "C++").replace("\0", "C--")
    assert refusal(after, before=marked) is AnchorChangedError


def test_a_heading_may_be_reworded_and_sections_may_change_places() -> None:
    for words in ("Alpha", "a", "**A**"):
        assert refusal(TEXT.replace("## A\n", f"## {words}\n")) is None
    first, second = TEXT.index("## A"), TEXT.index("## B")
    third = TEXT.index("## C")
    assert refusal(TEXT[:first] + TEXT[second:third] + TEXT[first:second] + TEXT[third:]) is None


def test_a_stray_anchor_is_neither_added_nor_lost_but_may_be_moved_into_place() -> None:
    astray = TEXT.replace("## C\n", "## C\n\n<!-- @anchor: c v1 -->\n")
    assert refusal(astray) is AnchorChangedError
    assert refusal(TEXT, before=astray) is AnchorChangedError
    assert refusal(TEXT.replace("## C\n", "## C\n<!-- @anchor: c v1 -->\n"), before=astray) is None


def test_thousands_of_stray_anchors_are_compared_in_bounded_time() -> None:
    astray = TEXT + "".join(f"<!-- @anchor: a{number} -->\n" for number in range(8_000))
    assert refusal(astray + "more\n", before=astray) is None
    assert refusal(astray.replace(" -->", "  -->"), before=astray) is AnchorChangedError


def test_a_stray_anchor_may_become_code_or_move_into_a_list() -> None:
    astray = TEXT.replace("\nfree\n", "\n<!-- @anchor: c v1 -->\n")
    for words in ("```\n<!-- @anchor: c v1 -->\n```\n", "- <!-- @anchor: c v1 -->\n"):
        assert refusal(TEXT.replace("\nfree\n", "\n" + words), before=astray) is None


def test_faults_of_anchors_that_existed_before_are_accepted() -> None:
    astray = TEXT.replace("## C\n", "## C\n\n<!-- @anchor: c v1 -->\n")
    assert refusal(astray.replace("Lead", "Led"), before=astray) is None
    twice = TEXT.replace("## C\n", "## C\n<!-- @anchor: b v1 -->\n")
    assert refusal(twice.replace("Lead", "Led"), before=twice) is None
    assert refusal(TEXT, before=twice) is None
    assert refusal(twice + "\n## D\n<!-- @anchor: b v1 -->\n", before=twice) is AnchorChangedError


def test_an_anchor_shown_in_a_fence_may_come_and_go() -> None:
    shown = TEXT.replace("free\n\n", "```\n<!-- @anchor: a v1 -->\n```\n\n")
    assert refusal(shown) is None
    assert refusal(TEXT, before=shown) is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("id: a", "id: b"),
        ("user_id: u\n", ""),
        ("user_id: u", "user_id: [u]"),
        ("schema: 1", "schema: 2"),
        ("schema: 1", "schema: '1'"),
        ("schema: 1", "schema: 1.0"),
        ("schema: 1", "schema: true"),
        ("[x, y]", "[y, x]"),
        ("[x, y]", "[x]"),
        ("[x, y]", "[x, y, z]"),
        ("[x, y]", "x"),
        ("participants: [x, y]\n", ""),
        ("participants: [x, y]", "participants: [x, [y]]"),
    ],
)
def test_the_identity_stays(old: str, new: str) -> None:
    assert refusal(TEXT.replace(old, new)) is IdentityChangedError
    assert refusal(TEXT, before=TEXT.replace(old, new)) is IdentityChangedError


@pytest.mark.parametrize(
    ("old", "new"), [("[1]", "[true]"), ("[1]", "[1.0]"), ("[[1]]", "[[true]]"), ("[1]", "['1']")]
)
def test_a_participant_of_another_type_is_another_participant(old: str, new: str) -> None:
    before = TEXT.replace("[x, y]", old)
    assert refusal(TEXT.replace("[x, y]", new), before=before) is IdentityChangedError
    assert refusal(before, before=before) is None


def test_no_identity_is_added_to_a_document_without_one() -> None:
    assert refusal("---\nid: a\n---\n# T\n", before="# T\n") is IdentityChangedError
    assert refusal("---\nid:\n---\n# T\n", before="---\nmood: free\n---\n# T\n") is IdentityChangedError


def test_other_keys_are_free() -> None:
    assert refusal(TEXT.replace("mood: free", "mood: good\nmore: {x: [1]}")) is None


def test_a_result_with_malformed_frontmatter_is_refused() -> None:
    assert refusal(TEXT.replace("mood: free", "mood: &m free")) is MalformedDocumentError
    assert refusal("---\nid: a\n" + TEXT[4:]) is MalformedDocumentError
    assert refusal("---\nid: [\n---\n", before=None) is MalformedDocumentError
    assert refusal(TEXT, before="---\nid: [\n---\n") is MalformedDocumentError


def test_a_well_formed_document_is_accepted() -> None:
    refuse_malformed(parse(TEXT))
    refuse_malformed(parse("## A\n\n<!-- @anchor: a v1 -->\n"))


OUTSIDE = [
    TEXT.replace("Lead.", "Led."),
    TEXT.replace("mood: free", "mood: good"),
    TEXT.replace("- two", "- 2"),
    TEXT.replace("- two\n", "- two\n\n"),
    TEXT.replace("free\n\n", "free\n"),
    TEXT.replace("# T", "# T2"),
    TEXT.replace("## C", "## See"),
    TEXT.replace("(evt:e0)\n", "(evt:e0)\n- more\n"),
    TEXT.replace("\n\n## B", "\n\n## New\n\n## B"),
    TEXT.replace("## C\n\nfree\n\n", ""),
    TEXT.rstrip("\n"),
    TEXT.replace("## A\n", "## A \n"),
    TEXT.replace("a v1 -->", "a v1 --> "),
    TEXT.replace("\n", "\r\n"),
    "\ufeff" + TEXT,
    TEXT + "## New\n",
]


@pytest.mark.parametrize("after", OUTSIDE)
def test_an_edit_of_a_section_changes_nothing_outside_its_body(after: str) -> None:
    for edit in (REPLACE, AppendToSection("a v1", ""), CurateList("a", ())):
        assert refusal(after, edit) is PatchConflictError
    assert refusal(after) is None


def test_a_later_h1_and_the_text_below_it_are_outside_the_section() -> None:
    before = "## A\n<!-- @anchor: a v1 -->\none\n# Part two\nwords\n"
    assert refusal(before.replace("words", "other"), REPLACE, before=before) is PatchConflictError
    assert refusal(before.replace("one", "1"), REPLACE, before=before) is None


def test_an_edit_of_a_section_may_change_its_body() -> None:
    assert refusal(TEXT.replace("- one", "- 1"), REPLACE) is None


@pytest.mark.parametrize(
    "after",
    [
        TEXT.replace("began", "begun"),
        TEXT.replace("- began (evt:e0)\n", ""),
        TEXT.replace("(evt:e0)", "(evt:e0) more"),
    ],
)
def test_the_change_log_only_grows(after: str) -> None:
    for edit in (WRITE, ReplaceSection("change_log", "")):
        assert refusal(after, edit) is ChangeLogIsAppendOnlyError


def test_a_second_change_log_does_not_unlock_the_first() -> None:
    second = TEXT + "\n## Log\n<!-- @anchor: change_log v2 -->\n\n- x\n"
    assert refusal(second) is None
    assert refusal(second.replace("began", "begun")) is ChangeLogIsAppendOnlyError
    assert refusal(second.replace("began", "begun"), before=second) is ChangeLogIsAppendOnlyError
    assert refusal(second.replace("- x", ""), before=second) is ChangeLogIsAppendOnlyError


def test_the_change_log_may_grow_and_an_empty_one_may_be_filled() -> None:
    assert refusal(TEXT + "- went on\n") is None
    assert refusal(TEXT, before=TEXT.replace("- began (evt:e0)\n", "")) is None
    assert refusal(TEXT.replace("\n", "\r\n")) is None


def test_an_append_to_the_file_keeps_the_text_above_it() -> None:
    assert refusal(TEXT + "\nmore\n", AppendToFile("")) is None
    assert refusal(TEXT.replace("Lead", "Led") + "\nmore\n", AppendToFile("")) is PatchConflictError


def test_a_document_is_created_only_if_there_is_none() -> None:
    edit = CreateDocument(load_kinds()["notes"], "N", {})
    assert refusal(TEXT, edit) is AlreadyExistsError
    assert refusal(TEXT, edit, before=None) is None


@pytest.mark.parametrize(
    ("inbox", "below", "accepted"),
    [
        ("- a\n\n- b", "- s", True),
        ("- b", "- s", False),
        ("- a\n\n- b", "- t", False),
        ("- a", "- s\n\n- b", False),
    ],
)
def test_an_entry_changes_only_the_end_of_its_section(inbox: str, below: str, accepted: bool) -> None:
    text = (
        "## Inbox\n<!-- @anchor: inbox v1 -->\n\n{}\n\n## Summaries\n<!-- @anchor: summaries v1 -->\n\n{}\n"
    )
    before, after = parse(text.format("- a", "- s")), parse(text.format(inbox, below))
    try:
        check_edit(before, after, AppendToFile("- b"), load_kinds()["notes"])
    except PatchConflictError:
        assert not accepted
    else:
        assert accepted


def test_an_edit_adds_exactly_its_own_change_log_line() -> None:
    before = parse("## A\n<!-- @anchor: a v1 -->\n\n- a\n\n## L\n<!-- @anchor: change_log v1 -->\n\n- one\n")
    log = before.sections[1]
    edit = ReplaceSection("a v1", "- b")
    after = before.text.replace("- a\n", "- b\n") + "- two\n"
    check_edit(before, parse(after), edit, log=log, log_body=log.body + "- two\n")
    for forged in (after + "- three\n", after.replace("- one", "- 0ne"), after.replace("## L", "## M")):
        with pytest.raises(PatchConflictError if forged.count("- one") else ChangeLogIsAppendOnlyError):
            check_edit(before, parse(forged), edit, log=log, log_body=log.body + "- two\n")


def test_a_later_reason_adds_exactly_one_change_log_line() -> None:
    before = parse("## A\n<!-- @anchor: a v1 -->\n\n- a\n\n## L\n<!-- @anchor: change_log v1 -->\n\n- one\n")
    edit, log = AppendLogLine("- two"), before.sections[1]
    assert apply(before, edit).text == before.text + "- two\n"
    assert apply(parse(before.text + "- two\n"), edit).unchanged
    assert apply(parse("# No log\n"), edit).unchanged
    for forged in ("- two\n- three\n", "- 2\n", "- two\n\n## M\n"):
        with pytest.raises((ChangeLogIsAppendOnlyError, PatchConflictError)):
            check_edit(before, parse(before.text + forged), edit, section=log)


MEMORIES = load_kinds()["memories"]


def test_an_archive_leaves_no_word_and_is_of_a_free_form_kind() -> None:
    check_edit(parse("tea\n"), parse(""), ArchiveDocument(), MEMORIES)
    for after, kind in (("t", MEMORIES), ("", load_kinds()["notes"]), ("", None)):
        with pytest.raises(PatchConflictError):
            check_edit(parse("tea\n"), parse(after), ArchiveDocument(), kind)


def test_the_structure_of_a_free_form_document_is_not_guarded_but_an_append_is() -> None:
    before = parse("---\nid: a\n---\n## A\n<!-- @anchor: a v1 -->\n")
    for text in ("", "---\n", "---\nid: b\n---\n", "## B\n<!-- @anchor: a v1 -->\n" * 2):
        check_edit(before, parse(text), WriteFile(text), MEMORIES)
        check_edit(None, parse(text), WriteFile(text), MEMORIES)
    with pytest.raises(PatchConflictError):
        check_edit(before, parse("other words"), AppendToFile("words"), MEMORIES)
