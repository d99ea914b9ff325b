import os
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from uuid import UUID

import pytest

from garden.files.beneath import open_at_once, open_step_by_step
from garden.files.errors import (
    FileBusyError,
    FileChangedError,
    FileExistsAlreadyError,
    FileMissingError,
    FileTooLargeError,
    ForeignFileError,
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
    """Everything in the home but its own state."""
    return sorted(
        str(path.relative_to(home.path)) for path in home.path.rglob("*") if ".garden" not in path.parts
    )


def place(home: Home, path: GardenPath, content: bytes = b"old\n") -> Path:
    """Put a file where this path leads, as a person would."""
    target = home.path / str(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content)
    return target


def digest(content: bytes) -> str:
    return f"sha256:{sha256(content).hexdigest()}"


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


# Reading


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
def test_what_is_no_text_is_neither_read_nor_written(
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


def test_a_file_may_have_a_mebibyte_and_no_more(files: GardenFiles, home: Home) -> None:
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
def test_a_file_that_is_not_there_is_not_found(files: GardenFiles, path: GardenPath) -> None:
    with pytest.raises(FileMissingError) as caught:
        files.read(path)
    assert caught.value.code == "not_found"
    assert not files.exists(path)
    with pytest.raises(FileMissingError):
        files.list_folder(path.folder)


def test_a_file_that_is_rewritten_in_place_meanwhile_is_busy_or_read_as_it_was(
    files: GardenFiles, home: Home
) -> None:
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


def test_a_file_that_never_stands_still_is_busy() -> None:
    # Plain by its status and empty by its size, and yet there is always something to read.
    with (
        open_in(AT_THE_WORKING_FOLDER, "/proc/self/status") as handle,
        pytest.raises(FileBusyError) as caught,
    ):
        read_stable(handle)
    assert caught.value.code == "unavailable"


# Folders


def test_folders_are_made_private_and_only_once(files: GardenFiles, home: Home) -> None:
    old = os.umask(0)
    try:
        for _ in range(2):
            files.ensure_folders(GardenPath("users/ada/parts/critic"))
    finally:
        os.umask(old)
    assert names(home) == ["history", "users", "users/ada", "users/ada/parts", "users/ada/parts/critic"]
    assert {mode(home.path / name) for name in names(home)} == {0o700}
    assert files.exists(GardenPath("users/ada/parts"))


def test_many_may_make_the_same_folders_at_once(files: GardenFiles, home: Home) -> None:
    paths = [GardenPath(f"users/u{index % 4}/parts/p{index % 3}") for index in range(96)]
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(files.ensure_folders, paths))
    assert [str(path) for path in files.users()] == ["users/u0", "users/u1", "users/u2", "users/u3"]
    assert all((home.path / str(path)).is_dir() for path in paths)


@pytest.mark.parametrize("path", [NOTES, GardenPath("history/ada"), COPY], ids=str)
def test_only_folders_of_a_garden_are_made(files: GardenFiles, home: Home, path: GardenPath) -> None:
    with pytest.raises(PathNotAllowedError):
        files.ensure_folders(path)
    assert names(home) == ["history", "users"]


def test_a_folder_lists_what_tools_can_open_and_nothing_else(files: GardenFiles, home: Home) -> None:
    for path in (NOTES, PROFILE, GardenPath("users/ada/overview.md"), COPY, LATER_COPY):
        place(home, path)
    garden = home.users / "ada"
    (garden / ".obsidian").mkdir()
    (garden / "draft.md").write_text("mine")
    (garden / "parts/.new-notes.md-0123456789abcdef").write_text("half")
    (garden / "parts/Critic").mkdir()
    (garden / "parts/linked").symlink_to(garden)
    (garden / "parts/file").write_text("no folder")
    (garden / "relationships").write_text("no folder")
    (garden / os.fsdecode(b"\xff\xfe")).write_text("no name")
    (garden / "parts/critic/notes.md").symlink_to(garden / "notes.md")
    assert listed(files, "users/ada") == ["users/ada/notes.md", "users/ada/overview.md", "users/ada/parts"]
    assert listed(files, "users/ada/parts") == ["users/ada/parts/critic"]
    assert listed(files, "users/ada/parts/critic") == [str(PROFILE)]
    assert listed(files, str(COPY.folder)) == [str(COPY), str(LATER_COPY)]
    assert [str(path) for path in files.users()] == ["users/ada"]
    assert [str(path) for path in files.documents(GardenPath("users/ada"))] == [
        "users/ada/notes.md",
        "users/ada/overview.md",
        str(PROFILE),
    ]


def test_what_is_no_part_of_a_garden_is_counted(files: GardenFiles, home: Home) -> None:
    for path in (NOTES, PROFILE):
        place(home, path)
    garden = home.users / "ada"
    assert files.count_others(GardenPath("users/ada")) == 0
    (garden / ".obsidian").mkdir()
    (garden / "parts/critic/.new-profile.md-0123456789abcdef").write_text("half")
    assert files.count_others(GardenPath("users/ada")) == 0
    (garden / "parts/critic/profile.md.before").write_text("mine")
    (garden / "photos").mkdir()
    (garden / "photos/sea.jpg").write_text("blue")
    (garden / "overview.md").symlink_to(garden / "notes.md")
    assert files.count_others(GardenPath("users/ada")) == 3
    assert files.count_others(GardenPath("users/nobody")) == 0


def listed(files: GardenFiles, folder: str) -> list[str]:
    return [str(path) for path in files.list_folder(GardenPath(folder))]


def test_a_garden_that_is_not_there_has_no_documents(files: GardenFiles) -> None:
    assert list(files.documents(GardenPath("users/nobody"))) == []


# Creating


def test_a_new_file_is_private_and_its_folders_are_made(files: GardenFiles, home: Home) -> None:
    assert files.replace(PROFILE, b"new\n", expected=None) == digest(b"new\n")
    assert files.read(PROFILE).text == "new\n"
    assert mode(home.path / str(PROFILE)) == 0o600
    assert names(home)[-1] == str(PROFILE)


@pytest.mark.parametrize("what", ["file", "folder", "link", "dangling link", "fifo"])
def test_creating_overwrites_nothing_whatever_stands_there(files: GardenFiles, home: Home, what: str) -> None:
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


def test_of_many_who_create_one_file_at_once_one_wins_and_nothing_else_is_left(
    files: GardenFiles, home: Home
) -> None:
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


# Replacing


def test_a_file_is_replaced_in_one_step_and_keeps_its_mode(files: GardenFiles, home: Home) -> None:
    target = place(home, PROFILE)
    target.chmod(0o664)
    before = target.stat()
    assert files.replace(PROFILE, b"new\n", expected=digest(b"old\n")) == digest(b"new\n")
    assert target.read_bytes() == b"new\n"
    assert mode(target) == 0o664
    assert target.stat().st_ino != before.st_ino
    assert [path.name for path in target.parent.iterdir()] == ["profile.md"]


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
def test_an_edit_from_outside_in_the_last_moment_is_noticed(home: Home, edit: str) -> None:
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


def test_a_file_that_is_gone_is_not_made_by_replacing(files: GardenFiles, home: Home) -> None:
    files.ensure_folders(PROFILE.folder)
    with pytest.raises(FileMissingError):
        files.replace(PROFILE, b"new\n", expected=digest(b"old\n"))
    assert not (home.path / str(PROFILE)).exists()


@pytest.mark.parametrize("path", [COPY, COPY.folder, PROFILE.folder], ids=str)
def test_nothing_but_a_document_is_replaced_or_moved(
    files: GardenFiles, home: Home, path: GardenPath
) -> None:
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


def test_readers_of_a_file_that_is_replaced_all_the_time_see_whole_versions_only(
    files: GardenFiles, home: Home
) -> None:
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


# History


def test_the_version_replaced_becomes_the_copy_without_being_copied(files: GardenFiles, home: Home) -> None:
    target = place(home, PROFILE)
    old = target.stat().st_ino
    files.replace(PROFILE, b"new\n", expected=digest(b"old\n"), keep_previous=COPY)
    kept = home.path / str(COPY)
    assert (kept.read_bytes(), kept.stat().st_ino, kept.stat().st_nlink) == (b"old\n", old, 1)
    with target.open("ab") as editor:
        editor.write(b"in place\n")
    assert files.read(COPY).text == "old\n"
    assert {mode(folder) for folder in (kept.parent, kept.parent.parent)} == {0o700}


def test_a_refused_replacement_leaves_no_copy(files: GardenFiles, home: Home) -> None:
    place(home, PROFILE)
    with pytest.raises(FileChangedError):
        files.replace(PROFILE, b"new\n", expected=digest(b"else\n"), keep_previous=COPY)
    assert listed(files, str(COPY.folder)) == []
    assert (home.path / str(PROFILE)).stat().st_nlink == 1


def test_a_copy_that_is_another_version_is_never_overwritten(files: GardenFiles, home: Home) -> None:
    place(home, PROFILE)
    files.history.write(COPY, b"older\n")
    with pytest.raises(FileExistsAlreadyError):
        files.replace(PROFILE, b"new\n", expected=digest(b"old\n"), keep_previous=COPY)
    assert (files.read(COPY).text, files.read(PROFILE).text) == ("older\n", "old\n")
    assert [name for name in names(home) if ".new-" in name] == []


def test_a_document_keeps_its_previous_version_in_its_own_history_only(
    files: GardenFiles, home: Home
) -> None:
    place(home, NOTES)
    for wrong in (COPY, NOTES, NOTES.history):
        with pytest.raises(PathNotAllowedError):
            files.replace(NOTES, b"new\n", expected=digest(b"old\n"), keep_previous=wrong)
    assert files.read(NOTES).text == "old\n"


def test_a_copy_is_written_once_and_the_same_again_is_fine(files: GardenFiles, home: Home) -> None:
    files.history.write(COPY, b"old\n")
    before = (home.path / str(COPY)).stat()
    files.history.write(COPY, b"old\n")
    with pytest.raises(FileExistsAlreadyError):
        files.history.write(COPY, b"other\n")
    assert files.read(COPY).text == "old\n"
    assert (home.path / str(COPY)).stat() == before
    assert listed(files, str(COPY.folder)) == [str(COPY)]
    with pytest.raises(PathNotAllowedError):
        files.history.write(NOTES, b"old\n")


def test_a_crash_between_link_and_rename_leaves_a_document_that_is_read_replaced_and_mended(
    files: GardenFiles, home: Home
) -> None:
    target = place(home, PROFILE)
    files.history.write(LATER_COPY, b"other\n")
    (home.path / str(COPY)).hardlink_to(target)
    assert files.read(PROFILE).text == files.read(COPY).text == "old\n"
    assert not files.history.drop_link(LATER_COPY)
    assert files.history.drop_link(COPY)
    assert not files.exists(COPY)
    assert target.stat().st_nlink == 1
    with pytest.raises(FileMissingError):
        files.history.drop_link(COPY)


def test_the_same_event_goes_on_where_its_link_was_made_already(files: GardenFiles, home: Home) -> None:
    target = place(home, PROFILE)
    (home.path / str(COPY.folder)).mkdir(parents=True)
    (home.path / str(COPY)).hardlink_to(target)
    files.replace(PROFILE, b"new\n", expected=digest(b"old\n"), keep_previous=COPY)
    assert (files.read(COPY).text, files.read(PROFILE).text) == ("old\n", "new\n")


def test_strays_of_a_document_are_removed_and_nobody_elses(files: GardenFiles, home: Home) -> None:
    place(home, PROFILE)
    place(home, COPY)
    folder, history = home.path / str(PROFILE.folder), home.path / str(COPY.folder)
    stray = ".new-profile.md-0123456789abcdef"
    others = [".new-notes.md-0123456789abcdef", ".new-profile.md-mine", ".new-profile.md", "new-profile.md-x"]
    for name in (stray, *others):
        (folder / name).write_text("half")
    (history / f".new-{COPY.name}-0123456789abcdef").write_text("half")
    assert files.strays.remove(PROFILE) == 2
    assert sorted(path.name for path in folder.iterdir()) == sorted([*others, "profile.md"])
    assert [path.name for path in history.iterdir()] == [COPY.name]
    assert files.strays.remove(PROFILE) == files.strays.remove(NOTES) == 0


# Moving


def test_a_document_is_moved_to_where_nothing_is(files: GardenFiles, home: Home) -> None:
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


# The handle


def test_the_kernels_walk_is_used_where_it_is_to_be_had_and_the_other_on_request(home: Home) -> None:
    with GardenFiles(home.path) as one, GardenFiles(home.path, step_by_step=True) as other:
        assert (one._resolve, other._resolve) == (open_at_once, open_step_by_step)


def test_no_handle_is_left_open_by_anything(files: GardenFiles, home: Home) -> None:
    def open_handles() -> set[str]:
        return {
            f"{path.name} {path.readlink()}" for path in Path("/proc/self/fd").iterdir() if path.is_symlink()
        }

    place(home, PROFILE)
    before = len(open_handles())
    files.replace(PROFILE, b"new\n", expected=digest(b"old\n"), keep_previous=COPY)
    files.replace(NOTES, b"new\n", expected=None)
    files.list_folder(GardenPath("users/ada"))
    for attempt in (
        lambda: files.replace(PROFILE, b"newer\n", expected=digest(b"old\n"), keep_previous=LATER_COPY),
        lambda: files.replace(PROFILE, b"newer\n", expected=digest(b"new\n"), keep_previous=NOTES),
        lambda: files.read(GardenPath("users/ada/parts/critic/notes.md")),
        lambda: files.read(GardenPath("users/ada/parts")),
        lambda: files.list_folder(NOTES),
    ):
        with pytest.raises((FileChangedError, PathNotAllowedError, FileMissingError, ForeignFileError)):
            attempt()
    assert len(open_handles()) == before


def test_a_closed_home_gives_nothing_any_more_and_may_be_closed_again(files: GardenFiles, home: Home) -> None:
    place(home, NOTES)
    files.close()
    files.close()
    with pytest.raises(Exception, match="refused"):
        files.read(NOTES)


def test_a_home_that_is_not_there_is_not_found(home: Home) -> None:
    with pytest.raises(FileMissingError):
        GardenFiles(home.path / "nowhere")


def test_a_folder_that_was_made_anew_by_hand_is_brought_to_the_disk_again(
    files: GardenFiles, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    files.replace(PROFILE, b"first\n", expected=None)
    folder = home.path / PROFILE.folder.text
    shutil.rmtree(folder)
    folder.mkdir()
    synced: list[str] = []
    monkeypatch.setattr(
        os, "fsync", lambda handle: synced.append(str(Path(f"/proc/self/fd/{handle}").readlink()))
    )
    files.replace(PROFILE, b"second\n", expected=None)
    assert str(folder.parent) in synced
    synced.clear()
    files.replace(PROFILE, b"third\n", expected=digest(b"second\n"))
    assert str(folder.parent) not in synced


def test_the_name_of_a_copy_is_given_anew_before_it_is_confirmed(files: GardenFiles, home: Home) -> None:
    copy = place(home, COPY)
    os.utime(copy.parent, ns=(0, 0))
    assert files.history.confirm(COPY)
    assert copy.parent.stat().st_mtime_ns > 0
    assert copy.read_bytes() == b"old\n"
    assert [each.name for each in copy.parent.iterdir()] == [copy.name]
