"""`garden install-service`: which files it writes, refuses to touch, and takes back."""

import os
import pty
import shutil
import subprocess
from pathlib import Path

import pytest

from garden.home.embedded.account import Account
from garden.home.folder import Home
from garden.upkeep.service_units import (
    UNITS,
    UnitError,
    account_of,
    check_runs,
    installed_program,
    plan_units,
)
from tests.support.processes import command, environment
from tests.surfaces.cli.conftest import Command

USER = "systemd/user"


@pytest.fixture
def install(home: Home, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / "configuration"))
    return Command(home.path, monkeypatch)


@pytest.fixture
def units(folder: Path) -> Path:
    return folder / "configuration" / USER


def test_it_shows_the_units_and_writes_nothing_without_consent(install: Command, units: Path) -> None:
    shown = install.well("install-service", "--user", "--dry-run")
    assert f"{units / UNITS[0]}: add\n" in shown
    assert f'+Environment="GARDEN_HOME={install.home}"' in shown
    assert "Add --yes" in install.fails("install-service", "--user", code=2)
    assert not units.exists()


@pytest.mark.parametrize(("answer", "code", "written"), [(b"n\n", 1, []), (b"y\n", 0, sorted(UNITS))])
def test_a_person_is_asked(home: Home, folder: Path, answer: bytes, code: int, written: list[str]) -> None:
    ours, theirs = pty.openpty()
    env = environment(home.path, {"XDG_CONFIG_HOME": str(folder)})
    words = command("install-service", "--user")
    with subprocess.Popen(words, env=env, stdin=theirs, stdout=subprocess.DEVNULL) as asking:
        os.close(theirs)
        os.write(ours, answer)
    os.close(ours)
    assert asking.returncode == code
    assert sorted(file.name for file in folder.glob(f"{USER}/*")) == written


def test_installing_twice_changes_nothing_and_uninstalling_leaves_no_file(
    install: Command, units: Path
) -> None:
    shown = install.well("install-service", "--user", "--yes")
    assert (
        "  systemctl --user enable --now memory-garden-database.service memory-garden@serve.service\n"
        in shown
    )
    written = {file.name: file.read_bytes() for file in units.iterdir()}
    assert set(written) == set(UNITS)
    assert f"{units / UNITS[0]}: keep\n" in install.well("install-service", "--user", "--yes")
    again = install("install-service", "--user", "--yes", "--json").json
    assert [each["change"] for each in again["files"]] == ["keep", "keep"]
    assert {file.name: file.read_bytes() for file in units.iterdir()} == written
    assert "enable-linger" in shown
    removed = install.well("install-service", "--user", "--uninstall", "--yes")
    assert ": remove\n" in removed
    assert "enable-linger" not in removed
    assert list(units.iterdir()) == []


def test_another_home_takes_the_units_over_after_they_were_shown(
    install: Command, units: Path, folder: Path
) -> None:
    install.well("install-service", "--user", "--yes")
    shutil.copytree(install.home, folder / "moved")
    shown = install.well("--home", folder / "moved", "install-service", "--user", "--yes")
    assert f'-Environment="GARDEN_HOME={install.home}"' in shown
    assert str(folder / "moved") in (units / UNITS[1]).read_text()


@pytest.mark.parametrize("words", [("--yes",), ("--uninstall", "--yes")])
def test_a_unit_that_was_edited_is_left_alone(install: Command, units: Path, words: tuple[str, ...]) -> None:
    install.well("install-service", "--user", "--yes")
    edited = units / UNITS[1]
    edited.write_text(edited.read_text() + "Nice=5\n")
    before = {file.name: file.read_bytes() for file in units.iterdir()}
    message = install.fails("install-service", "--user", *words)
    assert "edited since" in message
    assert f"systemctl edit {UNITS[1]}" in message
    assert {file.name: file.read_bytes() for file in units.iterdir()} == before


def test_enabled_units_are_not_taken_away(install: Command, units: Path) -> None:
    install.well("install-service", "--user", "--yes")
    wants = units / "default.target.wants"
    wants.mkdir()
    (wants / "memory-garden@serve.service").symlink_to(units / UNITS[0])
    message = install.fails("install-service", "--user", "--uninstall", "--yes")
    assert "systemctl --user disable --now memory-garden@serve.service" in message
    assert (units / UNITS[0]).exists()


def test_a_worker_and_a_scheduler_are_started_where_there_is_a_broker(install: Command) -> None:
    words = ("install-service", "--user", "--dry-run")
    message = install.fails(*words, GARDEN_BROKER_URL="redis://127.0.0.1")
    assert "which a unit does not have: GARDEN_BROKER_URL." in message
    (install.home / "garden.toml").write_text('broker_url = "redis://127.0.0.1"\n')
    shown = install(*words, "--json")
    assert shown.json["commands"][1].endswith("@worker.service memory-garden@schedule.service")


def test_a_home_that_does_not_exist_is_not_made(install: Command, units: Path) -> None:
    message = install.fails("--home", install.home / "typo", "install-service", "--user", "--yes")
    assert "There is no garden home in" in message
    assert not (install.home / "typo").exists()
    assert not units.exists()


def test_a_folder_that_cannot_be_made_is_named(install: Command, units: Path) -> None:
    units.parents[1].mkdir()
    units.parent.write_text("a file")
    message = install.fails("install-service", "--user", "--yes")
    assert str(units) in message
    assert "hint:" in message


def test_a_home_of_root_gets_no_unit_of_the_system(home: Home) -> None:
    if os.geteuid() == 0:
        with pytest.raises(UnitError, match="belongs to root"):
            account_of(home)
        os.chown(home.path, 65534, 65534)
    account = account_of(home)
    (unit, _) = plan_units(home, Path("/opt/garden"), Path("/etc/systemd/system"), account)
    assert f"\nUser={account.name}\n" in str(unit.after)


def test_a_path_that_systemd_would_read_otherwise_is_refused(folder: Path, home: Home) -> None:
    moved = Home(folder / "100% mine", home.id, home.layout)
    with pytest.raises(UnitError, match="A unit can't hold this path"):
        plan_units(moved, installed_program(), folder, None)


def test_a_program_that_the_account_cannot_run_is_refused(folder: Path) -> None:
    program = folder / "garden"
    program.write_text("#!/bin/sh\n")
    account = Account("me", os.geteuid(), os.getegid())
    with pytest.raises(UnitError, match=f"The account me can't run {program}"):
        check_runs(program, account)
