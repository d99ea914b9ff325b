"""`keys verify` and `reconcile --heads` on tampered databases."""

import pytest

from tests.events.test_verifier import tamper
from tests.support.gardens import CRITIC, NOTES
from tests.surfaces.cli.conftest import Command


@pytest.mark.usefixtures("ada")
def test_events_that_verify_need_nothing(run: Command) -> None:
    ran = run("keys", "verify")
    assert (ran.code, ran.err) == (0, "")


@pytest.mark.usefixtures("ada")
def test_heads_that_do_not_fit_their_events_get_the_hint_to_rebuild_them(run: Command, database: str) -> None:
    tamper(database, "update garden.documents set seal = sha256('forged') where path <> ''")
    ran = run("keys", "verify")
    assert ran.code == 1
    assert "only its head does not fit" in ran.err
    assert "'garden reconcile --heads'" in ran.err
    assert run("keys", "verify", "--json").err == ""


@pytest.mark.usefixtures("ada")
def test_events_that_do_not_verify_get_the_hint_to_compare_a_backup(run: Command, database: str) -> None:
    tamper(database, "update garden.documents set seal = sha256('forged') where path <> ''")
    tamper(database, "update garden.events set rationale = 'another' where op = 'replace_section'")
    ran = run("keys", "verify")
    assert ran.code == 1
    assert "hint:  Keep the database as it is, and compare it with a backup." in ran.err
    assert "--heads" not in ran.err


@pytest.mark.usefixtures("ada")
def test_rebuilding_heads_names_the_events_that_do_not_verify(run: Command, database: str) -> None:
    tamper(database, "update garden.events set rationale = 'another' where op = 'replace_section'")
    for words in (("--heads",), ("--heads", "--dry-run")):
        ran = run("reconcile", *words)
        assert ran.code == 1
        assert ran.lines[0].startswith(f"needs a person  {CRITIC} (unreadable): event ")
        assert "its words were changed. Keep the database as" in ran.lines[0]
        assert ran.lines[-1] == "1 document was not in step: 1 needs a person."


@pytest.mark.usefixtures("ada")
def test_a_head_is_rebuilt_beside_events_that_do_not_verify(run: Command, database: str) -> None:
    tamper(database, "update garden.events set rationale = 'another' where op = 'replace_section'")
    tamper(database, f"update garden.documents set seal = sha256('forged') where path = '{NOTES}'")
    ran = run("reconcile", "--heads", "--json")
    assert ran.code == 1
    assert {each["path"]: each["outcome"] for each in ran.json} == {
        CRITIC: "needs a person",
        NOTES: "made again",
    }
