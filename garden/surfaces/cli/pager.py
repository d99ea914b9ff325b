"""A pager for long answers, as git starts it: on a terminal, and only if they do not fit the window."""

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from typing import IO, cast

_DEFAULT = ["less", "-FRX"]
# As with git, less quits if all fits, passes colours on and keeps the screen.
_LESS = {"LESS": "FRX"}


class _Paged(TextIOWrapper):
    """A stream to a pager, which shows what a terminal shows."""

    def isatty(self) -> bool:
        """Whether it ends on a terminal."""
        return True


@contextmanager
def paged(*, wanted: bool) -> Iterator[None]:
    """Send what is printed meanwhile through `PAGER`, else `less`, if it goes to a terminal."""
    words = _pager_words()
    if not wanted or not sys.stdout.isatty() or words[0] == "cat" or shutil.which(words[0]) is None:
        yield
        return
    pager = subprocess.Popen(words, stdin=subprocess.PIPE, env={**_LESS, **os.environ})
    stream = _Paged(cast("IO[bytes]", pager.stdin), encoding="utf-8", errors="replace")
    terminal, sys.stdout = sys.stdout, stream
    # The reader may leave the pager before the end.
    try:
        with suppress(BrokenPipeError):
            yield
    finally:
        with suppress(BrokenPipeError):
            stream.close()
        sys.stdout = terminal
        _wait(pager)


def _pager_words() -> list[str]:
    try:
        return shlex.split(os.environ.get("PAGER", "")) or _DEFAULT
    except ValueError:
        # A quote is not closed.
        return _DEFAULT


def _wait(pager: "subprocess.Popen[bytes]") -> None:
    """Wait until the reader leaves the pager, which Ctrl-C does not end."""
    while True:
        with suppress(KeyboardInterrupt):
            pager.wait()
            return
