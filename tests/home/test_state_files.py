import os
import subprocess
import sys
from pathlib import Path

import pytest

from garden.home.state_files import LockTimeoutError, StateFileError, exclusive_lock, write_private_file

_HOLD = """
import sys
from pathlib import Path
from garden.home.state_files import exclusive_lock
with exclusive_lock(Path(sys.argv[1]), timeout_seconds=60):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_write_replaces_the_whole_file_and_leaves_nothing_beside_it(folder: Path) -> None:
    target = folder / "keys"
    for content in (b"a longer content", b"short"):
        write_private_file(target, content)
        assert target.read_bytes() == content
        assert target.stat().st_mode & 0o777 == 0o600
    assert list(folder.iterdir()) == [target]


def test_a_write_that_fails_leaves_the_old_content_alone(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = folder / "keys"
    write_private_file(target, b"old")

    def full_disk(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(StateFileError, match="No space left"):
        write_private_file(target, b"new")
    assert target.read_bytes() == b"old"
    assert list(folder.iterdir()) == [target]


def test_a_write_does_not_follow_a_link(folder: Path) -> None:
    elsewhere = folder / "elsewhere"
    elsewhere.write_bytes(b"not ours")
    (folder / "keys").symlink_to(elsewhere)
    write_private_file(folder / "keys", b"ours")
    assert elsewhere.read_bytes() == b"not ours"


def test_a_lock_excludes_other_processes_and_dies_with_its_holder(folder: Path) -> None:
    path = folder / "lock"
    holder = subprocess.Popen(
        [sys.executable, "-c", _HOLD, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"held\n"
    with pytest.raises(LockTimeoutError, match="lock has been held by another process"):
        exclusive_lock(path, timeout_seconds=0.1).__enter__()
    holder.kill()
    holder.communicate()
    with exclusive_lock(path, timeout_seconds=60):
        pass
