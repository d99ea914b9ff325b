"""A start of the embedded Postgres as root: what it changes outside the home is said, and taken back."""

import os
import secrets
import struct
import subprocess
from pathlib import Path

import pytest

from garden.home.embedded import EmbeddedPostgres, account
from garden.home.embedded.folder_access import granted_folders
from garden.upkeep.doctor import examine
from tests.support.prepared_home import copy_prepared_home
from tests.support.processes import garden

AS_ROOT = os.geteuid() == 0
ACL = "system.posix_acl_access"


@pytest.fixture
def hidden(folder: Path) -> Path:
    """A folder that no other account may enter, as an administrator's own home folder."""
    folder = folder / "hidden"
    folder.mkdir(mode=0o700)
    return folder


def database_line(home: Path) -> str:
    return next(each.message for each in examine(home) if each.check == "database")


def test_passage_is_said_once_shown_by_the_doctor_and_taken_back(hidden: Path) -> None:
    home = copy_prepared_home(hidden / "home")
    said = f"Let the account memory-garden, which runs Postgres for root, pass through {hidden};"
    first, second = (garden("status", home=home.path) for _ in range(2))
    assert (said in first.stderr, "Let the account" in second.stderr) == (AS_ROOT, False)
    assert (f"may pass through {hidden}" in database_line(home.path)) == AS_ROOT
    back = garden("database", "stop", "--take-back", home=home.path)
    assert back.stdout == "Stopped.\n"
    assert (f"may pass through {hidden} no more" in back.stderr) == AS_ROOT
    assert (hidden.stat().st_mode & 0o777, os.listxattr(hidden)) == (0o700, [])
    assert (said in garden("status", home=home.path).stderr) == AS_ROOT
    EmbeddedPostgres(home).stop()


def test_taking_back_leaves_the_entries_of_others(hidden: Path) -> None:
    """Another account had been let in by the administrator before."""
    entries = [(1, 7, 2**32 - 1), (2, 5, 65533), (4, 0, 2**32 - 1), (16, 5, 2**32 - 1), (32, 0, 2**32 - 1)]
    before = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *each) for each in entries)
    os.setxattr(hidden, ACL, before)
    notices: list[str] = []
    home = copy_prepared_home(hidden / "home")
    embedded = EmbeddedPostgres(home, notices.append)
    embedded.ensure_running()
    assert len(notices) == (1 if AS_ROOT else 0)
    embedded.stop()
    assert embedded.take_back() == ([hidden] if AS_ROOT else [])
    assert os.getxattr(hidden, ACL) == before
    assert granted_folders(account.choose_account(home.state / "postgres"), [home.path]) == []


def test_an_account_that_is_made_is_said(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name, notices = f"mg-test-{secrets.token_hex(4)}", list[str]()
    monkeypatch.setattr(account, "DEDICATED_NAME", name)
    try:
        chosen = [account.choose_account(folder / "none", notices.append) for _ in range(2)]
    finally:
        if AS_ROOT:
            subprocess.run(["/usr/sbin/userdel", name], check=True)
    assert chosen[0] == chosen[1]
    assert [f"Made the system account {name}" in each for each in notices] == ([True] if AS_ROOT else [])
