"""`verify`: what it prints, its exit code, checkpoints, and going on after Ctrl-C."""

import shutil

import pytest

from garden.application import Garden
from garden.files.failpoints import Failpoint, watch_failpoints
from garden.history.checkpoints import make_checkpoints
from garden.session import Session
from tests.events.test_verifier import _DROP_ALL_CHECKS, tamper
from tests.support.gardens import CRITIC, NOTES, edit_outside, file_of, ok
from tests.surfaces.cli.conftest import Command

UNCHECKED = _DROP_ALL_CHECKS.decode()
PATCH = {"path": CRITIC, "sectionAnchor": "concerns v1", "change": {"replace": "- Rests"}}


def sign(garden: Garden) -> None:
    for _ in make_checkpoints(garden.services):
        pass


@pytest.mark.usefixtures("ada")
def test_a_home_in_order_holds(run: Command) -> None:
    assert run("verify").lines == ["ok      ada: 6 events, 4 documents", "Everything holds."]
    assert run("verify", "--json").json["holds"]


@pytest.mark.usefixtures("ada")
def test_an_edit_by_hand_is_named_and_holds_once_it_is_reconciled(run: Command, garden: Garden) -> None:
    edit_outside(garden, NOTES, "Slept well", "Slept badly")
    ran = run("verify")
    assert ran.code == 1
    assert f"{NOTES}, event " in ran.out
    assert "it was edited outside" in ran.out
    assert "garden reconcile" in ran.out
    assert ran.lines[-1] == "1 thing does not hold."
    run.well("reconcile")
    run.well("verify")


@pytest.mark.usefixtures("ada")
def test_a_fault_is_named_with_its_event_and_what_to_do(run: Command, garden: Garden, database: str) -> None:
    tamper(database, "update garden.events set rationale = 'another' where op = 'replace_section'")
    file_of(garden, NOTES).unlink()
    ran = run("verify", "--json")
    assert ran.code == 1
    [file, events] = ran.json["users"][0]["faults"]
    assert (events["part"], events["place"], events["message"]) == (
        "events",
        CRITIC,
        "its words were changed",
    )
    assert "compare it with a backup" in events["hint"]
    assert (file["part"], file["place"]) == ("file", NOTES)


def test_a_forged_copy_is_named_and_shown_with_a_warning(run: Command, garden: Garden, ada: Session) -> None:
    ok(ada, "md.patch_section", **PATCH)
    for copy in garden.home.path.glob("history/**/*.md"):
        copy.write_text("forged\n")
        path = str(copy.relative_to(garden.home.path))
        assert f"{path}, event " in run("verify").out
        shown = run("cat", path)
        assert (shown.code, shown.out) == (0, "forged\n")
        assert "This copy is not what event" in shown.err


def test_only_what_is_newer_than_a_checkpoint_is_verified(run: Command, garden: Garden, ada: Session) -> None:
    sign(garden)
    checkpoint = garden.home.path / ".garden/tlog/checkpoint"
    kept = shutil.copy(checkpoint, garden.home.path.parent / "checkpoint")
    ok(ada, "md.patch_section", **PATCH)
    ran = run("verify", "--since", kept)
    assert ran.lines == ["ok      ada: 1 events, 4 documents", "Everything holds."]
    assert run("verify", "--against", kept).code == 0
    run.fails("verify", "--since", kept, "--against", kept, code=2)
    next(garden.home.path.glob("history/**/*.md")).write_text("forged")
    assert run("verify", "--since", kept).code == 1


@pytest.mark.usefixtures("ada")
@pytest.mark.parametrize(
    "command",
    [
        f"update garden.events set chain_hash = sha256('x') where path = '{CRITIC}' and sequence = 2",
        f"delete from garden.events where path = '{CRITIC}'",
        f"update garden.events set splice_offsets[1] = 9999999 where path = '{CRITIC}' and sequence = 2",
        f"update garden.events set actor = 'another' where path = '{NOTES}' and sequence = 1",
        f"{UNCHECKED}; update garden.events set splices_inserted = array['x', 'y']::bytea[]",
        f"{UNCHECKED}; update garden.events set splice_offsets = array[null]::int[]",
        f"{UNCHECKED}; update garden.events set splices_removed = null",
    ],
)
def test_older_events_are_compared_with_the_log(
    run: Command, garden: Garden, database: str, command: str
) -> None:
    sign(garden)
    kept = shutil.copy(garden.home.path / ".garden/tlog/checkpoint", garden.home.path.parent / "checkpoint")
    tamper(database, command)
    ran = run("verify", "--since", kept)
    assert (ran.code, ran.lines[-1][-9:]) == (1, "not hold.")


@pytest.mark.usefixtures("ada")
@pytest.mark.parametrize("place", ["http://[", "https://", "http://127.0.0.1:port/", "nowhere"])
def test_a_place_without_a_checkpoint_is_a_fault_and_no_crash(run: Command, place: str) -> None:
    ran = run("verify", "--against", place)
    assert ran.code == 1
    assert f"{place} proves nothing: " in ran.out
    assert place in run.fails("verify", "--since", place)


@pytest.mark.usefixtures("ada")
def test_after_ctrl_c_the_next_run_goes_on(run: Command, garden: Garden) -> None:
    left = [Failpoint.DOCUMENT_VERIFIED] * 2

    def interrupt(step: Failpoint) -> None:
        if step in left:
            left.remove(step)
            if not left:
                raise KeyboardInterrupt

    with watch_failpoints(interrupt):
        stopped = run("verify")
    assert stopped.code == 130
    assert "goes on here" in stopped.err
    assert (
        run("verify").lines[0] == "ok      ada: 6 events, 4 documents (2 of them verified by the run before)"
    )
    assert not (garden.home.state / "verify.json").exists()
    assert "run before" not in run("verify").out
