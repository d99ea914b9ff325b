"""`lint` and its fixes."""

import pytest

from garden.application import Garden
from garden.session import Session
from tests.support.gardens import CRITIC, NOTES, OVERVIEW, edit_outside, file_of, put, result, rows
from tests.surfaces.cli.conftest import Command, untouched


def _mess_up(garden: Garden) -> None:
    edit_outside(garden, NOTES, "Slept well, after the deadline.\n", "Slept well.   \n\n\n\n- a\n")
    edit_outside(garden, CRITIC, "- Counts the hours\n", "- Counts the hours  \n")


@pytest.mark.usefixtures("ada")
def test_a_clean_garden_is_clean(run: Command) -> None:
    assert run.well("lint") == "4 documents: 0 block, 0 cap, 0 style.\n"
    assert run.well("lint", "parts", "notes.md", "parts/critic") == "3 documents: 0 block, 0 cap, 0 style.\n"


@pytest.mark.usefixtures("ada")
def test_findings_show_their_place_and_rule(run: Command, garden: Garden) -> None:
    _mess_up(garden)
    with untouched(garden):
        shown = run.well("lint").splitlines()
    assert any(
        line.startswith("notes.md:15:12") and " style MG603 trailing-space: " in line for line in shown
    ), shown
    assert shown[-1].startswith("4 documents: 0 block, 0 cap, ")


@pytest.mark.usefixtures("ada")
def test_a_finding_that_blocks_edits_exits_with_1(run: Command, garden: Garden) -> None:
    edit_outside(garden, NOTES, "user_id: ada", "user_id: ben")
    ran = run("lint", "notes.md")
    assert ran.code == 1
    assert " block MG203 " in ran.out


def test_a_fix_is_an_edit_with_a_rationale_and_leaves_nothing_to_fix(
    run: Command, garden: Garden, ada: Session
) -> None:
    _mess_up(garden)
    shown = run.well("lint", "--fix", "--actor", "ben")
    assert "Fixed notes.md: line 15, inbox v1: White space at the end of the line. (MG603" in shown
    assert shown.endswith("4 documents: 0 block, 0 cap, 0 style, 2 fixed.\n")
    assert "Slept well.\n\n- a" in result(ada, "fs.read", path=NOTES)
    event = rows(ada, path=NOTES)[0]
    assert (event["actor"], event["tool"], event["op"]) == ("ben", "md.fix", "fix")
    assert event["rationale"] == "Fixed mechanical findings."
    assert "· document · fix · Fixed mechanical findings. (evt:" in file_of(garden, CRITIC).read_text()
    assert "fixed" not in run.well("lint", "--fix")


def test_the_same_problem_made_again_is_fixed_again(run: Command, garden: Garden, ada: Session) -> None:
    for _ in range(2):
        edit_outside(garden, NOTES, "after the deadline.\n", "after the deadline.  \n")
        run.well("lint", "--fix")
        assert "deadline.\n" in result(ada, "fs.read", path=NOTES)


@pytest.mark.usefixtures("ada")
def test_a_dry_run_shows_the_fixes_and_makes_none(run: Command, garden: Garden) -> None:
    _mess_up(garden)
    with untouched(garden):
        shown = run.well("lint", "--fix", "--dry-run")
    assert "Would fix notes.md: " in shown
    assert "\n-Slept well.   \n" in shown


@pytest.mark.usefixtures("ada")
def test_a_refused_fix_is_reported_and_the_others_are_made(run: Command, garden: Garden) -> None:
    _mess_up(garden)
    edit_outside(garden, NOTES, "user_id: ada", "user_id: ben")
    ran = run("lint", "--fix")
    assert ran.code == 1
    assert "notes.md was not fixed: " in ran.err
    assert "Fixed parts/critic/profile.md" in ran.out


@pytest.mark.usefixtures("ada")
def test_an_unreadable_document_is_reported_and_the_others_are_checked(run: Command, garden: Garden) -> None:
    before = file_of(garden, OVERVIEW).read_bytes()
    put(garden, OVERVIEW, b"\xff")
    for words in (["lint"], ["lint", "--fix"]):
        ran = run(*words)
        assert ran.code == 1
        assert ran.err.startswith("error: overview.md: A document is UTF-8 text")
        assert ran.out.startswith("4 documents: ")
    put(garden, OVERVIEW, before)


@pytest.mark.usefixtures("ada")
def test_json_has_an_envelope_for_each_document(run: Command, garden: Garden) -> None:
    _mess_up(garden)
    found = run("lint", "--json").json
    assert [each["path"] for each in found] == sorted(each["path"] for each in found)
    assert all(each["ok"] and not each["result"]["blocked"] for each in found)
    fixes = [each["fix"] for each in run("lint", "--fix", "--json").json if "fix" in each]
    assert [each["ok"] for each in fixes] == [True, True]


@pytest.mark.usefixtures("ada")
def test_missing_paths_and_senseless_options_are_refused(run: Command, garden: Garden) -> None:
    with untouched(garden):
        assert "There is nothing at this path." in run.fails("lint", "parts/nobody")
        assert "This path is not allowed" in run.fails("lint", "../ben")
        assert "another user's garden" in run.fails("lint", "users/ben", "--user", "ada")
        assert "--dry-run belongs to --fix." in run.fails("lint", "--dry-run", code=2)
        ran = run("lint", "parts/nobody/notes.md")
        assert (ran.code, ran.err.splitlines()[0]) == (
            1, "error: parts/nobody/notes.md: There is nothing at this path.",
        )  # fmt: skip
