"""Links, hard links and special files, planted anywhere; nothing outside is read, made or changed."""

import os
import socket
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread
from uuid import UUID

import pytest

from garden.files.errors import FileMissingError, ForeignFileError
from garden.files.garden_files import GardenFiles
from garden.files.paths import GardenPath
from garden.files.plain_files import check_type
from garden.grammar.errors import GardenError
from garden.home.folder import Home
from tests.files.test_garden_files import COPY, LATER_COPY, NOON, NOTES, PROFILE, digest, place
from tests.files.traversal_corpus import BEN, DOCUMENT, PLANTS, Plant

CANARY = b"CANARY\n"
OTHERS = GardenPath(f"users/{BEN}/parts/critic/profile.md")
SIBLING = GardenPath("users/ada/parts/critic/notes.md")


@pytest.fixture
def outside(home: Home) -> Path:
    """A folder beside the home with the same tree, full of canaries."""
    folder = home.path.parent / "outside"
    for path in (PROFILE, NOTES, SIBLING, COPY):
        for root, content in ((home.path, b"old\n"), (folder, CANARY)):
            target = root / str(path)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
    place(home, OTHERS, CANARY)
    return folder


def snapshot(*roots: Path) -> dict[str, tuple[bytes, int, int]]:
    """Every name below, with its content, change time and number of links."""
    return {
        str(path): (
            path.read_bytes() if path.is_file() else b"",
            path.stat().st_mtime_ns,
            path.stat().st_nlink,
        )
        for root in roots
        for path in (root, *root.rglob("*"))
    }


OPERATIONS: dict[str, Callable[[GardenFiles], object]] = {
    "read": lambda files: files.read(PROFILE),
    "exists": lambda files: files.exists(PROFILE),
    "replace": lambda files: files.replace(PROFILE, b"x\n", expected=digest(b"old\n")),
    "replace the canary": lambda files: files.replace(PROFILE, b"x\n", expected=digest(CANARY)),
    "replace and keep": lambda files: files.replace(
        PROFILE, b"x\n", expected=digest(CANARY), keep_previous=LATER_COPY
    ),
    "create": lambda files: files.replace(PROFILE, b"x\n", expected=None),
    "move away": lambda files: files.move(
        PROFILE, GardenPath("users/cleo/notes.md"), expected=digest(CANARY)
    ),
}
FOLDER_OPERATIONS: dict[str, Callable[[GardenFiles], object]] = {
    "list": lambda files: files.list_folder(PROFILE.folder),
    "create a sibling": lambda files: files.replace(
        GardenPath("users/ada/parts/new/notes.md"), b"x\n", expected=None
    ),
    "make folders": lambda files: files.ensure_folders(GardenPath("users/ada/parts/critic")),
    "move here": lambda files: files.move(
        OTHERS, GardenPath("users/ada/parts/critic/profile.md"), expected=digest(CANARY)
    ),
    "remove strays": lambda files: files.strays.remove(PROFILE),
    "drop a link": lambda files: files.history.drop_link(COPY),
}


@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.name)
def test_no_call_follows_a_planted_link(files: GardenFiles, home: Home, outside: Path, plant: Plant) -> None:
    link = home.path.joinpath(*DOCUMENT.split("/")[: plant.component + 1])
    link.rename(f"{link}-aside")
    link.symlink_to(plant.target_in(home.path))
    watched = [outside, home.path / ".garden", Path(f"{link}-aside")]
    watched += [home.users / BEN] if plant.component else []
    before = snapshot(*watched)
    behind_folders = plant.component < len(DOCUMENT.split("/")) - 1
    for name, operation in (OPERATIONS | (FOLDER_OPERATIONS if behind_folders else {})).items():
        if name == "create a sibling" and plant.component == 3:
            continue
        with pytest.raises(GardenError) as caught:
            operation(files)
        assert caught.value.code in {"path_not_allowed", "already_exists"}, name
        assert str(home.path) not in caught.value.message
        assert snapshot(*watched) == before, name
        assert link.is_symlink()


@pytest.mark.parametrize("depth", range(1, 6))
def test_no_link_in_the_history_is_followed(
    files: GardenFiles, home: Home, outside: Path, depth: int
) -> None:
    place(home, PROFILE)
    link = home.path.joinpath(*COPY.text.split("/")[:depth])
    link.rename(f"{link}-aside")
    link.symlink_to(outside.joinpath(*COPY.text.split("/")[:depth]))
    before = snapshot(outside)
    for attempt in (
        lambda: files.read(COPY),
        lambda: files.list_folder(COPY.folder),
        lambda: files.history.write(LATER_COPY, b"x\n"),
        lambda: files.replace(PROFILE, b"x\n", expected=digest(b"old\n"), keep_previous=LATER_COPY),
        lambda: files.strays.remove(PROFILE),
        lambda: files.history.drop_link(COPY),
    ):
        with pytest.raises(ForeignFileError):
            attempt()
    assert snapshot(outside) == before
    assert files.read(PROFILE).text == "old\n"


def test_a_link_in_place_of_a_copy_is_refused(files: GardenFiles, home: Home, outside: Path) -> None:
    copy = home.path / str(COPY)
    copy.unlink()
    copy.symlink_to(outside / str(COPY))
    for attempt in (
        lambda: files.read(COPY),
        lambda: files.exists(COPY),
        lambda: files.history.write(COPY, CANARY),
    ):
        with pytest.raises(ForeignFileError):
            attempt()
    with pytest.raises(GardenError):
        files.replace(PROFILE, b"x\n", expected=digest(b"old\n"), keep_previous=COPY)
    assert files.read(PROFILE).text == "old\n"


@pytest.fixture
def others_files(files: GardenFiles) -> GardenFiles:
    """A home whose owner is another account than that of the files in this test."""
    files._owner += 1
    return files


@pytest.mark.parametrize("path", [PROFILE, COPY], ids=["document", "copy"])
def test_a_hard_link_to_a_file_of_another_account_is_neither_read_nor_written(
    others_files: GardenFiles, home: Home, outside: Path, path: GardenPath
) -> None:
    files, planted = others_files, home.path / str(path)
    planted.unlink()
    planted.hardlink_to(outside / str(NOTES))
    before = snapshot(outside)
    attempts: list[Callable[[], object]] = [lambda: files.read(path)]
    if path is PROFILE:
        attempts += [
            lambda: files.replace(PROFILE, b"x\n", expected=digest(CANARY)),
            lambda: files.replace(PROFILE, b"x\n", expected=digest(CANARY), keep_previous=LATER_COPY),
            lambda: files.move(PROFILE, GardenPath("users/cleo/notes.md"), expected=digest(CANARY)),
        ]
    for attempt in attempts:
        with pytest.raises(ForeignFileError) as caught:
            attempt()
        assert caught.value.code == "path_not_allowed"
        assert "hard link" in caught.value.message
    assert snapshot(outside) == before


def test_a_hard_link_to_the_keys_is_refused(files: GardenFiles, home: Home) -> None:
    planted = home.path / str(NOTES)
    planted.parent.mkdir()
    planted.hardlink_to(home.keys_file)
    with pytest.raises(ForeignFileError):
        files.read(NOTES)


def test_a_planted_hard_link_is_found_beside_our_own(
    others_files: GardenFiles, home: Home, outside: Path
) -> None:
    """After a crash a document and its copy are one file; a third name is an attack."""
    files, copy = others_files, home.path / str(LATER_COPY)
    copy.hardlink_to(home.path / str(PROFILE))
    assert files.read(PROFILE).text == "old\n"
    (outside / "third").hardlink_to(copy)
    for path in (PROFILE, LATER_COPY):
        with pytest.raises(ForeignFileError):
            files.read(path)


@pytest.fixture(params=["fifo", "socket", "folder", "device"])
def special(request: pytest.FixtureRequest, home: Home) -> str:
    """A special file in the place of the profile."""
    target = home.path / str(PROFILE)
    target.parent.mkdir(parents=True)
    what: str = request.param
    if what == "fifo":
        os.mkfifo(target)
    elif what == "folder":
        target.mkdir()
    elif what == "socket":
        bind(target)
    else:
        # Without the right to make a device, a FIFO takes its place, and only the check sees a device.
        with pytest.raises(ForeignFileError):
            check_type(Path("/dev/zero").stat(), folder=False)
        try:
            os.mknod(target, stat.S_IFCHR | 0o600, os.makedev(1, 5))
        except PermissionError:
            os.mkfifo(target)
    return what


def bind(target: Path) -> None:
    """Make a socket, by a short address, as sockets need."""
    handle = os.open(target.parent, os.O_PATH)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(f"/proc/self/fd/{handle}/{target.name}")
    os.close(handle)


def test_every_call_refuses_a_special_file_at_once(files: GardenFiles, home: Home, special: str) -> None:
    target = home.path / str(PROFILE)
    before = target.lstat()
    for attempt in (
        lambda: files.read(PROFILE),
        lambda: files.exists(PROFILE),
        lambda: files.replace(PROFILE, b"x\n", expected=digest(b"")),
        lambda: files.replace(PROFILE, b"x\n", expected=digest(b""), keep_previous=COPY),
        lambda: files.move(PROFILE, NOTES, expected=digest(b"")),
    ):
        with pytest.raises(ForeignFileError) as caught:
            attempt()
        assert caught.value.code == "path_not_allowed", special
    assert files.list_folder(PROFILE.folder) == ()
    after = target.lstat()
    assert (after.st_ino, after.st_mode, after.st_nlink) == (before.st_ino, before.st_mode, before.st_nlink)


@pytest.mark.parametrize("what", ["file", "fifo"])
def test_a_file_in_place_of_a_folder_is_not_entered(files: GardenFiles, home: Home, what: str) -> None:
    target = home.users / "ada"
    os.mkfifo(target) if what == "fifo" else target.write_text("a file")
    for attempt in (
        lambda: files.read(NOTES),
        lambda: files.exists(NOTES),
        lambda: files.exists(NOTES.folder),
        lambda: files.list_folder(NOTES.folder),
        lambda: files.ensure_folders(PROFILE.folder),
        lambda: files.replace(NOTES, b"x\n", expected=None),
    ):
        with pytest.raises(ForeignFileError):
            attempt()


def test_a_folder_is_not_read_and_a_file_is_not_listed(files: GardenFiles, home: Home) -> None:
    place(home, PROFILE)
    with pytest.raises(ForeignFileError):
        files.read(PROFILE.folder)
    with pytest.raises(ForeignFileError):
        files.list_folder(PROFILE)


def test_a_vanishing_file_is_read_or_not_found(files: GardenFiles, home: Home) -> None:
    target = place(home, PROFILE)
    done = Event()

    def flicker() -> None:
        while not done.is_set():
            with suppress(OSError):
                target.unlink()
            target.write_bytes(b"old\n")

    flickering = Thread(target=flicker)
    flickering.start()
    seen = set()
    try:
        for number in range(1500):
            try:
                seen.add(files.read(PROFILE).text)
                if number % 10 == 0:
                    copy = PROFILE.copy_of(NOON, UUID(int=number))
                    files.replace(PROFILE, b"old\n", expected=digest(b"old\n"), keep_previous=copy)
            except FileMissingError:
                seen.add("missing")
            except GardenError as error:
                seen.add(error.code)
    finally:
        done.set()
        flickering.join()
    assert seen <= {"", "old\n", "missing", "precondition_failed", "unavailable"}
