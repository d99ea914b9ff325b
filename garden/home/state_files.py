"""The service's own small files: atomic private writes, and locks between processes."""

import fcntl
import os
import secrets
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from garden.grammar.errors import GardenError
from garden.home.platform_features import flush_drive

_NEW = ".new-"


class StateFileError(GardenError):
    """One of the service's own files can't be written."""

    code = "unavailable"


class LockTimeoutError(GardenError):
    """Another process of this home holds a lock for too long."""

    code = "unavailable"


def make_private_folder(path: Path) -> None:
    """Create a folder that only its owner may enter, or make an existing one private; durably."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    if path.stat().st_mode & 0o777 != 0o700:
        path.chmod(0o700)
    sync_folder(path.parent)


def write_private_file(path: Path, content: bytes) -> None:
    """Replace a file in one step: after a crash it holds either the old content or the new."""
    write_private_files({path: content})


def write_private_files(contents: Mapping[Path, bytes]) -> None:
    """Replace files, each in one step; a folder's names are synced once for all of its files."""
    for path, content in contents.items():
        _replace(path, content)
    for folder in dict.fromkeys(path.parent for path in contents):
        with _raise_state_file_error(folder):
            sync_folder(folder)


def write_note(path: Path, content: bytes) -> None:
    """Write a small file in place, for what may be lost; a kill leaves it short, and nothing beside it."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    with _raise_state_file_error(path), os.fdopen(_open_own(path, flags), "wb") as file:
        file.write(content)


def sync_folder(path: Path) -> None:
    """Make the names in a folder survive a power failure."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        flush_drive(descriptor)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove_strays(folder: Path) -> None:
    """Remove what a killed `write_private_file` left; the caller holds the lock of its writers."""
    for stray in folder.glob(f"{_NEW}*"):
        stray.unlink(missing_ok=True)


@contextmanager
def exclusive_lock(path: Path, *, timeout_seconds: float) -> Iterator[int]:
    """Hold a file's lock, which the kernel releases when the holder dies; yields the descriptor.

    A child process that inherits the descriptor keeps the lock until it ends, even after its parent.
    """
    with _raise_state_file_error(path):
        descriptor = _open_own(path, os.O_RDWR | os.O_CREAT)
    try:
        _acquire(descriptor, path, timeout_seconds)
        yield descriptor
    finally:
        os.close(descriptor)


def _replace(path: Path, content: bytes) -> None:
    with _raise_state_file_error(path):
        fresh = path.with_name(f"{_NEW}{path.name}-{secrets.token_hex(4)}")
        descriptor = _open_own(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
                file.flush()
                flush_drive(file.fileno())
                os.fsync(file.fileno())
            fresh.replace(path)
        except BaseException:
            fresh.unlink(missing_ok=True)
            raise


def _open_own(path: Path, flags: int) -> int:
    """Open or make a private file that belongs to the owner of its folder, even if root calls."""
    descriptor = os.open(path, flags | os.O_NOFOLLOW, 0o600)
    owner = path.parent.stat()
    if os.geteuid() == 0 and os.fstat(descriptor).st_uid != owner.st_uid:
        os.fchown(descriptor, owner.st_uid, owner.st_gid)
    return descriptor


@contextmanager
def _raise_state_file_error(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StateFileError(
            f"{path} can't be written: {error.strerror}.",
            hint="Check for a full or read-only disk, and for a file that belongs to another user.",
        ) from None


def _acquire(descriptor: int, path: Path, timeout_seconds: float) -> None:
    deadline = time.monotonic() + timeout_seconds
    while True:
        with suppress(BlockingIOError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        if time.monotonic() > deadline:
            raise LockTimeoutError(
                f"{path.name} has been held by another process for more than {timeout_seconds:g} seconds.",
                hint=f"Find the process that holds it with: fuser -v '{path}'",
            )
        time.sleep(0.02)
