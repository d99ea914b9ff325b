import os

import pytest

from garden.files.garden_files import GardenFiles
from garden.home.folder import Home
from tests.files.test_garden_files import COPY, NOTES, PROFILE, place


def test_only_a_documents_own_strays_are_removed(files: GardenFiles, home: Home) -> None:
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


def test_a_stray_that_goes_by_itself_stops_neither_the_removal_nor_the_reading_of_others(
    files: GardenFiles, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A writer that gives up a tried plan removes its temporary file without the lock."""
    place(home, PROFILE)
    folder, listed = home.path / str(PROFILE.folder), os.listdir

    def list_and_lose_one(handle: int) -> list[str]:
        names = sorted(listed(handle))
        for name in names[:1]:
            os.unlink(name, dir_fd=handle)
        return names

    for read in (lambda: list(files.strays.texts(PROFILE)), lambda: files.strays.remove(PROFILE)):
        for digit in "ab":
            (folder / f".new-profile.md-{digit * 16}").write_text("half")
        with monkeypatch.context() as patched:
            patched.setattr(os, "listdir", list_and_lose_one)
            assert read() in (["half"], 1)
