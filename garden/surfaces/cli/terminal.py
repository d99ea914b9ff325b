"""Rich's console, adapted."""

import os
from typing import TextIO

from rich.console import Console

# Wide enough that no column is cut where no window limits it.
_UNLIMITED_WIDTH = 10_000


class _Console(Console):
    """A console that raises on a broken pipe, where Rich would end the process."""

    def on_broken_pipe(self) -> None:
        """Raise, so that `main` ends the command."""
        raise BrokenPipeError


def console(stream: TextIO) -> Console:
    """Console on a stream: coloured and as wide as the terminal, or plain and unlimited."""
    is_terminal = stream.isatty()
    plain = not is_terminal or bool(os.environ.get("NO_COLOR"))
    return _Console(
        file=stream,
        width=None if is_terminal else _UNLIMITED_WIDTH,
        highlight=False,
        color_system=None if plain else "auto",
    )
