"""What other systems than Linux lack is switched off, and everything still works."""

import errno
import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from garden.files.beneath import READ_FOLDER, choose_resolver, open_at_once, open_step_by_step
from garden.files.errors import FileChangedError
from garden.files.plain_files import FreshFile, put_in_place
from garden.home import platform_features
from garden.home.embedded import EmbeddedPostgres
from garden.home.folder import Home
from garden.home.state_files import write_private_file
from tests.support.prepared_home import copy_prepared_home

_DAY = """
import json, sys
from tests.support.portable import switch_off
switch_off()
from garden.application import open_garden
from garden.home.embedded import EmbeddedPostgres
from garden.surfaces.cli.main import app
from garden.upkeep.reconciliation import reconcile
from garden.upkeep.status import status_of_user
path, notes, other = sys.argv[1], "users/ada/notes.md", "users/ada/parts/critic/notes.md"
with open_garden(path) as garden:
    call = garden.session("ada", "companion", role="maintainer").call
    done = [call("md.plant", {"path": notes}), call("fs.append", {"path": notes, "text": "Slept well."})]
    with open(f"{path}/{notes}", "a") as file:
        file.write("- by hand\\n")
    adopted = [each.outcome for each in reconcile(garden.services, ["ada"])]
    done += [call("fs.edit", {"path": notes, "find": "Slept well", "replace": "Slept badly"})]
    done += [call("md.undo", {"event": done[-1]["meta"]["eventId"], "rationale": "Wrong."})]
    done += [call("fs.move", {"path": notes, "newPath": other}), call("history.log", {"path": other})]
    done += [call("fs.read", {"path": other})]
    states = [each.state.value for each in status_of_user(garden.services, "ada")]
text = open(f"{path}/{other}").read()
print(json.dumps({"done": done, "adopted": adopted, "states": states, "text": text}))
EmbeddedPostgres(garden.home).stop()
"""


def test_a_whole_day_works_without_what_other_systems_lack(folder: Path) -> None:
    home = copy_prepared_home(folder / "home")
    done = subprocess.run(
        [sys.executable, "-c", _DAY, home.path], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    day = json.loads(done.stdout)
    assert [each["ok"] for each in day["done"]] == [True] * 7, day["done"]
    assert (day["adopted"], day["states"]) == (["adopted"], ["in step"])
    assert "Slept well." in day["text"]
    assert "- by hand" in day["text"]


class _Drive:
    """Counts the calls that make a drive write its cache, and answers them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, error: int = 0) -> None:
        self.flushed: list[int] = []
        self._error, self._fcntl = error, fcntl.fcntl
        monkeypatch.setattr(platform_features, "FULL_SYNC", 51)
        monkeypatch.setattr(fcntl, "fcntl", self._call)

    def _call(self, handle: int, command: int, *words: int) -> int:
        if command != 51:
            return self._fcntl(handle, command, *words)
        self.flushed.append(handle)
        if self._error:
            raise OSError(self._error, os.strerror(self._error))
        return 0


def test_the_drive_writes_its_cache_before_every_sync_where_fsync_does_not(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drive, synced, fsync = _Drive(monkeypatch), list[int](), os.fsync

    def noting(handle: int) -> None:
        synced.append(handle)
        fsync(handle)

    monkeypatch.setattr(os, "fsync", noting)
    write_private_file(folder / "file", b"x")
    assert drive.flushed == synced != []


@pytest.mark.parametrize(("error", "is_refused"), [(errno.EIO, True), (errno.ENOTSUP, False)])
def test_a_failure_of_the_drive_is_no_success(
    monkeypatch: pytest.MonkeyPatch, error: int, is_refused: bool
) -> None:
    _Drive(monkeypatch, error)
    if is_refused:
        with pytest.raises(OSError, match="Input/output"):
            platform_features.flush_drive(0)
    else:
        platform_features.flush_drive(0)


def test_the_embedded_database_makes_the_drive_write_its_cache_too(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    from garden.home.embedded.account import choose_account

    cluster = EmbeddedPostgres(home).cluster
    cluster.data.mkdir()
    account = choose_account(cluster.data)
    for wanted, number in ((False, None), (True, 51)):
        monkeypatch.setattr(platform_features, "FULL_SYNC", number)
        with monkeypatch.context() as patch:
            patch.setattr(platform_features, "flush_drive", lambda _: None)
            patch.setattr("garden.home.state_files.flush_drive", lambda _: None)
            cluster.configure(account)
        text = (cluster.data / "garden.conf").read_text()
        assert ("wal_sync_method = fsync_writethrough" in text) is wanted


@pytest.fixture
def opened(folder: Path) -> Iterator[int]:
    handle = os.open(folder, READ_FOLDER)
    yield handle
    os.close(handle)


def test_a_system_without_openat2_never_makes_its_call(opened: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert choose_resolver(opened) is open_at_once
    monkeypatch.setattr(platform_features, "HAS_OPENAT2", False)
    assert choose_resolver(opened) is open_step_by_step


def test_without_an_exchange_a_file_that_a_person_saved_is_not_replaced(
    folder: Path, opened: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform_features, "HAS_RENAME_FLAGS", False)
    (folder / "notes.md").write_text("old")
    status = (folder / "notes.md").stat()
    (folder / "notes.md").write_text("saved by hand")
    with FreshFile(opened, "notes.md", b"new") as fresh, pytest.raises(FileChangedError):
        put_in_place(fresh, "notes.md", status, opened)
    assert (folder / "notes.md").read_text() == "saved by hand"
