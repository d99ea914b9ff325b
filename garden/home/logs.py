"""Structured logs, always to standard error: readable on a terminal, one JSON object a line elsewhere."""

import logging
import sys
from typing import TextIO

import structlog
from structlog.typing import Processor

from garden.home.settings import LogFormat, LogLevel

_SILENT_SECONDS = 60
_told_at = 0.0


def configure_logs(level: LogLevel, form: LogFormat, stream: TextIO | None = None) -> None:
    """Send our own entries and those of every library through one handler, in one form."""
    target = stream or sys.stderr
    readable = form == "console" or (form == "auto" and target.isatty())
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(target)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                *_renderers(readable, target),
            ],
        )
    )
    # At its own level the MCP SDK tells of every session, with its id.
    logging.getLogger("mcp").setLevel(logging.DEBUG if level == "debug" else logging.WARNING)
    # pika tells every step of a connection at the level that others keep for what matters.
    logging.getLogger("pika").setLevel(logging.DEBUG if level == "debug" else logging.CRITICAL)
    handler.addFilter(_calmer)
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)


def _calmer(record: logging.LogRecord) -> bool:
    """Tell as a warning, once a minute, what dramatiq calls critical: that the broker is away again."""
    global _told_at
    if not record.name.startswith("dramatiq.worker.ConsumerThread"):
        return True
    if not record.getMessage().startswith("Consumer encountered a connection error"):
        return not record.getMessage().startswith("Restarting consumer")
    if record.created - _told_at < _SILENT_SECONDS:
        return False
    _told_at = record.created
    record.levelno, record.levelname = logging.WARNING, "WARNING"
    return True


def _renderers(readable: bool, target: TextIO) -> list[Processor]:
    if readable:
        # The default shows the local variables of every frame, and with them whatever secrets they hold.
        plain = structlog.dev.plain_traceback
        return [structlog.dev.ConsoleRenderer(colors=target.isatty(), exception_formatter=plain)]
    return [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
