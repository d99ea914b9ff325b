"""A file that the disk set back is rebuilt; one that a person put back is an outside edit."""

import os
import shutil
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from garden.application import Garden
from garden.files.failpoints import Failpoint, watch_failpoints
from garden.session import Session
from garden.upkeep.reconciliation import adopt
from tests.support.disk_clock import date_files_ahead
from tests.support.gardens import CRITIC, NOTES, events_of, file_of, ok, plant, rows
from tests.support.planted import ada
from tests.support.promises import broken_promises


@pytest.fixture
def session(garden: Garden) -> Session:
    plant(ada(garden), NOTES, CRITIC)
    return ada(garden)


def put_back(file: Path, content: bytes, after_ns: int = 0) -> None:
    """Touch a file now, as a person does; the clock of the file system may lag behind."""
    since = time.time_ns() + after_ns
    while file.stat().st_ctime_ns <= since:
        file.write_bytes(content)


def edited(session: Session, path: str, *texts: str) -> None:
    for text in texts:
        change = {"path": path, "sectionAnchor": "concerns v1", "change": {"append": f"- {text}"}}
        ok(session, "md.patch_section", **change)


@pytest.fixture
def disk_loses_writes(garden: Garden) -> None:
    """Files that are put back look older than the writes that they lack, as a disk leaves them."""
    date_files_ahead(garden)


@pytest.mark.usefixtures("disk_loses_writes")
@pytest.mark.parametrize("versions_lost", [1, 3])
def test_a_file_that_lost_confirmed_versions_is_rebuilt(
    garden: Garden, session: Session, versions_lost: int
) -> None:
    file = file_of(garden, CRITIC)
    edited(session, CRITIC, "first")
    old = file.read_bytes()
    edited(session, CRITIC, *(f"later {number}" for number in range(versions_lost)))
    newest = file.read_bytes()
    file.write_bytes(old)
    [done] = adopt(garden.services, "ada")
    assert done.outcome == "made again"
    assert file.read_bytes() == newest
    assert "external_edit committed" not in events_of(session, CRITIC)
    assert broken_promises(garden, spare_copies=True) == []


@pytest.mark.usefixtures("disk_loses_writes")
def test_the_next_write_rebuilds_it_too(garden: Garden, session: Session) -> None:
    file = file_of(garden, CRITIC)
    old = file.read_bytes()
    edited(session, CRITIC, "first")
    file.write_bytes(old)
    change = {"path": CRITIC, "sectionAnchor": "concerns v1", "change": {"append": "- second"}}
    preview = ok(session, "md.patch_section", **change, dryRun=True)["meta"]
    assert " - first\n" in preview["diff"]
    assert file.read_bytes() == old
    edited(session, CRITIC, "second")
    assert "first" in file.read_text()
    assert "second" in file.read_text()


def test_a_version_that_a_person_put_back_is_an_outside_edit(garden: Garden, session: Session) -> None:
    file = file_of(garden, CRITIC)
    old = file.read_bytes()
    edited(session, CRITIC, "first")
    put_back(file, old)
    [done] = adopt(garden.services, "ada")
    assert done.outcome == "adopted"
    assert file.read_bytes() == old
    assert events_of(session, CRITIC)[-1] == "external_edit committed"
    assert broken_promises(garden) == []


def test_a_copy_that_a_person_moved_back_with_its_times_is_an_outside_edit(
    garden: Garden, session: Session
) -> None:
    file = file_of(garden, CRITIC)
    edited(session, CRITIC, "first", "second")
    copy = max((garden.home.path / "history/ada/parts/critic/profile").iterdir())
    before = copy.stat()
    put_back(file, copy.read_bytes())
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    [done] = adopt(garden.services, "ada")
    assert done.outcome == "adopted"


@pytest.mark.parametrize("name", ["users/ada/parts/critic", "users/ada/parts"])
def test_a_folder_that_a_person_put_back_is_an_outside_edit(
    garden: Garden, session: Session, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """The files in it keep their times, which are those before the newest version."""
    place, kept = garden.home.path / name, garden.home.path / f"{name}-kept"
    shutil.copytree(place, kept)
    with monkeypatch.context() as a_little_later:
        later = lambda: datetime.now(UTC) + timedelta(milliseconds=60)  # noqa: E731
        a_little_later.setattr(garden.services.store, "_now", later)
        edited(session, CRITIC, "private")
    since = time.time_ns() + 60_000_000
    place.rename(f"{place}-away")
    kept.rename(place)
    while place.stat().st_ctime_ns <= since:
        place.rename(kept)
        kept.rename(place)
    [done] = (each for each in adopt(garden.services, "ada") if each.path == CRITIC)
    assert done.outcome == "adopted"
    assert "private" not in file_of(garden, CRITIC).read_text()


def test_a_file_that_was_touched_after_its_own_write_is_a_persons(garden: Garden, session: Session) -> None:
    file = file_of(garden, CRITIC)
    edited(session, CRITIC, "first")
    old = file.read_bytes()
    date_files_ahead(garden)
    edited(session, CRITIC, "regretted")
    put_back(file, old, after_ns=100_000_000)
    [done] = adopt(garden.services, "ada")
    assert done.outcome == "adopted"


@pytest.mark.parametrize("path", [CRITIC, NOTES])
@pytest.mark.parametrize("moment", [Failpoint.REPLACED, Failpoint.WRITTEN])
def test_an_undo_made_before_a_change_was_sealed_is_a_persons(
    garden: Garden, session: Session, path: str, moment: Failpoint
) -> None:
    file = file_of(garden, path)
    old = file.read_bytes()

    def undo(step: Failpoint) -> None:
        if step is moment:
            put_back(file, old)

    with watch_failpoints(undo):
        ok(session, "fs.append", path=path, text="## Regretted at once")
    [done] = adopt(garden.services, "ada")
    assert done.outcome == "adopted"
    assert file.read_bytes() == old


def test_a_file_touched_for_its_copy_and_then_set_back_is_rebuilt(
    garden: Garden, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, passed = file_of(garden, CRITIC), [timedelta(0)]
    for account in (garden.services.store, garden.services.recovery_path.store):
        monkeypatch.setattr(account, "_now", lambda: datetime.now(UTC) + passed[-1])

    def lasting_long(step: Failpoint) -> None:
        if step is Failpoint.WRITTEN:
            passed.append(timedelta(hours=1))

    with watch_failpoints(lasting_long):
        edited(session, CRITIC, "first")
    newest = file.read_bytes()
    [copy] = (garden.home.path / "history/ada/parts/critic/profile").iterdir()
    file.unlink()
    file.hardlink_to(copy)
    [done] = adopt(garden.services, "ada")
    assert done.outcome == "made again"
    assert file.read_bytes() == newest


@pytest.mark.parametrize("written_after", [True, False], ids=["counted on from", "set by"])
def test_a_persons_undo_stays_where_a_clock_was_ahead(
    garden: Garden, session: Session, monkeypatch: pytest.MonkeyPatch, written_after: bool
) -> None:
    file = file_of(garden, CRITIC)
    with monkeypatch.context() as wrong:
        wrong.setattr(garden.services.store, "_now", lambda: datetime.now(UTC) + timedelta(hours=1))
        if written_after:
            edited(session, CRITIC, "by a clock that is ahead")
        old = file.read_bytes()
        if not written_after:
            edited(session, CRITIC, "private")
    if written_after:
        edited(session, CRITIC, "private")
        # By now the clock has reached the time to which it had been set.
        later = lambda: datetime.now(UTC) + timedelta(hours=2)  # noqa: E731
        monkeypatch.setattr(garden.services.recovery_path.store, "_now", later)
    put_back(file, old)
    [done] = adopt(garden.services, "ada")
    assert done.outcome == "adopted"
    assert "private" not in file.read_text()


@pytest.mark.usefixtures("disk_loses_writes")
def test_bytes_that_were_never_a_version_are_kept(garden: Garden, session: Session) -> None:
    file = file_of(garden, CRITIC)
    edited(session, CRITIC, "first")
    with file.open("a") as opened:
        opened.write("\nby hand\n")
    [done] = adopt(garden.services, "ada")
    assert done.outcome == "adopted"
    assert "by hand" in file.read_text()


@pytest.mark.usefixtures("disk_loses_writes")
def test_a_document_that_a_disk_moved_back_is_not_emptied(garden: Garden) -> None:
    maintainer = garden.session("ada", role="maintainer")
    old, new = "users/ada/parts/critic/notes.md", "users/ada/parts/guard/notes.md"
    plant(maintainer, old)
    ok(maintainer, "fs.append", path=old, text="a word")
    ok(maintainer, "fs.move", path=old, newPath=new)
    file_of(garden, new).rename(file_of(garden, old))
    list(adopt(garden.services, "ada"))
    assert "a word" in file_of(garden, old).read_text()
    assert (rows(maintainer, path=old)[0]["op"], rows(maintainer, path=old)[0]["actor"]) == (
        "move",
        "external",
    )
