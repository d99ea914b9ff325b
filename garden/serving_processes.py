"""The processes of one service: forked by one parent, replaced when they die, exchanged on SIGHUP."""

import gc
import multiprocessing
import os
import shutil
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import wait
from pathlib import Path

from prometheus_client.multiprocess import mark_process_dead

from garden.gateway.processes import READY, RETIRE, STOP, ServiceProcess, SharedCounts
from garden.grammar.errors import GardenError
from garden.home.logs import get_logger

# A process that dies before it can answer is replaced at this pace.
_PAUSE_SECONDS = 1.0
# A hang-up is for the parent.
_SIGNALS = {signal.SIGTERM: signal.SIG_DFL, signal.SIGINT: signal.SIG_DFL, signal.SIGHUP: signal.SIG_IGN}
_FORK = multiprocessing.get_context("fork")

Run = Callable[[ServiceProcess], None]
"""Answers calls until it is asked to stop."""


class NotStartedError(GardenError):
    """A process of the service ended before it could answer."""

    code = "unavailable"


@dataclass(eq=False)
class _Child:
    number: int
    line: socket.socket
    process: multiprocessing.process.BaseProcess
    is_ready: bool = False
    is_retired: bool = False


class Processes:
    """Keeps so many processes running until a signal stops them all.

    The parent has one thread and no connection, so that it can fork. `prepare` reads the settings and returns
    what a process runs; `started` is called once all of them answer, and `closing` when they are to end.
    """

    def __init__(
        self, count: int, prepare: Callable[[], Run], started: Callable[[], None], closing: Callable[[], None]
    ) -> None:
        self._count, self._prepare, self._started, self._closing = count, prepare, started, closing
        self._run = self._previous_run = prepare()
        # A retired process finishes its calls beside the one that took over.
        self._counts = SharedCounts(2 * count + 1)
        self._pid = os.getpid()
        self._folder = Path(tempfile.mkdtemp(prefix="garden-serve-"))
        self._children: list[_Child] = []
        self._outdated: list[_Child] = []
        self._start_after = 0.0
        self._has_started = self._is_stopping = False

    def run(self) -> None:
        """Start the processes, look after them, and return when all have ended."""
        gc.freeze()
        signals, writer = socket.socketpair()
        writer.setblocking(False)
        signal.set_wakeup_fd(writer.fileno())
        for each in _SIGNALS:
            signal.signal(each, lambda *_: None)
        while self._children or not self._is_stopping:
            pause = self._start_missing()
            lines = {each.line: each for each in self._children}
            for heard in wait([signals, *lines], pause):
                if heard is signals:
                    self._on_signal(signals.recv(1)[0])
                else:
                    self._on_word(lines[heard])  # type: ignore[index]
        shutil.rmtree(self._folder, ignore_errors=True)
        if not self._has_started:
            raise NotStartedError("The service could not start.", hint="Its log says why.")

    def _start_missing(self) -> float | None:
        """Start the processes that are missing; return the seconds until that may go on."""
        wanted = 0 if self._is_stopping else self._count + bool(self._outdated)
        while sum(not each.is_retired for each in self._children) < wanted:
            if len(self._children) > 2 * self._count:
                # Those that retire must end first.
                return None
            pause = self._start_after - time.monotonic()
            if pause > 0:
                return pause
            self._start()
        return None

    def _start(self) -> None:
        taken = {each.number for each in self._children}
        number = next(number for number in range(2 * self._count + 1) if number not in taken)
        ours, its = socket.socketpair()
        place = ServiceProcess(partial(its.send, READY), number, self._count, self._counts, self._folder, its)
        process = _FORK.Process(target=self._be_child, args=(place,))
        self._children.append(_Child(number, ours, process))
        process.start()
        its.close()

    def _be_child(self, process: ServiceProcess) -> None:
        # Out of the terminal's reach: the parent alone tells its processes to stop.
        os.setpgid(0, 0)
        signal.set_wakeup_fd(-1)
        for each, handler in _SIGNALS.items():
            signal.signal(each, handler)
        for child in self._children:
            child.line.close()
        self._counts.join(process.number)
        try:
            self._run(process)
        except GardenError as error:
            _log("a process can't serve", reason=f"{error.message} {error.hint}".strip())
            sys.exit(1)
        finally:
            if os.getppid() != self._pid:
                shutil.rmtree(self._folder, ignore_errors=True)

    def _on_signal(self, number: int) -> None:
        if number == signal.SIGHUP:
            self._exchange()
        elif not self._is_stopping:
            self._stop()
        else:
            # A second signal stops without waiting.
            for each in self._children:
                each.process.terminate()

    def _stop(self) -> None:
        self._is_stopping = True
        self._closing()
        for each in self._children:
            _tell(each, STOP)

    def _exchange(self) -> None:
        """Begin to exchange the processes, one after the other, for some with the settings of now."""
        if not self._has_started:
            _log("the processes were not exchanged", reason="not all of them have started yet")
            return
        try:
            self._previous_run, self._run = self._run, self._prepare()
        except GardenError as error:
            _log("the processes were not exchanged", reason=error.message)
        else:
            self._outdated = [each for each in self._children if not each.is_retired]

    def _on_word(self, child: _Child) -> None:
        word = b""
        with suppress(ConnectionError):
            word = child.line.recv(1)
        if word != READY:
            self._on_ended(child)
            return
        child.is_ready = True
        if self._outdated:
            old = self._outdated.pop()
            old.is_retired = True
            _tell(old, RETIRE)
        elif not self._has_started and all(each.is_ready for each in self._children):
            self._has_started = True
            self._started()

    def _on_ended(self, child: _Child) -> None:
        """Clear away a process that has ended, and see to its replacement unless it was asked to end."""
        child.line.close()
        child.process.join()
        self._children.remove(child)
        self._counts.clear(child.number)
        mark_process_dead(child.number, str(self._folder))  # type: ignore[no-untyped-call]
        if self._is_stopping or child.is_retired:
            return
        _log("a process ended", pid=child.process.pid, status=child.process.exitcode)
        self._start_after = 0 if child.is_ready else time.monotonic() + _PAUSE_SECONDS
        if not self._has_started:
            self._stop()
        elif child in self._outdated:
            self._outdated.remove(child)
        elif self._outdated and not child.is_ready:
            _log("the processes were not exchanged", reason="a new one did not start")
            self._outdated, self._run = [], self._previous_run


def _tell(child: _Child, word: bytes) -> None:
    # The end of its line tells of one that is gone.
    with suppress(OSError):
        child.line.send(word)


def _log(event: str, **about: object) -> None:
    get_logger("garden.serve").warning(event, **about)
