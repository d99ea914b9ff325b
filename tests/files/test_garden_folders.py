import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from garden.files.beneath import Handle, open_at_once, open_step_by_step
from garden.files.errors import (
    FileChangedError,
    FileMissingError,
    ForeignFileError,
)
from garden.files.garden_files import GardenFiles
from garden.files.paths import GardenPath, PathNotAllowedError
from garden.home.folder import Home
from tests.files.test_garden_files import (
    COPY,
    LATER_COPY,
    NOTES,
    PROFILE,
    digest,
    mode,
    names,
    names_listed,
    place,
)
from tests.support.waiting import until


def test_putting_a_folder_back_changes_it_and_replacing_a_file_does_not(
    files: GardenFiles, home: Home
) -> None:
    place(home, PROFILE)
    folder = home.path / str(PROFILE.folder)
    began, since = files.changed_at(PROFILE), folder.stat().st_ctime_ns

    def renamed_later() -> bool:
        folder.rename(f"{folder}-away").rename(folder)
        return folder.stat().st_ctime_ns > since

    until(
        lambda: files.replace(PROFILE, b"x\n", expected=files.read(PROFILE).hash) and _is_past(folder, since)
    )
    assert files.changed_at(PROFILE) == began
    until(renamed_later)
    assert files.changed_at(PROFILE) > began


def _is_past(folder: Path, since_ns: int) -> bool:
    return folder.stat().st_ctime_ns > since_ns


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


def test_a_folder_lists_only_what_tools_can_open(files: GardenFiles, home: Home) -> None:
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
    assert names_listed(files, "users/ada") == [
        "users/ada/notes.md",
        "users/ada/overview.md",
        "users/ada/parts",
    ]
    assert names_listed(files, "users/ada/parts") == ["users/ada/parts/critic"]
    assert names_listed(files, "users/ada/parts/critic") == [str(PROFILE)]
    assert names_listed(files, str(COPY.folder)) == [str(COPY), str(LATER_COPY)]
    assert [str(path) for path in files.users()] == ["users/ada"]
    assert [str(path) for path in files.documents(GardenPath("users/ada"))] == [
        "users/ada/notes.md",
        "users/ada/overview.md",
        str(PROFILE),
    ]


def test_files_outside_the_garden_are_counted(files: GardenFiles, home: Home) -> None:
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


def test_one_look_at_each_folder_finds_what_is_no_part_of_the_garden(
    files: GardenFiles, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks, look = list[str](), files.open

    def noted(way: str, flags: int) -> Handle:
        looks.append(way)
        return look(way, flags)

    for path in (NOTES, PROFILE):
        place(home, path)
    monkeypatch.setattr(files, "open", noted)
    assert list(files.others(GardenPath("users/ada"))) == []
    assert looks == ["users/ada", "users/ada/parts", "users/ada/parts/critic"]


def test_a_missing_garden_has_no_documents(files: GardenFiles) -> None:
    assert list(files.documents(GardenPath("users/nobody"))) == []


def test_the_walk_in_one_call_is_used_unless_the_other_is_requested(home: Home) -> None:
    with GardenFiles(home.path) as one, GardenFiles(home.path, step_by_step=True) as other:
        assert (one._resolve, other._resolve) == (open_at_once, open_step_by_step)


def test_no_call_leaves_a_handle_open(files: GardenFiles, home: Home) -> None:
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


def test_a_closed_home_refuses_calls_and_may_be_closed_again(files: GardenFiles, home: Home) -> None:
    place(home, NOTES)
    files.close()
    files.close()
    with pytest.raises(Exception, match="refused"):
        files.read(NOTES)


def test_a_missing_home_is_not_found(home: Home) -> None:
    with pytest.raises(FileMissingError):
        GardenFiles(home.path / "nowhere")


def test_a_folder_made_anew_by_hand_is_synced_again(
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
