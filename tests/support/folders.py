"""Where tests put their folders."""

import os
import secrets
import shutil
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from garden.home.embedded.cluster import Cluster
from tests.support.waiting import until

# The run's folder; pytest's workers and the guardian find it here.
ROOT = "GARDEN_TEST_ROOT"
# A part of every home's path, so that tests can find such a path in a message.
PREFIX = "garden-tests-"
_MEMORY = Path("/dev/shm")
# A run peaks at some hundred megabytes; most containers have 64 MB, which is too little.
_MEMORY_BYTES_MIN = 2 * 1024**3


def fast_place() -> Path | None:
    """Memory, where there is room; None stands for the system's temporary folder.

    In memory a test database costs a fifth, and an fsync nothing. No test reads what a disk kept: the power
    campaign has a model of its own, and tests/files runs on the disk.
    """
    if not os.access(_MEMORY, os.W_OK | os.X_OK):
        return None
    # Some tests run programs that they put there.
    runs_programs = not os.statvfs(_MEMORY).f_flag & os.ST_NOEXEC
    has_room = shutil.disk_usage(_MEMORY).free >= _MEMORY_BYTES_MIN
    return _MEMORY if runs_programs and has_room else None


def make_run_folder() -> Path:
    """Make the folder of a run."""
    root = Path(tempfile.mkdtemp(prefix=PREFIX, dir=fast_place()))
    # As root, the server's own account has to pass through.
    root.chmod(0o711)
    return root


def run_folder() -> Path:
    """The run's folder."""
    return Path(os.environ[ROOT])


@contextmanager
def fresh_folder(parent: Path) -> Iterator[Path]:
    """Make a folder; afterwards remove it, and stop the database servers that run in it."""
    path = parent / secrets.token_hex(6)
    path.mkdir()
    path.chmod(0o711)
    try:
        yield path
    finally:
        for pid_file in path.rglob("postmaster.pid"):
            _stop_server(pid_file)
        # A process that still ends may leave files behind; the guardian removes them.
        shutil.rmtree(path, ignore_errors=True)


def _has_ended(process: psutil.Process) -> bool:
    # An ended process without a parent is a zombie until init collects it, which may take a second.
    return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE


def _stop_server(pid_file: Path) -> None:
    """Shut a server down immediately; the number in the file may be another process's by now."""
    with suppress(OSError, ValueError, psutil.Error):
        process = psutil.Process(int(pid_file.read_text().split()[0]))
        if Path(process.cwd()) == pid_file.parent.resolve():
            process.send_signal(signal.SIGQUIT)
            until(lambda: _has_ended(process))
            Cluster(pid_file.parent).remove_socket_folder()
