"""An older file or folder that a person puts back, in any way, is an undo and not a fault of the disk."""

import subprocess
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from garden.application import Garden
from garden.session import Session
from garden.upkeep.reconciliation import adopt
from tests.support.gardens import CRITIC, OVERVIEW, file_of, ok, plant
from tests.support.planted import ada
from tests.support.promises import broken_promises
from tests.support.waiting import until

_MOMENT_NS = 100_000_000

PART_NOTES = "users/ada/parts/critic/notes.md"
PART = "users/ada/parts/critic"


@pytest.fixture
def session(garden: Garden) -> Session:
    plant(ada(garden), CRITIC, PART_NOTES, OVERVIEW)
    return ada(garden)


def shell(garden: Garden, script: str) -> None:
    """Run what a person types, in the garden home; `$X` is a folder on the same file system.

    A person is slower than this test, which waits for the file system's clock.
    """
    aside = garden.home.path / "aside"
    aside.mkdir(exist_ok=True)
    since = time.time_ns()
    until(lambda: _clock_of(aside) > since + _MOMENT_NS)
    environment = {"PATH": "/usr/bin:/bin", "X": str(aside)}
    subprocess.run(["/bin/sh", "-euc", script], cwd=garden.home.path, env=environment, check=True)


def append(session: Session, path: str, text: str) -> None:
    ok(session, "fs.append", path=path, text=f"## {text}")


def _clock_of(folder: Path) -> int:
    (folder / ".clock").touch()
    return (folder / ".clock").stat().st_mtime_ns


# How an older version is kept, and how it is put back.
WAYS = {
    "cp -a over the files": (f"cp -a {PART}/. $X/", f"cp -a $X/. {PART}/"),
    "mv of the files": (f"cp -a {PART}/. $X/", f"mv $X/*.md {PART}/"),
    "mv of the folder": (f"cp -a {PART} $X/critic", f"rm -r {PART}; mv $X/critic {PART}"),
    "mv of the folder above": (
        "cp -a users/ada/parts $X/parts", "rm -r users/ada/parts; mv $X/parts users/ada/parts"
    ),
    "mv of the user's folder": ("cp -a users/ada $X/ada", "rm -r users/ada; mv $X/ada users/ada"),
    "mv of hard links": (f"cp -al {PART} $X/critic", f"rm -r {PART}; mv $X/critic {PART}"),
    "mv of the originals": (
        f"mv {PART} $X/critic; cp -a $X/critic {PART}", f"rm -r {PART}; mv $X/critic {PART}"
    ),
    "rsync -a": (f"cp -a {PART}/. $X/", f"rsync -a $X/ {PART}/"),
    "tar": (f"tar -cf $X/critic.tar {PART}", "tar -xf $X/critic.tar"),
    "tar after rm": (f"tar -cf $X/critic.tar {PART}", f"rm -r {PART}; tar -xf $X/critic.tar"),
}  # fmt: skip
CLOCKS = {"one clock": 0, "an hour behind": -1, "an hour ahead": 1}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("path", [CRITIC, PART_NOTES])
def test_an_older_version_that_a_person_puts_back_stays(
    garden: Garden, session: Session, way: str, path: str
) -> None:
    keep, put_back = WAYS[way]
    append(session, path, "wanted")
    shell(garden, keep)
    older = file_of(garden, path).read_bytes()
    append(session, path, "regretted")
    shell(garden, put_back)
    # A change of another file in the folder must not hide that the folder was put back.
    other = PART_NOTES if path == CRITIC else CRITIC
    append(session, other, "later")
    append(session, OVERVIEW, "later")
    done = {each.path: each.outcome for each in adopt(garden.services, "ada")}
    assert done[path] == "adopted"
    assert file_of(garden, path).read_bytes() == older
    assert broken_promises(garden) == [] or "hard links" in way


@pytest.mark.parametrize("hours", CLOCKS.values(), ids=CLOCKS)
def test_a_clock_that_differs_from_the_file_systems_does_not_change_that(
    garden: Garden, session: Session, monkeypatch: pytest.MonkeyPatch, hours: int
) -> None:
    keep, put_back = WAYS["mv of the folder"]
    append(session, PART_NOTES, "wanted")
    shell(garden, keep)
    with monkeypatch.context() as other_host:
        other_host.setattr(garden.services.store, "_now", lambda: datetime.now(UTC) + timedelta(hours=hours))
        append(session, PART_NOTES, "regretted")
    shell(garden, put_back)
    assert [each.outcome for each in adopt(garden.services, "ada") if each.path == PART_NOTES] == ["adopted"]
