import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from types import FrameType
from typing import Any
from uuid import UUID

import pytest

from garden.files.beneath import _check_result
from garden.files.errors import (
    FileBusyError,
    FileChangedError,
    FileExistsAlreadyError,
    FileMissingError,
    FileTooLargeError,
    NotTextError,
)
from garden.files.garden_files import GardenFiles
from garden.files.paths import GardenPath, PathNotAllowedError
from garden.files.plain_files import SIZE_MAX_BYTES, check_unchanged, open_in, read_stable
from garden.home.folder import Home

PROFILE = GardenPath("users/ada/parts/critic/profile.md")
NOTES = GardenPath("users/ada/notes.md")
AT_THE_WORKING_FOLDER = -100
NOON = datetime(2026, 11, 18, 12, 0, 0, 0, UTC)
COPY = PROFILE.copy_of(NOON, UUID(int=1))
LATER_COPY = PROFILE.copy_of(NOON, UUID(int=2))


def names(home: Home) -> list[str]:
    """Every name in the home, except its own state."""
    return sorted(
        str(path.relative_to(home.path)) for path in home.path.rglob("*") if ".garden" not in path.parts
    )


def place(home: Home, path: GardenPath, content: bytes = b"old\n") -> Path:
    """Write a file at this path, as a person would."""
    target = home.path / str(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content)
    return target


def digest(content: bytes) -> str:
    return f"sha256:{sha256(content).hexdigest()}"


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_a_file_is_read_with_its_hash_its_size_its_mode_and_what_identifies_it(
    files: GardenFiles, home: Home
) -> None:
    target = place(home, NOTES, "Grüße\n".encode())
    target.chmod(0o640)
    found = files.read(NOTES)
    assert found.text == "Grüße\n"
    assert found.hash == digest("Grüße\n".encode())
    assert (found.size_bytes, found.mode) == (8, 0o640)
    assert found.identity == (target.stat().st_dev, target.stat().st_ino)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"a\nb\n",
        b"a\r\nb\r\n",
        b"a\rb",
        b"\xef\xbb\xbfa\n",
        b"a",
        b"a\r\n\n\r",
        "庭\u2028\u0085\n".encode(),
    ],
    ids=["empty", "LF", "CRLF", "CR", "BOM", "no end", "mixed", "other scripts"],
)
def test_every_byte_of_a_text_survives_reading_and_writing(
    files: GardenFiles, home: Home, content: bytes
) -> None:
    target = place(home, NOTES, content)
    found = files.read(NOTES)
    assert found.text.encode() == content
    files.replace(NOTES, found.text.encode() + b"x", expected=found.hash)
    assert target.read_bytes() == content + b"x"


@pytest.mark.parametrize(
    ("content", "offset"),
    [(b"ab\0c", 2), (b"a\xff", 1), (b"\xc0\xae", 0), (b"abc\xed\xa0\x80", 3), (b"ok \xe5\xba", 3)],
    ids=["zero byte", "no UTF-8", "overlong", "surrogate", "cut short"],
)
def test_bytes_that_are_not_text_are_neither_read_nor_written(
    files: GardenFiles, home: Home, content: bytes, offset: int
) -> None:
    place(home, NOTES, content)
    with pytest.raises(NotTextError) as caught:
        files.read(NOTES)
    assert caught.value.code == "not_text"
    assert caught.value.details == {"offset": offset}
    with pytest.raises(NotTextError):
        files.replace(PROFILE, content, expected=None)
    assert not files.exists(PROFILE)


def test_a_file_may_have_one_mebibyte(files: GardenFiles, home: Home) -> None:
    place(home, NOTES, b"a" * SIZE_MAX_BYTES)
    assert files.read(NOTES).size_bytes == SIZE_MAX_BYTES == 1_048_576
    place(home, NOTES, b"a" * (SIZE_MAX_BYTES + 1))
    with pytest.raises(FileTooLargeError) as caught:
        files.read(NOTES)
    assert caught.value.code == "too_large"
    with pytest.raises(FileTooLargeError):
        files.replace(PROFILE, b"a" * (SIZE_MAX_BYTES + 1), expected=None)
    assert not files.exists(PROFILE)


def test_a_huge_file_is_refused_without_being_read(files: GardenFiles, home: Home) -> None:
    with place(home, NOTES).open("r+b") as sparse:
        sparse.truncate(1 << 40)
    with pytest.raises(FileTooLargeError):
        files.read(NOTES)


@pytest.mark.parametrize("path", [NOTES, PROFILE, COPY], ids=str)
def test_a_missing_file_is_not_found(files: GardenFiles, path: GardenPath) -> None:
    with pytest.raises(FileMissingError) as caught:
        files.read(path)
    assert caught.value.code == "not_found"
    assert not files.exists(path)
    with pytest.raises(FileMissingError):
        files.list_folder(path.folder)


def test_a_file_rewritten_during_a_read_is_busy_or_read_in_one_state(files: GardenFiles, home: Home) -> None:
    target = place(home, NOTES, b"a" * 200_000)
    done = threading.Event()

    def grow_and_shrink() -> None:
        with target.open("r+b") as file:
            while not done.is_set():
                os.ftruncate(file.fileno(), 0)
                os.pwrite(file.fileno(), b"a" * 200_000, 0)

    writer = threading.Thread(target=grow_and_shrink)
    writer.start()
    outcomes = set()
    try:
        for _ in range(2000):
            try:
                outcomes.add(set(files.read(NOTES).text) <= {"a"})
            except FileBusyError as error:
                outcomes.add(error.code == "unavailable")
    finally:
        done.set()
        writer.join()
    assert outcomes == {True}
    assert files.read(NOTES).size_bytes == 200_000


def test_a_file_that_keeps_changing_is_busy() -> None:
    # A plain file of size 0 that still has content to read.
    with (
        open_in(AT_THE_WORKING_FOLDER, "/proc/self/status") as handle,
        pytest.raises(FileBusyError) as caught,
    ):
        read_stable(handle)
    assert caught.value.code == "unavailable"


def names_listed(files: GardenFiles, folder: str) -> list[str]:
    return [str(path) for path in files.list_folder(GardenPath(folder))]


def test_a_new_file_is_private_and_its_folders_are_made(files: GardenFiles, home: Home) -> None:
    assert files.replace(PROFILE, b"new\n", expected=None) == digest(b"new\n")
    assert files.read(PROFILE).text == "new\n"
    assert mode(home.path / str(PROFILE)) == 0o600
    assert names(home)[-1] == str(PROFILE)


@pytest.mark.parametrize("what", ["file", "folder", "link", "dangling link", "fifo"])
def test_creating_overwrites_nothing(files: GardenFiles, home: Home, what: str) -> None:
    target = place(home, NOTES)
    if what != "file":
        target.unlink()
    if what == "folder":
        target.mkdir()
    elif what == "fifo":
        os.mkfifo(target)
    elif "link" in what:
        target.symlink_to(home.keys_file if what == "link" else "/nowhere")
    before = (names(home), target.lstat(), home.keys_file.read_bytes())
    with pytest.raises(FileExistsAlreadyError) as caught:
        files.replace(NOTES, b"new\n", expected=None)
    assert caught.value.code == "already_exists"
    assert (names(home), target.lstat(), home.keys_file.read_bytes()) == before


def test_of_many_creators_of_one_file_one_wins_and_leaves_no_stray(files: GardenFiles, home: Home) -> None:
    barrier = threading.Barrier(32)

    def create(number: int) -> int | None:
        barrier.wait()
        try:
            files.replace(PROFILE, b"%d\n" % number, expected=None)
        except FileExistsAlreadyError:
            return None
        return number

    with ThreadPoolExecutor(32) as pool:
        winners = [number for number in pool.map(create, range(32)) if number is not None]
    assert len(winners) == 1
    assert files.read(PROFILE).text == f"{winners[0]}\n"
    assert [path.name for path in (home.path / str(PROFILE.folder)).iterdir()] == ["profile.md"]


def test_a_file_is_replaced_in_one_step_and_keeps_its_mode(files: GardenFiles, home: Home) -> None:
    target = place(home, PROFILE)
    target.chmod(0o664)
    before = target.stat()
    assert files.replace(PROFILE, b"new\n", expected=digest(b"old\n")) == digest(b"new\n")
    assert target.read_bytes() == b"new\n"
    assert mode(target) == 0o664
    assert target.stat().st_ino != before.st_ino
    assert [path.name for path in target.parent.iterdir()] == ["profile.md"]


@pytest.mark.parametrize(("copy", "calls_max"), [(None, 24), (LATER_COPY, 29)])
def test_a_replacement_takes_few_system_calls(home: Home, copy: GardenPath | None, calls_max: int) -> None:
    calls: list[str] = []

    def profile(frame: FrameType, event: str, function: Any) -> None:
        # The kernel calls that Python lacks are made through ctypes, which reports no call.
        if event == "call" and frame.f_code is _check_result.__code__:
            calls.append("ctypes")
        if event == "c_call" and function.__module__ in {"posix", "fcntl"}:
            calls.append(function.__name__)

    place(home, PROFILE).chmod(0o600)
    with GardenFiles(home.path) as files:
        # Makes and syncs the folders of the history.
        files.replace(PROFILE, b"new\n", expected=digest(b"old\n"), keep_previous=COPY)
        before = sys.getprofile()
        sys.setprofile(profile)
        try:
            files.replace(PROFILE, b"newer\n", expected=digest(b"new\n"), keep_previous=copy)
        finally:
            sys.setprofile(before)
    assert len(calls) == calls_max
    assert calls.count("fsync") == (2 if copy is None else 3)


def test_a_replaced_file_stays_with_the_person_who_owns_it(files: GardenFiles, home: Home) -> None:
    target = place(home, PROFILE)
    owner = (12345, 12346) if os.geteuid() == 0 else (os.geteuid(), os.getegid())
    os.chown(target, *owner)
    files.replace(PROFILE, b"new\n", expected=digest(b"old\n"))
    assert (target.stat().st_uid, target.stat().st_gid) == owner


def test_a_file_that_changed_since_it_was_read_is_not_replaced(files: GardenFiles, home: Home) -> None:
    target = place(home, PROFILE)
    planned = files.read(PROFILE)
    target.write_bytes(b"mine\n")
    before = names(home)
    with pytest.raises(FileChangedError) as caught:
        files.replace(PROFILE, b"new\n", expected=planned.hash, keep_previous=None)
    assert caught.value.code == "precondition_failed"
    assert caught.value.details == {"currentHash": digest(b"mine\n")}
    assert target.read_bytes() == b"mine\n"
    assert names(home) == before


@pytest.mark.parametrize("edit", ["another file", "in place", "longer"])
def test_an_outside_edit_at_the_last_moment_is_noticed(home: Home, edit: str) -> None:
    target = place(home, PROFILE)
    os.utime(target, ns=(1, 1))
    handle = os.open(target.parent, os.O_RDONLY)
    status = target.stat()
    (target.parent / "second name").hardlink_to(target)
    check_unchanged(status, handle, target.name)
    if edit == "another file":
        target.unlink()
    target.write_bytes(b"longer\n" if edit == "longer" else b"OLD\n")
    if edit != "in place":
        os.utime(target, ns=(1, 1))
    with pytest.raises(FileChangedError):
        check_unchanged(status, handle, target.name)
    os.close(handle)


def test_replacing_does_not_make_a_missing_file(files: GardenFiles, home: Home) -> None:
    files.ensure_folders(PROFILE.folder)
    with pytest.raises(FileMissingError):
        files.replace(PROFILE, b"new\n", expected=digest(b"old\n"))
    assert not (home.path / str(PROFILE)).exists()


@pytest.mark.parametrize("path", [COPY, COPY.folder, PROFILE.folder], ids=str)
def test_only_documents_are_replaced_or_moved(files: GardenFiles, home: Home, path: GardenPath) -> None:
    place(home, COPY)
    place(home, PROFILE)
    for attempt in (
        lambda: files.replace(path, b"new\n", expected=digest(b"old\n")),
        lambda: files.replace(path, b"new\n", expected=None),
        lambda: files.move(path, NOTES, expected=digest(b"old\n")),
        lambda: files.move(PROFILE, path, expected=digest(b"old\n")),
    ):
        with pytest.raises(PathNotAllowedError):
            attempt()
    assert files.read(COPY).text == files.read(PROFILE).text == "old\n"


def test_readers_see_only_whole_versions_while_a_file_is_replaced(files: GardenFiles, home: Home) -> None:
    versions = {bytes([letter]) * 20_000 for letter in b"abcd"}
    current = versions.pop()
    versions.add(current)
    place(home, PROFILE, current)
    done = threading.Event()

    def read() -> set[str]:
        seen = set()
        while not done.is_set():
            seen.add(files.read(PROFILE).text)
        return seen

    with ThreadPoolExecutor(3) as pool:
        readers = [pool.submit(read) for _ in range(3)]
        for number in range(60):
            following = bytes([b"abcd"[number % 4]]) * 20_000
            copy = PROFILE.copy_of(NOON, UUID(int=number))
            files.replace(PROFILE, following, expected=digest(current), keep_previous=copy)
            current = following
        done.set()
        seen = set().union(*(reader.result() for reader in readers))
    assert {text.encode() for text in seen} <= versions


def test_a_name_that_moves_while_the_names_are_counted_is_no_planted_link(
    files: GardenFiles, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, copy = place(home, PROFILE), home.path / str(COPY)
    copy.parent.mkdir(parents=True)
    os.link(file, copy)
    fresh, listdir = file.with_name(f".new-{file.name}-{'0' * 16}"), os.listdir

    def listed_too_early(folder: int) -> list[str]:
        found = listdir(folder)
        if file.exists():
            file.rename(fresh)
        return found

    monkeypatch.setattr(os, "listdir", listed_too_early)
    assert files.read(PROFILE).text == "old\n"


def test_a_document_moves_only_to_a_free_path(files: GardenFiles, home: Home) -> None:
    target = place(home, PROFILE)
    aim = GardenPath("users/ada/parts/guardian/profile.md")
    with pytest.raises(FileChangedError):
        files.move(PROFILE, aim, expected=digest(b"else\n"))
    files.move(PROFILE, aim, expected=digest(b"old\n"))
    assert files.read(aim).text == "old\n"
    place(home, PROFILE, b"another\n")
    with pytest.raises(FileExistsAlreadyError):
        files.move(PROFILE, aim, expected=digest(b"another\n"))
    assert (target.read_bytes(), files.read(aim).text) == (b"another\n", "old\n")
