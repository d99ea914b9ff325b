"""The product broken on purpose, one way at a time: what a harness that finds faults must find."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import Any, NamedTuple
from unittest import mock

from garden.events.stream import LockedStream
from garden.files import garden_files, plain_files
from garden.files.errors import FileMissingError
from garden.files.garden_files import GardenFiles, Replacement
from garden.writing import settlement

Breakage = Callable[[], AbstractContextManager[Any]]


@contextmanager
def swallowed_fsync_errors() -> Iterator[None]:
    def sync(handle: int, *, replaced: bool) -> None:  # noqa: ARG001
        with suppress(OSError):
            os.fsync(handle)

    with mock.patch.object(plain_files, "sync", sync), mock.patch.object(garden_files, "sync", sync):
        yield


def write_before_it_is_recorded() -> AbstractContextManager[Any]:
    prepared = GardenFiles.prepared

    @contextmanager
    def put_at_once(*words: Any, **named: Any) -> Iterator[Replacement]:
        with prepared(*words, **named) as replacement:
            replacement.put()
            yield Replacement(lambda: None)

    return mock.patch.object(GardenFiles, "prepared", put_at_once)


@contextmanager
def failed_changes_left_on_the_disk() -> Iterator[None]:
    """What is put in the file's place stays there after an error, and the caller is told that it failed."""
    put = Replacement.put

    def twice(replacement: Replacement) -> None:
        with suppress(Exception):
            put(replacement)
        raise FileMissingError

    with mock.patch.object(Replacement, "put", twice):
        yield


def a_lock_that_is_left_behind() -> AbstractContextManager[Any]:
    def kept(stream: LockedStream) -> None:
        stream._lock = None

    return mock.patch.object(LockedStream, "release", kept)


@contextmanager
def handles_that_nobody_closes() -> Iterator[None]:
    with (
        mock.patch.object(garden_files, "give_back"),
        mock.patch.object(plain_files, "give_back"),
    ):
        yield


def errors_that_are_not_translated() -> AbstractContextManager[Any]:
    return mock.patch.object(garden_files, "translated", nullcontext)


def a_copy_that_nobody_makes_again() -> AbstractContextManager[Any]:
    return mock.patch.object(settlement.SagaSettler, "_complete_history")


class Proof(NamedTuple):
    """A breakage, and the few trials that have to find it: of which sort, and with which faults."""

    break_it: Breakage
    sort: str
    faults: str


BREAKAGES: Mapping[str, Proof] = {
    "swallowed-fsync": Proof(swallowed_fsync_errors, "append", "EIO at fsync"),
    "written-before-recorded": Proof(write_before_it_is_recorded, "patch", "SIGKILL at sendto"),
    "failed-but-there": Proof(failed_changes_left_on_the_disk, "patch", "EIO at mkdirat"),
    "lock-left": Proof(a_lock_that_is_left_behind, "plant", "EIO at renameat2"),
    "handles-left": Proof(handles_that_nobody_closes, "append", "EIO at mkdirat"),
    "untranslated": Proof(errors_that_are_not_translated, "append", "EIO at openat2"),
    "copy-not-made": Proof(a_copy_that_nobody_makes_again, "reconcile-no-copy", "EIO at mkdirat"),
}
