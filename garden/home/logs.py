"""Structured logs on standard error: readable on a terminal, otherwise one JSON object per line."""

import logging
import sys
from functools import cached_property
from typing import TYPE_CHECKING, Any, TextIO

from garden.home.settings import LogFormat, LogLevel

if TYPE_CHECKING:
    from structlog.typing import Processor

_SILENT_SECONDS = 60
_logged_at = 0.0
_is_pending = False


def configure_logs(level: LogLevel, form: LogFormat, stream: TextIO | None = None) -> None:
    """Send the entries of this project and of every library through one handler, in one format."""
    global _is_pending
    _is_pending = "structlog" not in sys.modules
    if not _is_pending:
        _configure_structlog()
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

    global _is_pending
    if _is_pending:
        _is_pending = False
        _configure_structlog()
    return structlog.get_logger(name)


def _configure_structlog() -> None:
    import structlog

    structlog.configure(
        processors=[*_shared_processors(), structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )


class _Formatter(logging.Formatter):
    """Formats entries with structlog, which the first entry loads."""

    def __init__(self, target: TextIO, *, readable: bool) -> None:
        super().__init__()
        self._target = target
        self._readable = readable

    @cached_property
    def _inner(self) -> logging.Formatter:
        import structlog

        formatter = structlog.stdlib.ProcessorFormatter
        renderers = _renderers(self._readable, self._target)
        return formatter(
            foreign_pre_chain=_shared_processors(), processors=[formatter.remove_processors_meta, *renderers]
        )

    def format(self, record: logging.LogRecord) -> str:
        return self._inner.format(record)


def _shared_processors() -> "list[Processor]":
    import structlog

    return [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]


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


def _renderers(readable: bool, target: TextIO) -> "list[Processor]":
    import structlog

    if readable:
        # The default shows the local variables of every frame, which may hold secrets.
        plain = structlog.dev.plain_traceback
        return [structlog.dev.ConsoleRenderer(colors=target.isatty(), exception_formatter=plain)]
    return [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
