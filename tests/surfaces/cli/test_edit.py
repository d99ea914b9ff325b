"""`append`, `patch` and `plant`."""

from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from garden.application import Garden
from garden.session import Session
from tests.support.gardens import CRITIC, NOTES, OVERVIEW, edit_outside, file_of, result, rows
from tests.surfaces.cli.conftest import Command, untouched

PROFILE = "parts/critic/profile.md"


def test_append_adds_an_entry_and_records_who_and_why(run: Command, garden: Garden, ada: Session) -> None:
    shown = run.well(
        "append", "notes.md", "It rained.", "-m", "She said so.", "--evidence", "ev:1", "--actor", "ben"
    )
    today = datetime.now().astimezone().date()
    assert file_of(garden, NOTES).read_text().endswith(f"\n\n{today}: It rained.\n")
    event = rows(ada)[0]
    assert shown == f"Changed: notes.md (event {event['eventId']})\n"
    assert (event["rationale"], event["evidenceRefs"], event["actor"], event["role"]) == (
        "She said so.", ["ev:1"], "ben", "maintainer",
    )  # fmt: skip


def test_an_entry_is_dated_where_the_person_is(
    run: Command, ada: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    days = {hours: datetime.now(timezone(timedelta(hours=hours))).date() for hours in (14, -12)}
    assert days[14] != days[-12]
    monkeypatch.setenv("GARDEN_TIMEZONE", "Etc/GMT-14")
    run.well("append", "notes.md", "- Here.")
    run.well("append", "notes.md", "There.", "--timezone", "Etc/GMT+12")
    run.well("append", "notes.md", "As it is.", "--no-date")
    text = result(ada, "fs.read", path=NOTES)
    assert f"\n\n- {days[14]}: Here.\n\n{days[-12]}: There.\n\nAs it is.\n" in text
    assert "IANA name" in run("append", "notes.md", "x", "--timezone", "Mars").err


def test_the_same_words_twice_are_two_entries_unless_they_have_a_key(run: Command, ada: Session) -> None:
    for _ in range(2):
        run.well("append", "notes.md", "Slept badly.")
    assert result(ada, "fs.read", path=NOTES).count("Slept badly.") == 2
    run.well("append", "notes.md", "Once.", "--key", "mine")
    assert run.well("append", "notes.md", "Once.", "--key", "mine").startswith("Changed before: notes.md")
    assert result(ada, "fs.read", path=NOTES).count("Once.") == 1


def test_words_may_come_from_standard_input(run: Command, ada: Session) -> None:
    run.well("append", "notes.md", "-", given="日記\nzwei\n".encode())
    assert "日記\nzwei\n" in result(ada, "fs.read", path=NOTES)
    run.well("patch", PROFILE, "needs", "--replace", "-", given=b"- Rest\n")
    run.well("patch", PROFILE, "needs v1", "--append", "-", given=b"- Sun\n")
    assert "- Rest\n- Sun\n" in result(ada, "fs.read", path=CRITIC)


def test_patch_replaces_a_section_and_keeps_the_others(run: Command, ada: Session) -> None:
    before = result(ada, "fs.read", path=CRITIC)
    run.well("patch", PROFILE, "needs", "--replace", "- Rest", "-m", "She asked for it.")
    after = result(ada, "fs.read", path=CRITIC)
    assert after.replace("- Rest\n", "").startswith(before[: before.index("## Needs")])
    assert "needs v1 · replace_section · She asked for it." in after


def test_a_diff_is_applied_to_the_document(run: Command, ada: Session, folder: Path) -> None:
    proposed = run.well("patch", PROFILE, "needs", "--append", "- Sun", "--dry-run")
    file = folder / "change.diff"
    file.write_text(proposed[: proposed.index("@@", proposed.index("@@ ") + 3)] + "@@\n")
    diff = b"--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n Slept well, after the deadline.\n+And it rained.\n"
    run.well("patch", "notes.md", "--diff", "-", given=diff.replace(b"-1,2 +1,2", b"-1,1 +1,2"))
    assert "deadline.\nAnd it rained.\n" in result(ada, "fs.read", path=NOTES)
    file.write_bytes(diff.replace(b"-1,2 +1,2", b"-1,1 +1,2").replace(b"rained", b"snowed"))
    run.well("patch", "notes.md", "--diff", str(file))
    assert "deadline.\nAnd it snowed.\nAnd it rained.\n" in result(ada, "fs.read", path=NOTES)


@pytest.mark.usefixtures("ada")
def test_a_dry_run_shows_the_diff_and_changes_nothing(run: Command, garden: Garden) -> None:
    with untouched(garden):
        shown = run.well("patch", PROFILE, "needs", "--replace", "- Rest", "--dry-run")
        assert "\n+- Rest\n" in shown
        assert shown.endswith("Allowed: no hard block applies.\n")
        assert "+Hello." in run.well("append", "notes.md", "Hello.", "--no-date", "--dry-run")
        envelope = run("append", "notes.md", "Hello.", "--dry-run", "--json").json
        assert set(envelope["result"]) == {"diff", "safetyReport", "requiresApproval"}


@pytest.mark.usefixtures("ada")
def test_a_diff_is_coloured_on_a_terminal(run: Command) -> None:
    shown = run.well("append", "notes.md", "Hello.", "--no-date", "--dry-run", tty=True)
    assert "\x1b[32m+Hello.\x1b[0m" in shown


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["patch", PROFILE, "dreams", "--append", "- x"], "There is no section 'dreams'."),
        (["patch", PROFILE, "needs", "--replace", "## Mine"], "heading"),
        (["patch", PROFILE, "needs", "--append", "- x", "--if-match", "sha256:" + "0" * 64], "changed since"),
        (["append", "notes.md", "x", "--if-match", "nonsense"], "--if-match is no hash"),
        (["patch", PROFILE, "change_log", "--replace", "- x"], "Change Log"),
        (["patch", "notes.md", "--diff", "-"], "diff"),
        (["patch", "parts/nobody/profile.md", "needs", "--append", "- x"], "There is no document to edit."),
        (["append", "notes.md", "a\x00b"], "a zero byte"),
        (["append", "parts", "x"], "this tool works on documents"),
        (["append", "users/ben/notes.md", "x", "--user", "ada"], "another user's garden"),
        (["append", "notes.md", "x", "--actor", "external"], "edits made outside the tools"),
        (["append", "notes.md", "x", "--user", "Ada"], "can't be a user's id"),
    ],
)
@pytest.mark.usefixtures("ada")
def test_a_refused_edit_says_why_and_changes_nothing(
    run: Command, garden: Garden, words: list[str], sentence: str
) -> None:
    with untouched(garden):
        message = run.fails(*words)
        assert message.startswith("error: ")
        assert "\nhint:  " in message
        assert sentence in message, message
        ran = run(*words, "--json")
        assert (ran.code, ran.json["ok"], ran.err) == (1, False, "")


@pytest.mark.parametrize(
    "words",
    [
        ["patch", PROFILE, "needs"], ["patch", PROFILE, "--replace", "x"],
        ["patch", PROFILE, "needs", "--replace", "x", "--append", "y"],
        ["patch", PROFILE, "needs", "--diff", "-"], ["patch", PROFILE, "--diff", "/nowhere/at/all"],
        ["append", "notes.md"], ["append", "notes.md", "x", "y"],
    ],
)  # fmt: skip
@pytest.mark.usefixtures("ada")
def test_wrong_usage_exits_with_2(run: Command, garden: Garden, words: list[str]) -> None:
    with untouched(garden):
        assert "hint:  Type for example: garden" in run.fails(*words, code=2)


@pytest.mark.usefixtures("ada")
def test_bytes_that_are_not_text_are_refused(run: Command, garden: Garden) -> None:
    with untouched(garden):
        assert "not text in UTF-8" in run.fails("append", "notes.md", "-", given=b"\xff", code=2)


def test_a_cap_asks_for_a_reason_and_takes_it(run: Command, garden: Garden, ada: Session) -> None:
    items = "\n".join(f'- "word {number}" (ev:s1-m{number})' for number in range(8))
    with untouched(garden):
        message = run.fails("patch", PROFILE, "evidence", "--replace", items)
        assert "--override-rationale" in message
    run.well("patch", PROFILE, "evidence", "--replace", items, "--override-rationale", "All of them matter.")
    assert rows(ada)[0]["overrideRationale"] == "All of them matter."


def test_an_edit_warns_of_an_outside_edit_before_it(run: Command, garden: Garden, ada: Session) -> None:
    edit_outside(garden, NOTES, "Slept well", "Slept badly")
    ran = run("append", "notes.md", "It rained.")
    assert ran.code == 0
    assert ran.err.startswith("warning: The file had been edited outside the tools")
    assert "Slept badly" in result(ada, "fs.read", path=NOTES)


@pytest.mark.usefixtures("ada")
def test_an_edit_that_changes_nothing_says_so(run: Command, garden: Garden) -> None:
    with untouched(garden):
        same = "- Says yes before looking\n- Counts the hours"
        assert run.well("patch", PROFILE, "concerns", "--replace", same) == f"Nothing changed: {PROFILE}\n"


def test_plant_adds_missing_documents_and_names_existing_ones(run: Command) -> None:
    assert run.well("plant", "--user", "ada").splitlines() == [f"Planted: {OVERVIEW}", f"Planted: {NOTES}"]
    there = [f"Exists already: {OVERVIEW}", f"Exists already: {NOTES}"]
    assert run.well("plant").splitlines() == there
    assert run.well("plant", "--title", "Another").splitlines() == there
    assert run.well("plant", "--part", "critic").splitlines() == [
        f"Planted: {CRITIC}", f"Planted: {CRITIC.replace('profile', 'notes')}",
    ]  # fmt: skip


def test_plant_refuses_an_invalid_id(run: Command, garden: Garden) -> None:
    with untouched(garden):
        assert "This path is not allowed" in run.fails("plant", "--user", "ada", "--part", "The Critic")


def test_an_entry_may_begin_with_a_dash_and_a_blank(run: Command, ada: Session) -> None:
    run.well("append", "notes.md", "- twice", "-m", "- She said so.")
    assert result(ada, "fs.read", path=NOTES).endswith(": twice\n")
    assert rows(ada)[0]["rationale"] == "- She said so."
    run.well("patch", PROFILE, "needs", "--append", "- Sun", "--evidence", "- ev")
    assert "- Sun\n" in result(ada, "fs.read", path=CRITIC)
    assert "profile.md" in run.well("search", "- Sun")


@pytest.mark.usefixtures("ada")
def test_an_unknown_option_is_refused(run: Command, garden: Garden) -> None:
    with untouched(garden):
        for option in ("--usr", "-x", "-twice"):
            assert "No such option" in run.fails("append", "notes.md", option, "x", code=2)
        assert "extra argument(s) (- y)" in run.fails("append", "notes.md", "x", "- y", code=2)
