"""Shows the progress of a test run: a line for each finished package, and one for what runs for long."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable
from typing import Any

import pytest

# After so many silent seconds a line says what is running.
_SILENT_SECONDS_MAX = 15.0

Status = tuple[str, str, str | tuple[str, dict[str, bool]]]


def package_of(test: str) -> str:
    """The folder of a test, without the `tests/` that all of them share."""
    return test.partition("::")[0].rpartition("/")[0].removeprefix("tests/") or "tests"


class Progress:
    """Counts tests by package and writes lines such as ` 12 %  0:34  events: 212 passed`."""

    def __init__(self, write: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._write, self._clock = write, clock
        self._began = self._spoke = clock()
        self._total: Counter[str] = Counter()
        self._done: Counter[str] = Counter()
        self._outcomes: dict[str, Counter[str]] = {}
        self._running: dict[str, float] = {}
        self._lock = threading.Lock()

    def collect(self, tests: Iterable[str]) -> None:
        """Take the tests that will run."""
        self._total = Counter(map(package_of, tests))

    def start(self, test: str) -> None:
        """Note that a test begins."""
        with self._lock:
            self._running[test] = self._clock()

    def count(self, test: str, outcome: str) -> None:
        """Count an outcome; a failure is written at once."""
        with self._lock:
            self._outcomes.setdefault(package_of(test), Counter())[outcome] += 1
            if outcome in ("failed", "error"):
                self._line(f"{outcome}: {test}")

    def finish(self, test: str) -> None:
        """Note that a test ended, and write a line where it was the last of its package."""
        package = package_of(test)
        with self._lock:
            self._running.pop(test, None)
            self._done[package] += 1
            if self._done[package] == self._total[package]:
                outcomes = self._outcomes.get(package, Counter())
                self._line(f"{package}: " + ", ".join(f"{n} {outcome}" for outcome, n in outcomes.items()))

    def report_running(self) -> None:
        """Write what is running, where no line was written for a while."""
        with self._lock:
            now = self._clock()
            if self._running and now - self._spoke >= _SILENT_SECONDS_MAX:
                packages = sorted({package_of(test) for test in self._running})
                oldest = min(self._running, key=lambda test: self._running[test])
                line = ", ".join(f"{each} ({self._done[each]} of {self._total[each]})" for each in packages)
                seconds = now - self._running[oldest]
                if seconds >= _SILENT_SECONDS_MAX:
                    line += f"; for {seconds:.0f} seconds: {oldest}"
                self._line(f"running {line}")

    def _line(self, text: str) -> None:
        self._spoke = self._clock()
        minutes, seconds = divmod(int(self._spoke - self._began), 60)
        percent = 100 * self._done.total() // max(self._total.total(), 1)
        self._write(f"{percent:3d} %  {minutes}:{seconds:02d}  {text}")


class ProgressPlugin:
    """Gives pytest's events to a `Progress`, in place of pytest's dots; the closing summary stays."""

    def __init__(self, reporter: Any) -> None:
        reporter.showfspath = False
        reporter._show_progress_info = False
        self._progress = Progress(reporter.write_line)
        self._is_over = threading.Event()
        self._watch = threading.Thread(target=self._report_running, daemon=True)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Without workers: the tests are known."""
        if session.items:
            self._progress.collect(item.nodeid for item in session.items)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        """With workers: each has collected the same tests."""
        self._progress.collect(ids)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """A test begins."""
        if not self._watch.ident:
            self._watch.start()
        self._progress.start(nodeid)

    @pytest.hookimpl(wrapper=True)
    def pytest_report_teststatus(self, report: Any) -> Generator[None, Status, Status]:
        """While tests run, keep the category and show neither dot nor letter."""
        status = yield
        category, letter, _ = status
        if self._is_over.is_set():
            return status
        if letter:
            self._progress.count(report.nodeid, category)
        return category, "", ""

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """A test ended."""
        self._progress.finish(nodeid)

    def pytest_sessionfinish(self) -> None:
        """The run is over."""
        self._is_over.set()

    def _report_running(self) -> None:
        while not self._is_over.wait(1):
            self._progress.report_running()
