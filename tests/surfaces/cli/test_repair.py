"""`repair`, `restore`, `undo` and `mv`."""

import pytest

from garden.application import Garden
from garden.session import Session
from tests.support.gardens import CRITIC, NOTES, edit_outside, file_of, rows
from tests.surfaces.cli.conftest import Command, untouched

PROFILE = "parts/critic/profile.md"
ANCHOR = "<!-- @anchor: needs v1 -->\n"


def test_repair_puts_back_what_status_calls_missing(run: Command, garden: Garden, ada: Session) -> None:
    edit_outside(garden, CRITIC, ANCHOR, "")
    assert "'garden repair' puts it back." in run("status").out
    assert "'garden repair'" in run.fails("patch", PROFILE, "needs", "--append", "- Rest")
    with untouched(garden):
        assert "+<!-- @anchor: needs v1 -->" in run.well("repair", PROFILE, "--dry-run")
    shown = run.well("repair", PROFILE, "-m", "Edited on the phone.", "--actor", "ben")
    event = rows(ada, path=CRITIC)[0]
    assert shown.splitlines() == [
        f"Changed: {PROFILE} (event {event['eventId']})",
        "Put back: the anchor 'needs v1' under 'Needs'.",
    ]
    assert (event["op"], event["rationale"], event["actor"], event["role"]) == (
        "repair", "Edited on the phone.", "ben", "maintainer",
    )  # fmt: skip
    run.well("status")
    assert run.well("repair", PROFILE) == f"Nothing changed: {PROFILE}\n"


@pytest.mark.usefixtures("ada")
def test_repair_says_which_sections_come_back_empty(run: Command, garden: Garden) -> None:
    gone = "## Concerns\n<!-- @anchor: concerns v1 -->\n\n- Says yes before looking\n- Counts the hours\n\n"
    edit_outside(garden, CRITIC, gone, "")
    message = "The section 'concerns v1' comes back empty; version 2 holds its words."
    assert message in run.well("repair", PROFILE, "--dry-run")
    ran = run("repair", PROFILE)
    assert "Put back: the section 'concerns v1'." in ran.out
    assert ran.err.endswith(f"warning: {message}\n")
    assert "- Counts the hours" in run.well("cat", PROFILE, "--version", "2", "--section", "concerns")


@pytest.mark.usefixtures("ada")
def test_an_ambiguous_repair_is_refused_with_instructions(run: Command, garden: Garden) -> None:
    edit_outside(garden, CRITIC, f"## Needs\n{ANCHOR}", "## Needs\n\n## Needs\n")
    message = run.fails("repair", PROFILE)
    assert "may belong to more than one heading" in message
    assert "restore an earlier version" in message
    run.well("restore", PROFILE, "--version", "2")
    run.well("status")


def test_restore_brings_a_version_back(run: Command, garden: Garden, ada: Session) -> None:
    first = run.well("cat", "notes.md", "--version", "1")
    with untouched(garden):
        assert "-Slept well" in run.well("restore", "notes.md", "--version", "1", "--dry-run")
    run.well("restore", "notes.md", "--version", "1")
    assert file_of(garden, NOTES).read_text() == first
    second = rows(ada, path=NOTES)[1]["eventId"]
    run.well("restore", "notes.md", "--event", second[-8:])
    assert "Slept well" in file_of(garden, NOTES).read_text()
    assert run.well("restore", "notes.md", "--at", "0s") == "Nothing changed: notes.md\n"
    assert run("restore", "notes.md", "--version", "1", "--json").json["result"]["fromVersion"] == 1


@pytest.mark.usefixtures("ada")
def test_the_same_restore_runs_twice_unless_it_has_a_key(run: Command) -> None:
    for _ in range(2):
        run.well("append", "notes.md", "More.")
        assert run.well("restore", "notes.md", "--version", "1").startswith("Changed: notes.md")
    run.well("append", "notes.md", "More.")
    run.well("restore", "notes.md", "--version", "1", "--key", "mine")
    assert run.well("restore", "notes.md", "--version", "1", "--key", "mine").startswith("Changed before:")


@pytest.mark.usefixtures("ada")
def test_a_missing_file_comes_back(run: Command, garden: Garden) -> None:
    before = file_of(garden, NOTES).read_bytes()
    file_of(garden, NOTES).unlink()
    assert f"'garden restore {NOTES} --version 2' brings it back." in run("status").out
    ran = run("restore", "notes.md", "--version", "2")
    assert ran.code == 0
    assert "The file was missing; it is made anew." in ran.err
    assert file_of(garden, NOTES).read_bytes() == before
    run.well("status")


@pytest.mark.usefixtures("ada")
def test_reading_a_missing_file_shows_how_to_restore_it(run: Command, garden: Garden) -> None:
    file_of(garden, NOTES).unlink()
    with untouched(garden):
        for words in (["cat"], ["cat", "--section", "inbox"], ["lint"], ["lint", "--fix"]):
            message = run(*words, "notes.md").err
            assert "The file of this document is missing; the event log holds version 2 of it." in message
            assert "'garden restore'" in message


@pytest.mark.usefixtures("ada")
def test_a_version_that_does_not_exist_is_refused(run: Command, garden: Garden) -> None:
    with untouched(garden):
        for words in ([], ["--version", "1", "--at", "3d"], ["--event", "abcdef", "--version", "1"]):
            assert "Give one of --version, --at and --event." in run.fails(
                "restore", "notes.md", *words, code=2
            )
        run.fails("restore", "notes.md", "--version", "0", code=2)
        run.fails("restore", "notes.md", "--at", "tomorrow", code=2)
        assert "has no version 9" in run.fails("restore", "notes.md", "--version", "9")
        assert "Choose a later time." in run.fails("restore", "notes.md", "--at", "2020-01-01")
        assert "There is no such event" in run.fails("restore", "notes.md", "--event", "ffffffff")
        run.fails("repair", "users/ben/notes.md", "--user", "ada")
        for which in (["--version", "1"], ["--at", "0s"]):
            message = run.fails("restore", "parts/nobody/notes.md", *which)
            assert "There is no document users/ada/parts/nobody/notes.md in the event log." in message
            assert "'garden ls'" in message


def test_undo_takes_an_event_back_by_its_short_id(run: Command, garden: Garden, ada: Session) -> None:
    short = rows(ada, path=CRITIC)[0]["eventId"][-8:]
    with untouched(garden):
        assert "\n-- Says yes before looking\n" in run.well("undo", short, "--dry-run")
    shown = run.well("undo", short, "-m", "She took it back.", "--actor", "ben")
    event = rows(ada, path=CRITIC)[0]
    assert shown == f"Changed: {PROFILE} (event {event['eventId']})\n"
    assert (event["op"], event["rationale"], event["actor"]) == ("undo", "She took it back.", "ben")
    assert run.well("undo", short) == f"Nothing changed: {PROFILE}\n"
    assert run("undo", event["eventId"], "--json").json["result"]["path"] == CRITIC


def test_an_undo_in_conflict_names_the_words_and_the_events(
    run: Command, garden: Garden, ada: Session
) -> None:
    short = rows(ada, path=CRITIC)[0]["eventId"][-8:]
    edit_outside(garden, CRITIC, "Says yes before looking", "Says yes too soon")
    with untouched(garden):
        message = run.fails("undo", short, "--dry-run")
    assert "'- Says yes before looking': an outside edit that is not recorded yet." in message
    assert "or change the words with 'garden patch'" in message


def test_mv_moves_a_document_and_an_undo_of_the_move_names_the_command(run: Command, garden: Garden) -> None:
    run.well("plant", "--user", "ada")
    with untouched(garden):
        assert run.well("mv", "notes.md", "parts/critic/notes.md", "--dry-run").startswith("Would move: ")
    moved = run.well("mv", "notes.md", "parts/critic/notes.md", "-m", "They are the critic's.")
    assert moved.startswith("Moved: notes.md to parts/critic/notes.md (event ")
    message = run.fails("undo", moved.rpartition(" ")[2].strip(")\n"))
    assert "as in: garden mv users/ada/parts/critic/notes.md users/ada/notes.md\n" in message
    assert "A file is at this path already" in run.fails("mv", "parts/critic/notes.md", "overview.md")
