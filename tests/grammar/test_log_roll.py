"""The Change Log stays short: its oldest lines leave the file, and nothing else does."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from garden.grammar import log_roll
from garden.grammar.apply import apply
from garden.grammar.body import layout_of
from garden.grammar.change_log import find_change_log, log_entry
from garden.grammar.document import Document
from garden.grammar.edits import (
    AppendItem,
    AppendToSection,
    ApplyDiff,
    CurateList,
    Edit,
    ReplaceSection,
    RestoreText,
    WriteFile,
)
from garden.grammar.guards import check_roll
from garden.grammar.kinds.catalogue import load_kinds
from garden.grammar.log_roll import LogWords, read_log, roll_line
from garden.grammar.parser import parse
from garden.grammar.refusals import InvalidInputError, RefusalError

KIND = load_kinds()["part_profile"]
HEAD = (
    "# T\n\n## Needs\n<!-- @anchor: needs v1 -->\n\n- x\n\n## Change Log\n<!-- @anchor: change_log v1 -->\n\n"
)


def line(number: int, words: str = "why") -> str:
    return log_entry("2026-11-18 08:25Z", "needs v1", "replace_section", words, f"e{number}")


def profile(*numbers: int, lead: str = "", rolled: int = 0) -> Document:
    """Make a profile with these lines in its log."""
    lines = [*([roll_line(rolled)] if rolled else []), *map(line, numbers)]
    return parse(HEAD + lead + "".join(f"{each}\n" for each in lines))


def log_of(document: Document) -> LogWords:
    log = find_change_log(document, KIND)
    assert log is not None
    return read_log(layout_of(log.body).words)


def lines_of(document: Document) -> list[str]:
    return [each.strip() for each in log_of(document).lines]


def edited(document: Document, number: int, words: str = "why") -> Document:
    """Make an edit that adds its line to the log."""
    edit = ReplaceSection("needs", f"- {number}")
    return apply(document, edit, kind=KIND, entry=line(number, words)).after


def test_past_two_hundred_lines_the_oldest_hundred_leave_in_the_same_write() -> None:
    full = edited(profile(*range(199)), 199)
    assert log_of(full).rolled == 0
    once = edited(full, 200)
    assert (log_of(once).rolled, lines_of(once)) == (100, [line(number) for number in range(100, 201)])
    assert once.text.startswith(HEAD.replace("- x", "- 200") + roll_line(100) + "\n" + line(100) + "\n")
    for number in range(201, 301):
        once = edited(once, number)
    assert (log_of(once).rolled, lines_of(once)) == (200, [line(number) for number in range(200, 301)])
    assert once.text.count("Earlier lines") == 1


@pytest.mark.parametrize(
    "edit",
    [
        AppendToSection("change_log", "- own"),
        CurateList("change_log", (AppendItem("own"),)),
        WriteFile(profile(*range(200)).text + "- own\n"),
        ApplyDiff("@@ -1,1 +1,1 @@\n-# T\n+# U\n@@ -211,1 +211,2 @@\n " + line(199) + "\n+- own\n"),
    ],
)
def test_a_line_of_an_agents_own_rolls_the_log_too(edit: Edit) -> None:
    after = apply(profile(*range(200)), edit, kind=KIND, entry=line(200)).after
    assert lines_of(after) == [*map(line, range(100, 200)), "- own"]


def test_lines_that_the_same_write_added_stay() -> None:
    text = "\n".join(map(line, range(3, 300)))
    after = apply(profile(0, 1, 2), AppendToSection("change_log", text), kind=KIND).after
    assert (log_of(after).rolled, lines_of(after)) == (3, [line(number) for number in range(3, 300)])


def test_a_log_of_few_but_long_lines_rolls_too() -> None:
    document = profile(0)
    for number in range(1, 40):
        document = edited(document, number, "😴" * 2_000)
    assert log_of(document).written == 40
    assert len(document.text.encode()) < 300_000


def test_words_above_the_lines_and_other_line_ends_stay() -> None:
    before = parse(profile(*range(200), lead="Since spring.\n\n").text.replace("\n", "\r\n"))
    after = edited(before, 200)
    assert log_of(after).lead == "Since spring.\r\n\r\n"
    assert log_of(after).rolled == 100
    assert after.text.count("\n") == after.text.count("\r\n")


OWN = ("- own", "* starred", "1. one\n2. two", "- a\n\n  nested", "- own\n- twice")


@settings(max_examples=30)
@given(st.lists(st.sampled_from(("why", "😴" * 300, "a · b (evt:x)", *OWN)), min_size=20, max_size=50))
def test_every_line_is_in_the_log_or_was_rolled_and_the_log_stays_short(steps: list[str]) -> None:
    document, written = profile(0), [line(0)]
    with pytest.MonkeyPatch.context() as patched:
        for name, value in (("LINES_MAX", 20), ("LINES_ROLLED", 10), ("CHARACTERS_MAX", 3_000)):
            patched.setattr(log_roll, name, value)
        for number, step in enumerate(steps, 1):
            if step in OWN:
                document = apply(document, AppendToSection("change_log", step), kind=KIND).after
            else:
                document = edited(document, number, step)
            log, lines = log_of(document), lines_of(document)
            written += lines[len(written) - log.rolled :]
            assert [*written[: log.rolled], *lines] == written
            assert len(lines) <= 20
            assert len(document.text) <= len(HEAD) + 3_000
            assert document.text.count("Earlier lines") == (log.rolled > 0)
    assert len(written) > len(steps)


BEFORE, FULL = profile(*range(200), rolled=5), profile(*range(201), rolled=5)


@pytest.mark.parametrize(
    ("rolled", "earlier", "accepted"),
    [
        (profile(*range(100, 201), rolled=105), BEFORE, True),
        (profile(*range(1, 201), rolled=6), BEFORE, True),
        (profile(*range(100, 201), rolled=104), BEFORE, False),
        (profile(*range(100, 201)), BEFORE, False),
        (profile(*range(100, 200), rolled=105), BEFORE, False),
        (profile(0, *range(101, 201), rolled=105), BEFORE, False),
        (profile(*range(100, 201), rolled=105, lead="More.\n\n"), BEFORE, False),
        (parse(profile(*range(100, 201), rolled=105).text.replace("- x", "- y")), BEFORE, False),
        (profile(200, rolled=205), BEFORE, True),
        (profile(200, rolled=205), profile(*range(199), rolled=5), False),
        (profile(rolled=206), BEFORE, False),
        (profile(*range(100, 201), rolled=105), None, False),
    ],
)
def test_a_roll_takes_out_the_oldest_lines_and_nothing_else(
    rolled: Document, earlier: Document | None, accepted: bool
) -> None:
    try:
        check_roll(earlier, FULL, rolled, KIND)
    except RefusalError:
        assert not accepted
    else:
        assert accepted


def test_a_short_log_does_not_roll() -> None:
    with pytest.raises(RefusalError):
        check_roll(profile(0), profile(0, 1), profile(1, rolled=1), KIND)


@pytest.mark.parametrize(
    "edit", [AppendToSection("change_log", roll_line(9)), WriteFile(profile(0).text + roll_line(9))]
)
def test_the_line_for_earlier_lines_is_never_written_by_hand(edit: Edit) -> None:
    with pytest.raises(InvalidInputError, match="by hand"):
        apply(profile(0), edit, kind=KIND)


def test_a_restored_version_takes_no_line_out_of_a_log_that_changed_since() -> None:
    then, now = profile(0, 1, 2), profile(0, 5, 6)
    applied = apply(now, RestoreText(1, then.text.replace("- x", "- y")), kind=KIND, entry=line(7))
    assert lines_of(applied.after) == [line(number) for number in (0, 5, 6, 7)]
    assert "The Change Log stays as it is now" in applied.warnings[0]
    pruned = apply(profile(0, 2), RestoreText(1, then.text), kind=KIND, entry=line(7))
    assert lines_of(pruned.after) == [line(number) for number in (0, 1, 2, 7)]
    assert not pruned.warnings


@pytest.mark.parametrize(
    "then", [profile(*range(50)), profile(*range(150)), profile(*range(60, 120), rolled=60)]
)
def test_a_restored_version_keeps_the_rolled_log_and_its_later_lines(then: Document) -> None:
    now = profile(*range(100, 180), rolled=100)
    edit = RestoreText(1, then.text.replace("- x", "- as it was"))
    after = apply(now, edit, kind=KIND, entry=line(180)).after
    assert (log_of(after).rolled, lines_of(after)) == (100, [line(number) for number in range(100, 181)])
