"""The form of log entries, made by structlog, which the first entry loads."""

import logging
from typing import TextIO

import structlog
from structlog.stdlib import ProcessorFormatter
from structlog.typing import Processor

_SHARED: tuple[Processor, ...] = (
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
)


def configure_loggers() -> None:
    """Send the entries of this project through the handlers of the standard library."""
    structlog.configure(
        processors=[*_SHARED, ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )


def make_formatter(target: TextIO, *, readable: bool) -> logging.Formatter:
    """Make the formatter of every entry, readable or as JSON."""
    renderers: list[Processor] = [
        structlog.processors.format_exc_info,
        structlog.processors.JSONRenderer(),
    ]
    if readable:
        # The default shows the local variables of every frame, which may hold secrets.
        plain = structlog.dev.plain_traceback
        renderers = [structlog.dev.ConsoleRenderer(colors=target.isatty(), exception_formatter=plain)]
    return ProcessorFormatter(
        foreign_pre_chain=_SHARED, processors=[ProcessorFormatter.remove_processors_meta, *renderers]
    )
