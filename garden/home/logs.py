"""Structured logs on standard error: readable on a terminal, otherwise one JSON object per line."""

import logging
import sys
from typing import TextIO

import structlog
from structlog.typing import Processor

from garden.home.settings import LogFormat, LogLevel

_SILENT_SECONDS = 60
_logged_at = 0.0


def configure_logs(level: LogLevel, form: LogFormat, stream: TextIO | None = None) -> None:
    """Send the entries of this project and of every library through one handler, in one format."""
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
    # At info the MCP SDK logs every session, with its id.
    logging.getLogger("mcp").setLevel(logging.DEBUG if level == "debug" else logging.WARNING)
    # pika logs every step of a connection as an error.
    logging.getLogger("pika").setLevel(logging.DEBUG if level == "debug" else logging.CRITICAL)
    handler.addFilter(_calm_broker_entries)
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)


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


def _renderers(readable: bool, target: TextIO) -> list[Processor]:
    if readable:
        # The default shows the local variables of every frame, which may hold secrets.
        plain = structlog.dev.plain_traceback
        return [structlog.dev.ConsoleRenderer(colors=target.isatty(), exception_formatter=plain)]
    return [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
