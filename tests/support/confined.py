"""One call of the file layer in its own process, to which the kernel refuses calls: real errors, no doubles.

The process may run as another account, under a limit on the size of files, or with system calls that the
kernel refuses (by a seccomp filter, which needs neither privileges nor tools).
"""

import ctypes
import json
import os
import platform
import resource
import struct
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any

from garden.files.beneath import READ_FOLDER
from garden.files.errors import SyncFailedError
from garden.files.garden_files import GardenFiles
from garden.files.paths import GardenPath
from garden.grammar.errors import GardenError

NOBODY = 65534
REPOSITORY = Path(__file__).parents[2]

_NUMBERS = {
    "x86_64": {
        "write": 1, "close": 3, "poll": 7, "pread64": 17, "fsync": 74, "mkdirat": 258, "unlinkat": 263,
        "renameat": 264, "linkat": 265, "renameat2": 316, "openat2": 437,
    },
    "aarch64": {
        "write": 64, "close": 57, "poll": 73, "pread64": 67, "fsync": 82, "mkdirat": 34, "unlinkat": 35,
        "renameat": 38, "linkat": 37, "renameat2": 276, "openat2": 437,
    },
}  # fmt: skip
_NO_NEW_PRIVILEGES, _SECCOMP, _FILTER = 38, 22, 2
_LOAD, _JUMP_IF_EQUAL, _RETURN = 0x20, 0x15, 0x06
_REFUSE, _ALLOW = 0x00050000, 0x7FFF0000
_AT_NUMBER, _AT_FIRST_ARGUMENT = 0, 16


@dataclass(frozen=True)
class Refusal:
    """A system call that fails with this error; `handle` limits it to the n-th opened handle."""

    call: str
    error: int
    handle: int | None = None


def confined(
    home: Path,
    call: str,
    *,
    refusals: Sequence[Refusal] = (),
    as_nobody: bool = False,
    size_limit_bytes: int | None = None,
    **arguments: str | None,
) -> dict[str, Any]:
    """Run one call; return its error's `code`, `message`, `hint` and `replaced`, or its `result` as text."""
    request = {
        "home": str(home),
        "call": call,
        "refusals": [asdict(each) for each in refusals],
        "as_nobody": as_nobody,
        "size_limit_bytes": size_limit_bytes,
        "arguments": arguments,
    }
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.confined"],
        cwd=REPOSITORY,
        input=json.dumps(request),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def give_to_nobody(home: Path) -> None:
    """As root, give the home to the account of `as_nobody`."""
    if os.geteuid() == 0:
        for path in (home, *home.rglob("*")):
            os.chown(path, NOBODY, NOBODY, follow_symlinks=False)


def become_nobody() -> None:
    """As root, drop all privileges and become that account."""
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)


def main() -> None:
    request = json.load(sys.stdin)
    if request["as_nobody"]:
        become_nobody()
    if request["size_limit_bytes"] is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (request["size_limit_bytes"],) * 2)
    refusals = [Refusal(**each) for each in request["refusals"]]
    # The probe for openat2 must meet its refusal; handles count from the opened home on.
    refuse([each for each in refusals if each.handle is None and each.call == "openat2"])
    with GardenFiles(Path(request["home"])) as files:
        confirm_folders(files, request["arguments"])
        refuse([each for each in refusals if each.call != "openat2"])
        print(json.dumps(answer_of(files, request["call"], request["arguments"])))


def confirm_folders(files: GardenFiles, arguments: dict[str, str | None]) -> None:
    """Sync the existing folders, so that no call has to."""
    for name in ("path", "new_path", "keep_previous"):
        with suppress(OSError, GardenError):
            if arguments.get(name):
                folder = GardenPath(arguments[name] or "").folder.text
                with files.open(folder, READ_FOLDER) as handle:
                    files.confirm_way(folder, handle)


def answer_of(files: GardenFiles, call: str, arguments: dict[str, str | None]) -> dict[str, Any]:
    values = {key: understood(key, value) for key, value in arguments.items()}
    path = values.pop("path")
    if call == "create":
        call, values["expected"] = "replace", None
    try:
        result = attrgetter(call)(files)(path, **values)
    except GardenError as error:
        replaced = error.replaced if isinstance(error, SyncFailedError) else None
        return {"code": error.code, "message": error.message, "hint": error.hint, "replaced": replaced}
    return {"result": str(getattr(result, "text", result)), "way": files._resolve.__name__}


def understood(key: str, value: str | None) -> object:
    if key in {"path", "new_path", "keep_previous"} and value is not None:
        return GardenPath(value)
    return value.encode() if key == "content" and value is not None else value


def refuse(refusals: Sequence[Refusal]) -> None:
    """Make the kernel refuse calls of this process from now on."""
    first = os.dup(0)
    os.close(first)
    libc = ctypes.CDLL(None, use_errno=True)
    for refusal in refusals:
        handle = None if refusal.handle is None else first + refusal.handle
        program = _program(refusal, handle)
        buffer = ctypes.create_string_buffer(program, len(program))
        header = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(buffer))
        assert libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) == 0
        assert libc.prctl(_SECCOMP, _FILTER, header) == 0, ctypes.get_errno()


def _program(refusal: Refusal, handle: int | None) -> bytes:
    number = _NUMBERS[platform.machine()][refusal.call]
    refused = (_RETURN, 0, 0, _REFUSE | refusal.error)
    allowed = (_RETURN, 0, 0, _ALLOW)
    if handle is None:
        steps = [(_LOAD, 0, 0, _AT_NUMBER), (_JUMP_IF_EQUAL, 0, 1, number), refused, allowed]
    else:
        steps = [
            (_LOAD, 0, 0, _AT_NUMBER), (_JUMP_IF_EQUAL, 0, 3, number),
            (_LOAD, 0, 0, _AT_FIRST_ARGUMENT), (_JUMP_IF_EQUAL, 0, 1, handle), refused, allowed,
        ]  # fmt: skip
    return b"".join(struct.pack("HBBI", *step) for step in steps)


if __name__ == "__main__":
    main()
