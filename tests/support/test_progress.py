"""The lines that show a run's progress."""

from tests.support.progress import Progress

EVENTS = [f"tests/events/test_saga.py::test_{number}" for number in range(3)]
WEB = "tests/surfaces/web/test_tools.py::test_slow"


class Run:
    def __init__(self) -> None:
        self.lines: list[str] = []
        self.now = 0.0
        self.progress = Progress(self.lines.append, lambda: self.now)
        self.progress.collect([*EVENTS, WEB])

    def test(self, name: str, outcome: str, seconds: float = 1) -> None:
        self.progress.start(name)
        self.now += seconds
        self.progress.count(name, outcome)
        self.progress.finish(name)


def test_a_package_is_one_line_once_its_last_test_ended() -> None:
    run = Run()
    for name in EVENTS:
        run.test(name, "passed", 30)
    assert run.lines == [" 75 %  1:30  events: 3 passed"]
    run.test(WEB, "skipped")
    assert run.lines[1:] == ["100 %  1:31  surfaces/web: 1 skipped"]


def test_a_failure_is_named_at_once() -> None:
    run = Run()
    run.test(EVENTS[0], "failed")
    assert run.lines == [f"  0 %  0:01  failed: {EVENTS[0]}"]


def test_after_a_silence_a_line_says_what_runs() -> None:
    run = Run()
    run.progress.start(WEB)
    run.test(EVENTS[0], "passed")
    run.progress.start(EVENTS[1])
    run.progress.report_running()
    assert run.lines == []
    run.now = 20
    run.progress.report_running()
    assert run.lines == [
        f" 25 %  0:20  running events (1 of 3), surfaces/web (0 of 1); for 20 seconds: {WEB}"
    ]
    run.progress.report_running()
    assert len(run.lines) == 1
