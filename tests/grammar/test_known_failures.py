"""Known failures of other tools that edit Markdown by section, one test each."""

import pytest

from garden.grammar.apply import apply
from garden.grammar.edits import (
    AppendToFile,
    AppendToSection,
    ApplyDiff,
    CurateList,
    PruneItem,
    ReplaceSection,
    WriteFile,
)
from garden.grammar.parser import parse
from garden.grammar.refusals import (
    AnchorChangedError,
    AnchorInTextError,
    AnchorNotFoundError,
    HeadingInSectionError,
    MalformedDocumentError,
    PatchConflictError,
)

TEXT = """---
id: a
user_id: u
schema: 1
mood: 'free'   # as it was typed
---

# T

## Concerns
<!-- @anchor: concerns v1 -->

- rests badly

## Needs
<!-- @anchor: needs v1 -->

- sleep
"""


def test_replacing_a_missing_section_is_an_error_and_never_an_append() -> None:
    for target in ("worries v1", "concerns v2", "Concern", "", "need"):
        with pytest.raises(AnchorNotFoundError):
            apply(parse(TEXT), ReplaceSection(target, "- x"))


def test_a_replacement_that_holds_new_sections_is_refused() -> None:
    with pytest.raises(HeadingInSectionError) as caught:
        apply(parse(TEXT), ReplaceSection("concerns", "- x\n\n## Needs\n\n- y"))
    assert caught.value.details == {"line": 3, "level": 2, "heading": "Needs"}


@pytest.mark.parametrize(
    "body",
    [
        "`## Needs`",
        "|a|\n|-|\n|## Needs|",
        "| ## Needs |\n| - |",
        "```md\n## Needs\n```",
        "~~~\n## Needs\n~~~",
        "````\n```\n## Needs\n```\n````",
    ],
)
def test_hashes_in_a_code_span_a_table_or_a_fence_begin_no_section(body: str) -> None:
    text = apply(parse(TEXT), ReplaceSection("concerns", body)).text
    assert [section.name for section in parse(text).sections] == ["concerns v1", "needs v1"]
    again = apply(parse(text), ReplaceSection("concerns", "- rests badly"))
    assert again.text == TEXT


def test_repeated_edits_grow_no_blank_lines() -> None:
    document = parse(TEXT)
    for _ in range(5):
        document = apply(document, ReplaceSection("concerns", "\n\n- x\n\n\n")).after
        document = apply(document, ReplaceSection("concerns", "\n\n- rests badly\n\n\n")).after
    assert document.text == TEXT
    for _ in range(5):
        document = apply(document, AppendToSection("concerns", "\n- y\n\n")).after
    assert "\n\n\n" not in document.text
    for _ in range(5):
        document = apply(document, AppendToFile("\n\nentry\n\n\n")).after
    assert "\n\n\n" not in document.text


def test_carriage_returns_are_kept() -> None:
    before = TEXT.replace("\n", "\r\n")
    for edit in (
        ReplaceSection("concerns", "- x\n- y"),
        AppendToSection("concerns", "- y\n\nmore"),
        AppendToFile("entry\nline"),
        WriteFile(TEXT.replace("sleep", "rest")),
        ApplyDiff("@@ -12,3 +12,3 @@\n \n-- rests badly\n+- rests well\n \n"),
    ):
        after = apply(parse(before), edit).text
        assert after != before
        assert after.count("\n") == after.count("\r\n")


@pytest.mark.parametrize("text", ["$&", "$1 and $`", "\\1", "\\g<0>", "\\n", "%s {0} {x}", "$$"])
def test_regex_references_in_a_replacement_are_plain_text(text: str) -> None:
    assert f"\n\n{text}\n\n## Needs" in apply(parse(TEXT), ReplaceSection("concerns", text)).text


def test_of_two_identical_matches_neither_is_chosen() -> None:
    twice = TEXT.replace("- rests badly\n", "- same\n- other\n- same\n")
    with pytest.raises(PatchConflictError) as caught:
        apply(parse(twice), CurateList("concerns", (PruneItem("same"),)))
    assert caught.value.details["items"] == ["1: same", "3: same"]
    far = twice.replace("- sleep\n", "- same\n- other\n- same\n")
    with pytest.raises(PatchConflictError) as caught:
        apply(parse(far), ApplyDiff("@@ -2,2 +2,2 @@\n-- same\n+- changed\n - other\n"))
    assert caught.value.details["lines"] == [13, 20]


def test_a_second_frontmatter_is_refused() -> None:
    with pytest.raises(MalformedDocumentError):
        apply(parse(TEXT), WriteFile("---\nid: a\nuser_id: u\nschema: 1\n---\n" + TEXT))
    with pytest.raises(MalformedDocumentError):
        apply(parse(TEXT), ApplyDiff("@@ -6,3 +6,6 @@\n ---\n+---\n+id: b\n+---\n \n # T\n"))


def test_unknown_frontmatter_keys_and_their_spelling_survive_every_edit() -> None:
    head = TEXT[: TEXT.index("# T")]
    for edit in (ReplaceSection("needs", "x"), AppendToSection("needs", "x"), AppendToFile("x")):
        assert apply(parse(TEXT), edit).text.startswith(head)


def test_a_replacement_keeps_the_anchor_comment() -> None:
    after = apply(parse(TEXT), ReplaceSection("concerns", "- x")).text
    assert "## Concerns\n<!-- @anchor: concerns v1 -->\n\n- x\n" in after
    with pytest.raises(AnchorInTextError):
        apply(parse(TEXT), ReplaceSection("concerns", "<!-- @anchor: concerns v1 -->\n\n- x"))
    for text in (TEXT.replace("<!-- @anchor: needs v1 -->\n", ""), TEXT.replace("- rests badly", "```")):
        with pytest.raises(AnchorChangedError):
            apply(parse(TEXT), WriteFile(text))
