"""`status` and `reconcile`."""

import subprocess
from datetime import UTC, datetime, timedelta

import pytest

from garden.application import Garden
from garden.session import Session
from garden.upkeep.reconciliation import adopt
from tests.support.disk_clock import date_files_ahead
from tests.support.gardens import CRITIC, NOTES, OVERVIEW, edit_outside, events_of, file_of, put, rows
from tests.support.stalled import leave_open
from tests.surfaces.cli.conftest import Command, untouched


def _states(run: Command, *words: str) -> dict[str, str]:
    found = run("status", "--json", *words)
    states = {each["path"]: each["state"] for each in found.json["documents"]}
    assert found.code == (0 if set(states.values()) <= {"in step"} else 1)
    return {path: state for path, state in states.items() if state != "in step"}


@pytest.mark.usefixtures("ada")
def test_a_garden_in_step_exits_with_0(run: Command, garden: Garden) -> None:
    with untouched(garden):
        shown = run.well("status").splitlines()
    assert shown[0].split() == ["user", "document", "version", "state"]
    assert shown[1].split() == ["ada", "notes.md", "2", "in", "step"]
    assert shown[-1] == "4 documents of 1 user: 4 in step."


@pytest.mark.usefixtures("ada")
def test_other_files_are_counted_and_do_no_harm(run: Command, garden: Garden) -> None:
    assert run("status", "--json").json["others"] == 0
    put(garden, f"{CRITIC}.before", b"as it was")
    assert run.well("status").splitlines()[-1] == "1 other file or folder beside them, unseen by tools."
    put(garden, "users/ada/draft.md", b"mine")
    assert "2 other files or folders beside them" in run.well("status")
    assert run("status", "--json").json["others"] == 2


def test_an_empty_home_has_nothing_to_show(run: Command) -> None:
    assert run.well("status") == "There are no documents yet.\n"
    assert run.well("reconcile") == "Every document is in step.\n"


@pytest.mark.usefixtures("ada")
def test_status_shows_every_state_and_changes_nothing(run: Command, garden: Garden) -> None:
    edit_outside(garden, NOTES, "Slept well", "Slept badly")
    edit_outside(garden, CRITIC, "<!-- @anchor: needs v1 -->\n", "")
    put(garden, "users/ada/parts/child/notes.md", file_of(garden, NOTES).read_bytes())
    put(garden, CRITIC.replace("profile", "notes"), b"\xff")
    file_of(garden, OVERVIEW).unlink()
    with untouched(garden):
        assert _states(run) == {
            NOTES: "drifted",
            OVERVIEW: "missing",
            CRITIC: "damaged",
            CRITIC.replace("profile", "notes"): "unreadable",
            "users/ada/parts/child/notes.md": "new",
        }
        ran = run("status")
        assert ran.code == 1
        assert f"{OVERVIEW}: The file is missing. 'garden restore " in ran.out
        assert f"{CRITIC}: Missing: the anchor 'needs v1'. 'garden repair' puts it back." in ran.out


@pytest.mark.usefixtures("ada")
def test_status_shows_an_interrupted_change(run: Command, garden: Garden) -> None:
    leave_open(garden, NOTES, "More.")
    with untouched(garden):
        assert _states(run) == {NOTES: "open"}


@pytest.mark.usefixtures("ada")
def test_a_moved_document_is_not_missing(run: Command, garden: Garden) -> None:
    maintainer = garden.session("ada", role="maintainer")
    new = "users/ada/parts/child/notes.md"
    assert maintainer.call("fs.move", {"path": CRITIC.replace("profile", "notes"), "newPath": new})["ok"]
    assert _states(run) == {}
    assert new in run.well("status", "--json")


@pytest.mark.usefixtures("ada")
def test_status_and_reconcile_take_one_user(run: Command, garden: Garden) -> None:
    put(garden, "users/ben/notes.md", b"hello\n")
    assert _states(run, "--user", "ada") == {}
    assert _states(run) == {"users/ben/notes.md": "damaged"}
    for name in ("status", "reconcile"):
        assert f"There is no garden of 'nobody' in {run.home}." in run.fails(name, "--user", "nobody")


@pytest.mark.usefixtures("ada")
def test_reconciling_adopts_outside_edits(run: Command, garden: Garden, ada: Session) -> None:
    edit_outside(garden, NOTES, "Slept well", "Slept badly")
    put(
        garden,
        "users/ada/parts/child/notes.md",
        file_of(garden, CRITIC.replace("profile", "notes")).read_bytes(),
    )
    with untouched(garden):
        planned = run.well("reconcile", "--dry-run")
        assert f"would be opened  {NOTES} (drifted)" in planned
    done = run.well("reconcile").splitlines()
    assert done[0].startswith(f"adopted  {NOTES} (drifted): This save removed 1 line by companion.")
    assert done[1:] == [
        "adopted  users/ada/parts/child/notes.md (new)",
        "2 documents were not in step: 2 adopted.",
    ]
    assert [row["actor"] for row in rows(ada, limit=2)] == ["external", "external"]
    assert _states(run) == {}
    with untouched(garden):
        assert run.well("reconcile") == "Every document is in step.\n"


@pytest.mark.parametrize(("written", "outcome"), [(False, "undone"), (True, "finished")])
def test_reconciling_settles_interrupted_changes(
    run: Command, garden: Garden, ada: Session, written: bool, outcome: str
) -> None:
    leave_open(garden, NOTES, "More.", written=written)
    assert run.well("reconcile").splitlines()[0] == f"{outcome}  {NOTES} (open)"
    assert events_of(ada, NOTES)[-1] == f"append_file {'committed' if written else 'failed'}"
    assert ("More." in file_of(garden, NOTES).read_text()) is written
    assert _states(run) == {}


@pytest.mark.usefixtures("ada")
def test_documents_that_need_a_person_are_reported_and_the_rest_is_done(run: Command, garden: Garden) -> None:
    before = file_of(garden, OVERVIEW).read_bytes()
    file_of(garden, OVERVIEW).unlink()
    edit_outside(garden, CRITIC, "<!-- @anchor: needs v1 -->\n", "")
    edit_outside(garden, NOTES, "Slept well", "Slept badly")
    ran = run("reconcile")
    assert ran.code == 1
    assert f"needs a person  {OVERVIEW} (missing): The file is missing. 'garden restore " in ran.out
    assert f"needs a person  {CRITIC} (damaged): " in ran.out
    assert f"adopted  {NOTES} (drifted)" in ran.out
    assert "3 documents were not in step: " in ran.out
    assert "2 need a person" in ran.out
    outcomes = {each["path"]: each["outcome"] for each in run("reconcile", "--json").json}
    assert outcomes == {OVERVIEW: "needs a person", CRITIC: "needs a person"}
    put(garden, OVERVIEW, before)


@pytest.mark.usefixtures("ada")
def test_a_garden_that_can_t_be_listed_is_reported_beside_the_others(run: Command, garden: Garden) -> None:
    put(garden, "users/cyd/notes.md", file_of(garden, NOTES).read_bytes().replace(b"ada", b"cyd"))
    run.well("reconcile")
    home = garden.home.path
    (home / "users/cyd").rename(home / "elsewhere")
    (home / "users/cyd").symlink_to(home / "elsewhere")
    edit_outside(garden, NOTES, "Slept well", "Slept badly")
    what = "This folder can't be listed. This path is not allowed: "
    assert _states(run) == {NOTES: "drifted", "users/cyd": "unreadable", "users/cyd/notes.md": "unreadable"}
    shown = run("status").out
    assert f"users/cyd: {what}" in shown
    assert "elsewhere" not in shown
    assert "needs a person  users/cyd (unreadable): " in run("reconcile", "--dry-run").out
    ran = run("reconcile")
    assert (ran.code, ran.err) == (1, "")
    assert f"adopted  {NOTES} (drifted)" in ran.out
    assert f"needs a person  users/cyd (unreadable): {what}" in ran.out
    outcomes = {each["path"]: each["outcome"] for each in run("reconcile", "--json").json}
    assert outcomes == {"users/cyd": "needs a person", "users/cyd/notes.md": "needs a person"}


def test_status_waits_for_no_lock(run: Command, garden: Garden, ada: Session) -> None:
    with garden.services.store.document(ada.caller, NOTES):
        assert _states(run) == {}


@pytest.mark.usefixtures("ada")
def test_status_gives_the_time_of_the_last_change(run: Command) -> None:
    found = run("status", "--json").json["documents"]
    for each in found:
        since = datetime.fromisoformat(each["updated_at"])
        assert abs(datetime.now(UTC) - since) < timedelta(hours=1)


@pytest.mark.usefixtures("ada")
def test_a_document_that_no_tool_can_edit_stays_damaged(run: Command, garden: Garden) -> None:
    with file_of(garden, NOTES).open("a") as file:
        file.write("\n## Again\n<!-- @anchor: inbox v1 -->\n")
    for words in ("reconcile", "reconcile", "status"):
        ran = run(words)
        assert ran.code == 1
        assert "No tool can edit it: line" in ran.out
    assert _states(run) == {NOTES: "damaged"}


@pytest.mark.usefixtures("ada")
def test_a_quarantined_change_is_shown_until_it_is_tried_again(run: Command, garden: Garden) -> None:
    leave_open(garden, NOTES, "More.")
    for _ in range(garden.settings.upkeep.attempts + 1):
        garden.services.recoveries.claim(timedelta(0), limit=1, pause_seconds=0)
    assert _states(run) == {NOTES: "quarantined"}
    for words in (["reconcile"], ["reconcile", "--dry-run"], ["reconcile", "--quarantined", "--dry-run"]):
        ran = run(*words)
        assert ran.code == 1
        assert "run 'garden reconcile --quarantined' to try once more" in ran.out
    run.well("plant", "--user", "ben", "--title", "Ben")
    run.well("reconcile", "--quarantined", "--user", "ben")
    assert _states(run) == {NOTES: "quarantined"}
    assert run.well("reconcile", "--quarantined").splitlines()[0] == f"undone  {NOTES} (open)"
    assert _states(run) == {}


def test_lines_that_a_save_removed_can_be_brought_back(run: Command, garden: Garden, ada: Session) -> None:
    edit_outside(garden, CRITIC, "- Counts the hours\n", "")
    removed, restore = "This save removed 1 line by companion.", f"'garden restore {CRITIC} --version 2'"
    assert f"{removed} {restore} undoes it." in run("status").out
    shown = run.well("reconcile")
    event = rows(ada, path=CRITIC, type="external_edit")[0]["eventId"]
    assert f"{removed} 'garden undo {event[-12:]}' puts that back, {restore}" in shown
    assert f"{removed} 'garden undo {event[-12:]}'" in run.well("event", event)
    edit_outside(garden, CRITIC, "- Says yes before looking\n", "")
    envelope = ada.call("fs.append", {"path": CRITIC, "text": "## More\n\nMore."})
    assert "This save removed 1 line by companion. 'garden undo " in envelope["meta"]["warnings"][0]


@pytest.mark.usefixtures("ada")
def test_a_hard_linked_backup_is_counted_and_untouched_by_edits(
    run: Command, garden: Garden, ada: Session
) -> None:
    backup = garden.home.path / "backup"
    subprocess.run(["cp", "-al", garden.home.path / "users", backup], check=True)
    before = (backup / "ada/notes.md").read_bytes()
    assert run.well("status").splitlines()[-1] == (
        "4 documents have a second name elsewhere, a hard link. No edit reaches it."
    )
    assert ada.call("fs.append", {"path": NOTES, "text": "More."})["ok"]
    leave_open(garden, CRITIC, "More.")
    run.well("reconcile")
    assert (backup / "ada/notes.md").read_bytes() == before
    assert run("status", "--json").json["linked"] == 3


def test_what_was_made_again_is_shown_with_the_way_back(run: Command, garden: Garden, ada: Session) -> None:
    date_files_ahead(garden)
    file = file_of(garden, NOTES)
    assert ada.call("fs.append", {"path": NOTES, "text": "Kept."})["ok"]
    older = file.read_bytes()
    assert ada.call("fs.append", {"path": NOTES, "text": "Lost."})["ok"]
    file.write_bytes(older)
    list(adopt(garden.services, "ada"))
    assert "Version 4 was made again from the events on " in (line := run.well("status").splitlines()[-1])
    assert f"'garden restore {NOTES} --version 3' puts that back" in line
    [shown] = run("status", "--json").json["madeAgain"]
    assert (shown["path"], shown["version"], shown["set_back_to"]) == (NOTES, 4, 3)
    [recorded] = rows(ada, type="recovery")
    assert (recorded["op"], recorded["path"]) == ("made_again", NOTES)
