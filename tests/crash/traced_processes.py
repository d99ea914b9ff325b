"""The processes that meet faults, each forked from one that has imported everything.

    python -m tests.crash.traced_processes HOME ADDRESS

Each line on standard input is a job: a user, and the way in which the product is broken on purpose. Its
process connects to the database, reports at ADDRESS that it is ready, and carries out the requests
that arrive there.
"""

import ctypes
import gc
import json
import os
import signal
import socket
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from garden.application import Garden
from garden.events import later
from garden.gateway.dispatcher import refusal
from garden.grammar.errors import GardenError
from garden.home.settings import Settings, load_settings
from garden.home.setup import PreparedHome, prepare_home
from garden.upkeep.reconciliation import reconcile
from tests.crash.fault_breakages import BREAKAGES
from tests.crash.operations import OPERATIONS, RECONCILE
from tests.support.crowd import REPOSITORY, Asked
from tests.support.gardens import addition

_PATIENCE_SECONDS = 0.5
_ANSWER_SECONDS_MAX = 30
# The first process imports and compiles everything.
_READY_SECONDS_MAX = 300
_MESSAGE_BYTES_MAX = 1 << 17
_PR_SET_PTRACER = 0x59616D61

Envelope = dict[str, Any]


class TracedProcess:
    """The harness's connection to one process."""

    def __init__(self, line: socket.socket) -> None:
        self._line = line
        line.settimeout(_ANSWER_SECONDS_MAX)
        ready = self._heard()
        self.pid = int(ready["pid"])
        self.backends: list[int] = ready["backends"]

    def call(self, asked: Asked, waits: Callable[[], None] = lambda: None) -> Envelope:
        """Return its answer, or nothing where it died; call `waits` once where the answer is slow."""
        with suppress(OSError):
            self._line.sendmsg([json.dumps(asked).encode()])
        self._line.settimeout(_PATIENCE_SECONDS)
        try:
            return self._heard()
        except TimeoutError:
            waits()
        self._line.settimeout(_ANSWER_SECONDS_MAX)
        with suppress(TimeoutError):
            return self._heard()
        os.kill(self.pid, signal.SIGKILL)
        return {}

    def _heard(self) -> Envelope:
        with suppress(ConnectionResetError):
            words = self._line.recv(_MESSAGE_BYTES_MAX)
            if words:
                said: Envelope = json.loads(words)
                return said
        return {}

    def handles(self) -> int:
        return len(list(Path(f"/proc/{self.pid}/fd").iterdir()))


class TracedProcesses:
    """Starts the processes."""

    def __init__(self, process: subprocess.Popen[str], door: socket.socket) -> None:
        self._process = process
        self._door = door

    def order(self, user_id: str, log: Path, breakage: str | None = None) -> None:
        """Prepare a process while others still work."""
        assert self._process.stdin is not None
        job = {"user": user_id, "log": str(log), "breakage": breakage}
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()

    @contextmanager
    def ordered(self) -> Iterator[TracedProcess]:
        """Yield the process ordered earliest; it ends with its connection."""
        line, _ = self._door.accept()
        with line:
            yield TracedProcess(line)


@contextmanager
def traced_processes_of(home: Path) -> Iterator[TracedProcesses]:
    address = str(home.parent / "door")
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as door:
        door.bind(address)
        door.listen()
        door.settimeout(_READY_SECONDS_MAX)
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.crash.traced_processes", home, address],
            cwd=REPOSITORY,
            stdin=subprocess.PIPE,
            text=True,
        )
        with process:
            yield TracedProcesses(process, door)


def main(home: str, address: str) -> None:
    # Work in the background would meet the fault instead, or open a connection meanwhile.
    later._SECONDS = 3600
    settings = load_settings(Path(home)).settings
    ground = prepare_home(settings)
    _warm_up(settings, ground)
    gc.collect()
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for line in sys.stdin:
        if os.fork() == 0:
            try:
                _work(settings, ground, json.loads(line), address)
            finally:
                os._exit(1)


def _warm_up(settings: Settings, ground: PreparedHome) -> None:
    """Run everything once that imports or compiles on first use."""
    with Garden(settings, ground) as garden:
        for number, operation in enumerate(OPERATIONS.values()):
            user_id = f"warm{number}"
            operation.before(garden, user_id)
            _connect(garden, user_id)
            for asked in (operation.ask(user_id), operation.next_write(user_id, "warm")):
                answer = _answer(garden, user_id, asked)
                assert answer["ok"], answer


def _work(settings: Settings, ground: PreparedHome, job: dict[str, Any], address: str) -> None:
    log = os.open(job["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(log, 1)
    os.dup2(log, 2)
    # Let the harness's strace attach where only a parent may trace a process.
    ctypes.CDLL(None).prctl(_PR_SET_PTRACER, ctypes.c_ulong(-1), 0, 0, 0)
    with Garden(settings, ground) as garden, ExitStack() as stack:
        if job["breakage"]:
            stack.enter_context(BREAKAGES[job["breakage"]].break_it())
        _connect(garden, job["user"])
        line = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET))
        line.connect(address)
        # The product never uses these two calls, so no fault hits them.
        backends = [each.info.backend_pid for pool in garden.pools.values() for each in pool._idle]
        line.sendmsg([json.dumps({"pid": os.getpid(), "backends": backends}).encode()])
        while words := line.recvmsg(_MESSAGE_BYTES_MAX)[0]:
            line.sendmsg([json.dumps(_answer(garden, job["user"], json.loads(words))).encode()])
    os._exit(0)


def _connect(garden: Garden, user_id: str) -> None:
    """Connect beforehand, so that a trial begins with a warm service."""
    session = garden.session(user_id, "companion", role="maintainer")
    session.call("events.query", {"limit": 1})
    tool, args = addition(f"users/{user_id}/overview.md", "warm")
    session.call(tool, {**args, "dryRun": True})
    with garden.pools["recoverers"].connection():
        pass


def _answer(garden: Garden, user_id: str, asked: Asked) -> Envelope:
    try:
        if asked[0] == RECONCILE:
            done = [(each.path, each.outcome, each.message) for each in reconcile(garden.services, [user_id])]
            return {"ok": True, "result": done, "meta": {}}
        return garden.session(user_id, "companion", role="maintainer").call(*asked)
    except GardenError as error:
        return refusal(error)
    except Exception:  # noqa: BLE001 - the harness reports it
        said = traceback.format_exc()
        return {"ok": False, "error": {"code": "internal", "message": said, "hint": "", "details": {}}}


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
