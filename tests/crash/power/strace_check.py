"""Compares the recorded effects with what strace sees, so that none is overlooked."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from garden.application import Garden
from tests.crash.power.disk import clear, scanned
from tests.crash.power.effects import USER, Effect, What
from tests.crash.power.operations import Operation, prepare
from tests.crash.power.processes import REPOSITORY, Job, Processes

# All that may change what a disk holds, also what nothing of ours uses.
_CALLS = (
    "open,openat,openat2,creat,write,pwrite64,writev,pwritev,fsync,fdatasync,sync,syncfs,sync_file_range,link,"
    "linkat,rename,renameat,renameat2,unlink,unlinkat,rmdir,mkdir,mkdirat,symlink,symlinkat,mknod,mknodat,"
    "truncate,ftruncate,fallocate,copy_file_range,sendfile,chmod,fchmod,fchmodat,chown,fchown,fchownat,lchown,"
    "utimensat,setxattr,fsetxattr,ioctl,msync"
)
_LINE = re.compile(r"(?:\[pid +\d+\] |\d+ +)?(?P<call>\w+)\((?P<words>.*)\) += (?P<result>-?\d+)")
_AS_EFFECTS = {
    "write": What.WRITE,
    "fsync": What.SYNC,
    "linkat": What.LINK,
    "renameat": What.RENAME,
    "renameat2": What.RENAME,
    "rename": What.RENAME,
    "unlinkat": What.UNLINK,
    "mkdirat": What.MAKE_FOLDER,
}
_IN_FILES = {*_AS_EFFECTS.values(), What.CREATE, What.EXCHANGE}

Seen = tuple[str, str]


def differences(garden: Garden, operation: Operation, number: int) -> list[str]:
    """Watch one run of an operation in both ways; return the differences."""
    home, user = garden.home.path, f"traced{number}"
    prepare(garden, user, operation)
    _, labels = scanned(home, user)
    log = home.parent / f"strace-{number}.log"
    command = ["strace", "-f", "-y", "-qq", "-s", "256", "-o", str(log), "-e", f"trace={_CALLS}"]
    process = subprocess.Popen(
        [*command, sys.executable, "-m", "tests.crash.power.processes", str(home)],
        cwd=REPOSITORY,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        life = Processes(process).live(
            Job(
                user, [request.asked(user) for request in operation.requests], labels, unable=operation.unable
            )
        )
        assert process.stdin is not None
        process.stdin.close()
    assert life.ended == "exit 0", life
    clear(home, user)
    recorded = [_told(effect, user) for effect in life.effects if effect.what in _IN_FILES]
    seen = list(_seen(log.read_text(), home))
    return [] if recorded == seen else [f"{operation.name}: recorded {recorded}, strace saw {seen}"]


def _told(effect: Effect, user: str) -> Seen:
    named = effect.what in {What.CREATE, What.LINK, What.RENAME, What.EXCHANGE, What.UNLINK, What.MAKE_FOLDER}
    return effect.what, (user if effect.name == USER else effect.name) if named else ""


def _seen(log: str, home: Path) -> Iterator[Seen]:
    for line in log.splitlines():
        found = _LINE.match(line)
        if found is None or int(found["result"]) < 0 or not _concerns(found["words"], home):
            continue
        call, names = found["call"], re.findall(r'"([^"]*)"', found["words"])
        if call.startswith("open"):
            if "O_CREAT" in found["words"]:
                yield What.CREATE, names[-1]
            elif re.search("O_WRONLY|O_RDWR|O_TRUNC", found["words"]):
                yield call, names[-1]
        elif call in {"write", "fsync"}:
            yield _AS_EFFECTS[call], ""
        elif "RENAME_EXCHANGE" in found["words"]:
            yield What.EXCHANGE, names[-1]
        else:
            yield _AS_EFFECTS.get(call, call), names[-1] if names else ""


def _concerns(words: str, home: Path) -> bool:
    return any(f"<{home}{rest}" in words for rest in (">", "/users", "/history"))
