"""Ways to break the product on purpose, each of which the fault campaign must detect."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from typing import Any, NamedTuple
from unittest import mock

from garden.events.stream import LockedStream
from garden.files import beneath, garden_files, garden_folders, history_copies, plain_files, prepared_file
from garden.files.errors import FileMissingError
from garden.files.garden_files import GardenFiles
from garden.files.prepared_file import PreparedFile
from garden.writing import lost_copies, settlement

_FILES = (garden_files, garden_folders, history_copies, plain_files, prepared_file)

Breakage = Callable[[], AbstractContextManager[Any]]


@contextmanager
def swallowed_fsync_errors() -> Iterator[None]:
    def sync(handle: int, *, replaced: bool) -> None:  # noqa: ARG001
        with suppress(OSError):
            os.fsync(handle)

    with ExitStack() as stack:
        for module in _FILES:
            if hasattr(module, "sync"):
                stack.enter_context(mock.patch.object(module, "sync", sync))
        yield


def write_before_it_is_recorded() -> AbstractContextManager[Any]:
    prepare = GardenFiles.prepare

    @contextmanager
    def put_at_once(*words: Any, **named: Any) -> Iterator[mock.Mock]:
        with prepare(*words, **named) as prepared:
            prepared.put()
            yield mock.Mock(PreparedFile)

    return mock.patch.object(GardenFiles, "prepare", put_at_once)


@contextmanager
def failed_changes_left_on_the_disk() -> Iterator[None]:
    """Leave the new text in the file and report the write as failed."""
    put = PreparedFile.put

    def twice(prepared: PreparedFile) -> None:
        with suppress(Exception):
            put(prepared)
        raise FileMissingError

    with mock.patch.object(PreparedFile, "put", twice):
        yield


def a_lock_that_is_left_behind() -> AbstractContextManager[Any]:
    def kept(stream: LockedStream) -> None:
        stream.holds_lock = False

    return mock.patch.object(LockedStream, "release", kept)


@contextmanager
def handles_that_nobody_closes() -> Iterator[None]:
    with mock.patch.object(beneath, "close_quietly"):
        yield


@contextmanager
def errors_that_are_not_translated() -> Iterator[None]:
    with ExitStack() as stack:
        for module in _FILES:
            if hasattr(module, "translate_os_errors"):
                stack.enter_context(mock.patch.object(module, "translate_os_errors", nullcontext))
        yield


@contextmanager
def a_copy_that_is_never_made_again() -> Iterator[None]:
    with (
        mock.patch.object(settlement.SagaSettler, "_complete_history"),
        mock.patch.object(lost_copies.LostCopies, "rebuild", return_value=False),
    ):
        yield


class Proof(NamedTuple):
    """A breakage, and the operation and faults that must detect it."""

    break_it: Breakage
    operation: str
    faults: str


BREAKAGES: Mapping[str, Proof] = {
    "swallowed-fsync": Proof(swallowed_fsync_errors, "append", "EIO at fsync"),
    "written-before-recorded": Proof(write_before_it_is_recorded, "patch", "SIGKILL at sendto"),
    "failed-but-there": Proof(failed_changes_left_on_the_disk, "patch", "EIO at mkdirat"),
    "lock-left": Proof(a_lock_that_is_left_behind, "plant", "EIO at renameat2"),
    "handles-left": Proof(handles_that_nobody_closes, "append", "EIO at mkdirat"),
    "untranslated": Proof(errors_that_are_not_translated, "append", "EIO at openat2"),
    "copy-not-made": Proof(a_copy_that_is_never_made_again, "reconcile-no-copy", "EIO at mkdirat"),
}
