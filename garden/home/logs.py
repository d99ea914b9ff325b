"""Structured logs on standard error: readable on a terminal, otherwise one JSON object per line."""

import logging
import sys
from functools import cached_property
from typing import Any, TextIO

from garden.home.settings import LogFormat, LogLevel

_SILENT_SECONDS = 60
_logged_at = 0.0
_is_pending = False


def configure_logs(level: LogLevel, form: LogFormat, stream: TextIO | None = None) -> None:
    """Send the entries of this project and of every library through one handler, in one format."""
    global _is_pending
    _is_pending = "structlog" not in sys.modules
    if not _is_pending:
        _configure_loggers()
    target = stream or sys.stderr
    handler = logging.StreamHandler(target)
    handler.setFormatter(
        _Formatter(target, readable=form == "console" or (form == "auto" and target.isatty()))
    )
    # At info the MCP SDK logs every session, with its id.
    logging.getLogger("mcp").setLevel(logging.DEBUG if level == "debug" else logging.WARNING)
    # pika logs every step of a connection as an error.
    logging.getLogger("pika").setLevel(logging.DEBUG if level == "debug" else logging.CRITICAL)
    handler.addFilter(_calm_broker_entries)
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)


def get_logger(name: str) -> Any:
    """The logger of this name; the first one loads structlog, which a command without a log does not need."""
    import structlog

    if _is_pending:
        _configure_loggers()
    return structlog.get_logger(name)


def log_notice(change: str) -> None:
    """Log a change that a person should see; a program without logs of its own gets it on standard error."""
    logging.getLogger("garden.home").warning(change)


class _Formatter(logging.Formatter):
    def __init__(self, target: TextIO, *, readable: bool) -> None:
        super().__init__()
        self._target, self._readable = target, readable

    @cached_property
    def _inner(self) -> logging.Formatter:
        from garden.home.log_entries import make_formatter

        return make_formatter(self._target, readable=self._readable)

    def format(self, record: logging.LogRecord) -> str:
        return self._inner.format(record)


def _configure_loggers() -> None:
    global _is_pending
    _is_pending = False
    from garden.home.log_entries import configure_loggers

    configure_loggers()


def _calm_broker_entries(record: logging.LogRecord) -> bool:
    """Turn dramatiq's critical entries about a missing broker into one warning a minute."""
    global _logged_at
    if not record.name.startswith("dramatiq.worker.ConsumerThread"):
        return True
    if not record.getMessage().startswith("Consumer encountered a connection error"):
        return not record.getMessage().startswith("Restarting consumer")
    if record.created - _logged_at < _SILENT_SECONDS:
        return False
    _logged_at = record.created
    record.levelno, record.levelname = logging.WARNING, "WARNING"
    return True
