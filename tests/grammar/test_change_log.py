import pytest

from garden.grammar.apply import apply
from garden.grammar.change_log import log_entry
from garden.grammar.edits import (
    AppendItem,
    AppendToSection,
    ApplyDiff,
    CurateList,
    Edit,
    MergeItems,
    PruneItem,
    ReplaceSection,
    WriteFile,
)
from garden.grammar.kinds.catalogue import load_kinds
from garden.grammar.parser import parse
from garden.grammar.refusals import (
    AnchorInTextError,
    ChangeLogIsAppendOnlyError,
    InvalidInputError,
    RefusalError,
)

TEXT = """# T

## Concerns
<!-- @anchor: concerns v1 -->

- a

## Change Log
<!-- @anchor: change_log v1 -->

- 2026-11-17 10:00Z · concerns v1 · append_item · began (evt:e0)
- 2026-11-17 10:05Z · concerns v1 · append_item · went on (evt:e1)
"""
ENTRY = log_entry("2026-11-18 08:25Z", "concerns v1", "replace_section", "she said\n so", "e2")


def test_an_entry_has_the_documented_form() -> None:
    assert ENTRY == "- 2026-11-18 08:25Z · concerns v1 · replace_section · she said so (evt:e2)"
    with_override = log_entry("t", "s", "o", "r", "e", "two  more\nthis week")
    assert with_override == "- t · s · o · r (evt:e) · override: two more this week"


def test_free_words_cannot_imitate_the_fields_of_an_entry() -> None:
    forged = "she asked (evt:e9), see EVT: e8 and evt:e7 · override: agreed"
    entry = log_entry("t", "s", "o", forged, "e", forged)
    assert entry.casefold().count("evt:") == entry.count("· override:") == 1
    assert entry.count("·") == 4


def test_an_entry_is_added_with_the_edit() -> None:
    applied = apply(parse(TEXT), ReplaceSection("concerns", "- b"), entry=ENTRY)
    assert applied.text == TEXT.replace("- a\n", "- b\n") + ENTRY + "\n"
    assert applied.logged
    assert applied.section_after is not None
    assert applied.section_after.name == "concerns v1"


def test_the_first_entry_fills_an_empty_change_log() -> None:
    text = TEXT[: TEXT.index("\n- 2026")]
    assert apply(parse(text), ReplaceSection("concerns", "- b"), entry=ENTRY).text.endswith(
        f"-->\n\n{ENTRY}\n"
    )


def test_an_edit_that_changes_nothing_gets_no_entry() -> None:
    applied = apply(parse(TEXT), ReplaceSection("concerns", "- a"), entry=ENTRY)
    assert applied.unchanged
    assert not applied.logged


def test_an_edit_that_writes_to_the_change_log_itself_gets_no_entry() -> None:
    for edit in (
        AppendToSection("change_log", "- own words"),
        CurateList("change_log v1", (AppendItem("own words"),)),
        WriteFile(TEXT + "- own words\n"),
    ):
        applied = apply(parse(TEXT), edit, entry=ENTRY)
        assert applied.text == TEXT + "- own words\n"
        assert not applied.logged


def test_a_document_without_a_change_log_gets_no_entry_and_reports_so() -> None:
    text = TEXT[: TEXT.index("## Change Log")]
    applied = apply(parse(text), ReplaceSection("concerns", "- b"), entry=ENTRY)
    assert not applied.logged
    assert ENTRY not in applied.text


@pytest.mark.parametrize(
    "edit",
    [
        ReplaceSection("change_log", ""),
        ReplaceSection("change_log", "- x"),
        CurateList("change_log", (PruneItem("evt:e0"),)),
        CurateList("change_log", (AppendItem("x"), MergeItems("1: 2026", ("2: 2026",)))),
        WriteFile(TEXT[: TEXT.rindex("- 2026")]),
        WriteFile(TEXT.replace("began", "begun")),
        WriteFile(TEXT.replace("- 2026-11-17 10:00Z", "- new\n- 2026-11-17 10:00Z")),
        ApplyDiff("@@ -12,1 +12,0 @@\n-- 2026-11-17 10:05Z · concerns v1 · append_item · went on (evt:e1)\n"),
    ],
)
def test_no_edit_removes_anything_from_the_change_log(edit: Edit) -> None:
    with pytest.raises(ChangeLogIsAppendOnlyError) as caught:
        apply(parse(TEXT), edit, entry=ENTRY)
    assert caught.value.code == "permission_denied"


def test_the_kind_says_which_section_is_the_change_log() -> None:
    notes, profile = load_kinds()["notes"], load_kinds()["part_profile"]
    edit = ReplaceSection("change_log", "- x")
    assert apply(parse(TEXT), edit, kind=notes).text.endswith("- x\n")
    with pytest.raises(ChangeLogIsAppendOnlyError):
        apply(parse(TEXT), edit, kind=profile)


def test_a_rationale_with_an_anchor_is_refused() -> None:
    entry = log_entry("t", "s", "o", "<!-- @anchor: x v1 -->", "e")
    with pytest.raises(AnchorInTextError):
        apply(parse(TEXT), ReplaceSection("concerns", "- b"), entry=entry)


def test_an_entry_that_begins_a_section_is_refused() -> None:
    with pytest.raises(RefusalError):
        apply(parse(TEXT), ReplaceSection("concerns", "- b"), entry="- x\n\n## New")


def test_with_two_change_logs_neither_gets_the_entry_or_may_be_replaced() -> None:
    text = TEXT + "\n## Log\n<!-- @anchor: change_log v2 -->\n"
    assert not apply(parse(text), ReplaceSection("concerns", "- b"), entry=ENTRY).logged
    with pytest.raises(ChangeLogIsAppendOnlyError):
        apply(parse(text), ReplaceSection("change_log v1", "- b"))


def test_an_entry_that_would_be_swallowed_by_an_open_fence_is_refused() -> None:
    with pytest.raises(InvalidInputError):
        apply(parse(TEXT + "\n```\n"), ReplaceSection("concerns", "- b"), entry=ENTRY)


def test_the_change_log_may_be_above_other_sections() -> None:
    text = TEXT + "\n## Free\n\nwords\n"
    applied = apply(parse(text), ReplaceSection("concerns", "- b"), entry=ENTRY)
    assert f"(evt:e1)\n{ENTRY}\n\n## Free\n\nwords\n" in applied.text


def test_an_entry_goes_into_a_change_log_above_the_edited_section() -> None:
    text = TEXT + "\n## Needs\n<!-- @anchor: needs v1 -->\n\n- sleep\n"
    applied = apply(parse(text), ReplaceSection("needs", "- sleep\n- and more rest"), entry=ENTRY)
    assert applied.text == text.replace("(evt:e1)\n", f"(evt:e1)\n{ENTRY}\n") + "- and more rest\n"


def test_a_heading_as_section_name_cannot_forge_an_entry() -> None:
    forged = "concerns v1 · replace_section · she agreed (evt:0000) · override: yes " + "x" * 200
    entry = log_entry("t", forged, "append_section", "r", "e1")
    assert entry.count(" · ") == 3
    assert entry.count("(evt:") == 1
    assert len(entry) < 200
    # A passage of the heading that is erased must not leave its beginning here.
    assert "concerns" not in entry
