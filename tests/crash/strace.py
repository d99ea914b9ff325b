"""Traces the system calls of a running process, and makes them fail, with strace."""

import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

KILL = "SIGKILL"

# The calls that change the disk, and that a full disk refuses.
CHANGING = (
    "openat", "openat2", "write", "pwrite64", "fsync", "fdatasync", "linkat", "renameat", "renameat2",
    "rename", "mkdirat", "mkdir", "unlinkat", "unlink", "fchmod", "fchown", "ftruncate",
)  # fmt: skip
LOOKING = ("read", "pread64", "fstat", "newfstatat", "stat", "lstat", "statx", "getdents64", "lseek", "flock")
TALKING = ("sendto", "recvfrom", "poll", "ppoll")
CONNECTING = ("socket", "connect")
# strace skips the call that it fails, so a handle stays open that Linux would have closed.
CLOSING = ("close",)
ANSWERING = ("sendmsg",)
FILES = (*CHANGING, *LOOKING, *CLOSING)
WATCHED = (*FILES, *TALKING, *CONNECTING, *ANSWERING)

_SECONDS_MAX = 60
_CALL = re.compile(r"^(?:\d+\s+)?(\w+)\(")


class NoStraceError(Exception):
    """No suitable strace is installed."""


@dataclass(frozen=True)
class Fault:
    """A fault at the n-th call of this name, counted from 1, or at every call from there on."""

    call: str
    number: int
    what: str
    lasting: bool = False

    @property
    def option(self) -> str:
        how = "signal=KILL" if self.what == KILL else f"error={self.what}"
        return f"inject={self.call}:{how}:when={self.number}{'+' if self.lasting else ''}"


@dataclass(frozen=True)
class Called:
    """A system call in strace's log."""

    name: str
    line: str

    @property
    def was_injected(self) -> bool:
        return "(INJECTED)" in self.line

    @property
    def is_of_a_file(self) -> bool:
        return self.name in FILES and "socket:[" not in self.line and "UNIX" not in self.line


@contextmanager
def attached(pid: int, told: Path, faults: Sequence[Fault] = ()) -> Iterator[Callable[[], None]]:
    """Trace a process until it ends or the yielded function detaches."""
    options = [word for fault in faults for word in ("-e", fault.option)]
    process = subprocess.Popen(
        [
            program(), "-f", "-y", "-s", "12", "-o", told, "-e", "signal=kill",
            "-e", f"trace={','.join(f'?{name}' for name in WATCHED)}", *options, "-p", str(pid),
        ],
        stderr=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    assert process.stderr is not None
    with process:
        said = process.stderr.readline()
        if "attached" not in said:
            process.kill()
            raise NoStraceError(f"strace can't attach to another process here: {said.strip()}")
        try:
            yield process.terminate
            process.wait(_SECONDS_MAX)
        finally:
            process.kill()


def calls_in(told: Path) -> list[Called]:
    """Read strace's log."""
    lines = told.read_text(errors="replace").splitlines()
    return [Called(found.group(1), line) for line in lines if (found := _CALL.match(line))]


def was_killed(told: Path) -> bool:
    return "+++ killed by SIGKILL +++" in told.read_text(errors="replace")


def program() -> str:
    found = shutil.which("strace")
    if found is None:
        raise NoStraceError("strace is not installed; the faults are injected with it.")
    return found
