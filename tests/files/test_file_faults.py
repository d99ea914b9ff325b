"""Full and failing disks, and kernels and file systems without a feature; the errors are real."""

import errno
import os
from pathlib import Path

import pytest

from garden.files.paths import GardenPath
from garden.home.folder import Home
from tests.files.test_garden_files import COPY, NOTES, PROFILE, digest, names, place
from tests.support.confined import Refusal, confined, give_to_nobody

SIBLING = GardenPath("users/ada/parts/critic/notes.md")
OLD, NEW = digest(b"old\n"), digest(b"new\n")
# The handles of a replacement in the order in which they are opened.
FOLDER, DOCUMENT, HISTORY, FRESH = range(4)


@pytest.fixture
def planted(home: Home) -> Home:
    """A home with a profile, and with the folder of its history."""
    place(home, PROFILE)
    (home.path / str(COPY.folder)).mkdir(parents=True)
    return home


def replaced(home: Home, *refusals: Refusal, copy: bool = True, content: str = "new\n") -> dict[str, object]:
    return confined(
        home.path,
        "replace",
        refusals=refusals,
        path=str(PROFILE),
        content=content,
        expected=OLD,
        keep_previous=str(COPY) if copy else None,
    )


def state(home: Home) -> list[tuple[str, str, int]]:
    """Every file, with its content and its number of links."""
    paths = [home.path / name for name in names(home)]
    return [
        (str(path), "" if path.is_dir() else path.read_text(), 0 if path.is_dir() else path.stat().st_nlink)
        for path in paths
    ]


def assert_told_without_host_paths(answer: dict[str, object], home: Home, code: str = "unavailable") -> None:
    assert answer["code"] == code
    assert answer["hint"]
    for host in (str(home.path), "/tmp", "home"):
        assert host not in str(answer["message"])


def test_without_faults_a_replacement_works(planted: Home) -> None:
    assert replaced(planted) == {"result": NEW, "way": "open_at_once"}


@pytest.mark.parametrize(
    ("refusal", "says"),
    [
        (Refusal("write", errno.ENOSPC, FRESH), "No space left on device"),
        (Refusal("write", errno.EDQUOT, FRESH), "quota exceeded"),
        (Refusal("write", errno.EIO, FRESH), "Input/output error"),
        (Refusal("linkat", errno.ENOSPC), "No space left on device"),
        (Refusal("linkat", errno.EIO), "Input/output error"),
        (Refusal("renameat2", errno.EIO), "Input/output error"),
        (Refusal("renameat2", errno.EROFS), "Read-only file system"),
        (Refusal("fsync", errno.EIO, FRESH), "did not confirm"),
    ],
    ids=lambda value: f"{value.call} {errno.errorcode[value.error]}" if isinstance(value, Refusal) else "",
)
def test_an_error_before_the_rename_changes_nothing_and_leaves_nothing(
    planted: Home, refusal: Refusal, says: str
) -> None:
    before = state(planted)
    answer = replaced(planted, refusal)
    assert_told_without_host_paths(answer, planted)
    assert says in str(answer["message"])
    assert answer["replaced"] is (False if refusal.call == "fsync" else None)
    assert state(planted) == before


@pytest.mark.parametrize("handle", [FOLDER, HISTORY], ids=["document's folder", "history's folder"])
def test_a_failed_sync_of_a_folder_is_reported_and_nothing_is_undone(planted: Home, handle: int) -> None:
    answer = replaced(planted, Refusal("fsync", errno.EIO, handle))
    assert_told_without_host_paths(answer, planted)
    assert answer["replaced"] is True
    assert (planted.path / str(PROFILE)).read_text() == "new\n"
    assert (planted.path / str(COPY)).read_text() == "old\n"


def test_a_limit_on_the_size_of_files_stops_a_write_in_the_middle(planted: Home) -> None:
    before = state(planted)
    answer = confined(
        planted.path,
        "replace",
        size_limit_bytes=1000,
        path=str(PROFILE),
        content="a" * 5000,
        expected=OLD,
        keep_previous=str(COPY),
    )
    assert_told_without_host_paths(answer, planted)
    assert "File too large" in str(answer["message"])
    assert state(planted) == before


@pytest.mark.parametrize("call", ["create", "history.write"])
def test_a_full_disk_leaves_no_part_of_a_new_file(planted: Home, call: str) -> None:
    before = state(planted)
    path = str(SIBLING if call == "create" else COPY)
    answer = confined(planted.path, call, size_limit_bytes=10, path=path, content="a" * 50)
    assert_told_without_host_paths(answer, planted)
    assert state(planted) == before


def test_a_copy_is_rewritten_only_once_its_content_is_on_the_disk(planted: Home) -> None:
    place(planted, COPY)
    answer = confined(
        planted.path,
        "removals.rewrite_copy",
        refusals=[Refusal("fsync", errno.EIO, handle=1)],
        path=str(COPY),
        content="new\n",
    )
    assert answer["replaced"] is False
    assert (planted.path / str(COPY)).read_text() == "old\n"


@pytest.mark.parametrize(
    "error", [errno.EPERM, errno.EXDEV, errno.EMLINK, errno.EOPNOTSUPP], ids=errno.errorcode.get
)
def test_where_links_fail_the_version_replaced_is_copied(planted: Home, error: int) -> None:
    assert replaced(planted, Refusal("linkat", error))["result"] == NEW
    assert (planted.path / str(PROFILE)).read_text() == "new\n"
    assert (planted.path / str(COPY)).read_text() == "old\n"
    assert (planted.path / str(COPY)).stat().st_mode & 0o777 == 0o600
    assert not [name for name in names(planted) if ".new-" in name]


@pytest.mark.parametrize("error", [errno.ENOSYS, errno.EINVAL, errno.EPERM], ids=errno.errorcode.get)
def test_where_names_can_not_be_exchanged_the_document_is_replaced_all_the_same(
    planted: Home, error: int
) -> None:
    before = state(planted)
    refusal = Refusal("renameat2", error)
    assert replaced(planted, refusal, Refusal("renameat", errno.EIO))["code"] == "unavailable"
    assert state(planted) == before
    assert replaced(planted, refusal)["result"] == NEW
    assert (planted.path / str(PROFILE)).read_text() == "new\n"
    assert not [name for name in names(planted) if ".new-" in name]


def test_a_copy_made_where_links_fail_goes_when_the_rename_fails(planted: Home) -> None:
    before = state(planted)
    answer = replaced(planted, Refusal("linkat", errno.EPERM), Refusal("renameat2", errno.EIO, FOLDER))
    assert answer["code"] == "unavailable"
    assert state(planted) == before


@pytest.mark.parametrize("error", [errno.ENOSYS, errno.EINVAL, errno.EPERM], ids=errno.errorcode.get)
@pytest.mark.parametrize("taken", [False, True], ids=["free", "taken"])
def test_creating_overwrites_nothing_where_the_kernel_cannot_rename_so(
    planted: Home, error: int, taken: bool
) -> None:
    if taken:
        place(planted, NOTES)
    refusal = Refusal("renameat2", error)
    answer = confined(
        planted.path, "replace", refusals=[refusal], path=str(NOTES), content="new\n", expected=None
    )
    assert answer.get("code") == ("already_exists" if taken else None)
    target = planted.path / str(NOTES)
    assert (target.read_text(), target.stat().st_nlink) == ("old\n" if taken else "new\n", 1)
    assert not [name for name in names(planted) if ".new-" in name]


def test_an_error_while_creating_is_reported_and_not_worked_around(planted: Home) -> None:
    before = state(planted)
    refusal = Refusal("renameat2", errno.EIO)
    answer = confined(planted.path, "create", refusals=[refusal], path=str(SIBLING), content="new\n")
    assert_told_without_host_paths(answer, planted)
    assert state(planted) == before


@pytest.mark.parametrize("error", [errno.ENOSYS, errno.EPERM], ids=errno.errorcode.get)
def test_where_the_kernel_or_a_sandbox_has_no_openat2_the_walk_is_step_by_step(
    planted: Home, error: int
) -> None:
    assert replaced(planted, Refusal("openat2", error)) == {"result": NEW, "way": "open_step_by_step"}


def test_a_file_without_read_permission_is_reported(planted: Home) -> None:
    (planted.path / str(PROFILE)).chmod(0)
    give_to_nobody(planted.path)
    answer = confined(planted.path, "read", as_nobody=True, path=str(PROFILE))
    assert_told_without_host_paths(answer, planted)
    assert "Permission denied" in str(answer["message"])
    assert "Let the account" in str(answer["hint"])


@pytest.mark.parametrize("closed", [PROFILE.folder, COPY.folder], ids=str)
def test_in_a_read_only_folder_nothing_is_written_and_nothing_is_left(planted: Home, closed: object) -> None:
    give_to_nobody(planted.path)
    (planted.path / str(closed)).chmod(0o500)
    before = state(planted)
    answer = confined(
        planted.path,
        "replace",
        as_nobody=True,
        path=str(PROFILE),
        content="new\n",
        expected=OLD,
        keep_previous=str(COPY),
    )
    assert_told_without_host_paths(answer, planted)
    assert state(planted) == before


@pytest.mark.parametrize("call", ["read", "exists", "list_folder"])
def test_a_folder_without_permission_is_not_reported_as_missing(planted: Home, call: str) -> None:
    give_to_nobody(planted.path)
    (planted.path / "users/ada").chmod(0)
    path = PROFILE if call != "list_folder" else PROFILE.folder
    answer = confined(planted.path, call, as_nobody=True, path=str(path))
    assert_told_without_host_paths(answer, planted)


def test_an_ordinary_account_can_do_all_of_it_in_its_own_home(planted: Home) -> None:
    give_to_nobody(planted.path)
    answer = confined(
        planted.path,
        "replace",
        as_nobody=True,
        path=str(PROFILE),
        content="new\n",
        expected=OLD,
        keep_previous=str(COPY),
    )
    assert answer["result"] == NEW


def test_a_file_of_another_account_is_replaced_and_becomes_the_services_own(planted: Home) -> None:
    give_to_nobody(planted.path)
    target = planted.path / str(PROFILE)
    if os.geteuid() == 0:
        os.chown(target, 0, 0)
    target.chmod(0o644)
    answer = confined(
        planted.path, "replace", as_nobody=True, path=str(PROFILE), content="new\n", expected=OLD
    )
    assert answer["result"] == NEW
    assert Path(target).stat().st_mode & 0o777 == 0o644
