import os

import pytest

from garden.files.errors import (
    FileChangedError,
    FileExistsAlreadyError,
    FileMissingError,
)
from garden.files.garden_files import GardenFiles
from garden.files.paths import PathNotAllowedError
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


def test_the_version_replaced_is_linked_as_the_copy(files: GardenFiles, home: Home) -> None:
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
    assert names_listed(files, str(COPY.folder)) == []
    assert (home.path / str(PROFILE)).stat().st_nlink == 1


def test_a_copy_of_another_version_is_never_overwritten(files: GardenFiles, home: Home) -> None:
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


def test_writing_the_same_copy_twice_is_fine(files: GardenFiles, home: Home) -> None:
    files.history.write(COPY, b"old\n")
    before = (home.path / str(COPY)).stat()
    files.history.write(COPY, b"old\n")
    with pytest.raises(FileExistsAlreadyError):
        files.history.write(COPY, b"other\n")
    assert files.read(COPY).text == "old\n"
    assert (home.path / str(COPY)).stat() == before
    assert names_listed(files, str(COPY.folder)) == [str(COPY)]
    with pytest.raises(PathNotAllowedError):
        files.history.write(NOTES, b"old\n")


def test_after_a_crash_between_link_and_rename_a_document_is_read_and_replaced(
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


def test_a_link_that_the_same_event_made_is_used(files: GardenFiles, home: Home) -> None:
    target = place(home, PROFILE)
    (home.path / str(COPY.folder)).mkdir(parents=True)
    (home.path / str(COPY)).hardlink_to(target)
    files.replace(PROFILE, b"new\n", expected=digest(b"old\n"), keep_previous=COPY)
    assert (files.read(COPY).text, files.read(PROFILE).text) == ("old\n", "new\n")


def test_a_copy_is_renamed_before_it_is_confirmed(files: GardenFiles, home: Home) -> None:
    copy = place(home, COPY)
    os.utime(copy.parent, ns=(0, 0))
    assert files.history.confirm(COPY)
    assert copy.parent.stat().st_mtime_ns > 0
    assert copy.read_bytes() == b"old\n"
    assert [each.name for each in copy.parent.iterdir()] == [copy.name]
