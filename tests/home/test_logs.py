import io
import json
import logging
from collections.abc import Iterator

import pytest
import structlog

from garden.home.logs import configure_logs
from garden.home.settings import LogFormat


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def _put_back() -> Iterator[None]:
    handlers, level = logging.root.handlers[:], logging.root.level
    yield
    logging.root.handlers[:] = handlers
    logging.root.setLevel(level)
    structlog.reset_defaults()


def test_off_a_terminal_an_entry_is_one_line_of_json() -> None:
    stream = io.StringIO()
    configure_logs("info", "auto", stream)
    structlog.get_logger("ours").info("swept", stalled=3)
    logging.getLogger("theirs").warning("of a %s", "library")
    ours, theirs = (json.loads(line) for line in stream.getvalue().splitlines())
    assert (ours["event"], ours["stalled"], ours["level"], ours["logger"]) == ("swept", 3, "info", "ours")
    assert (theirs["event"], theirs["level"], theirs["logger"]) == ("of a library", "warning", "theirs")
    assert ours["timestamp"].endswith("Z")


def test_an_exception_stays_on_its_line_in_json() -> None:
    stream = io.StringIO()
    configure_logs("info", "json", stream)
    try:
        raise ValueError("first\nsecond")
    except ValueError:
        structlog.get_logger().exception("broke")
    (line,) = stream.getvalue().splitlines()
    assert "ValueError: first\nsecond" in json.loads(line)["exception"]


def test_on_a_terminal_an_entry_is_readable() -> None:
    stream = Terminal()
    configure_logs("info", "auto", stream)
    structlog.get_logger().info("swept", stalled=3)
    assert "swept" in stream.getvalue()
    with pytest.raises(json.JSONDecodeError):
        json.loads(stream.getvalue())


@pytest.mark.parametrize("form", ["console", "json"])
def test_a_traceback_shows_no_local_variable(form: LogFormat) -> None:
    stream = io.StringIO()
    configure_logs("info", form, stream)
    try:
        fail_while_holding("hunter" + "2")
    except ValueError:
        structlog.get_logger().exception("broke")
    assert "fail_while_holding" in stream.getvalue()
    assert "hunter2" not in stream.getvalue()


def fail_while_holding(password: str) -> None:
    raise ValueError(len(password))


def test_entries_below_the_level_are_not_written() -> None:
    stream = io.StringIO()
    configure_logs("warning", "json", stream)
    structlog.get_logger().info("chatter")
    logging.getLogger("pika").error("every step of a connection")
    assert stream.getvalue() == ""


def test_standard_output_is_never_touched(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logs("debug", "json")
    structlog.get_logger().error("loud")
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "loud" in captured.err


def test_a_missing_broker_is_one_warning_a_minute() -> None:
    stream = io.StringIO()
    configure_logs("info", "json", stream)
    consumer = logging.getLogger("dramatiq.worker.ConsumerThread(garden)")
    for _ in range(3):
        consumer.critical("Consumer encountered a connection error: %s", "refused")
        consumer.info("Restarting consumer in %0.2f seconds.", 3)
    [entry] = map(json.loads, stream.getvalue().splitlines())
    assert entry["level"] == "warning"
    consumer.critical("Consumer encountered an unexpected error.")
    assert json.loads(stream.getvalue().splitlines()[-1])["level"] == "critical"
