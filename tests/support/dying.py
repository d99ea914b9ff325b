"""Kills this process with SIGKILL right before a chosen step, without any clean-up."""

import os
import signal
from collections.abc import Callable
from contextlib import ExitStack
from types import TracebackType
from typing import Any, Self
from unittest import mock

from garden.events.erasures import Erasures
from garden.events.stream import LockedStream
from garden.events.transactions import begin_together
from garden.files.beneath import exchange, rename_new

_CALLS = ("link", "rename", "unlink", "mkdir", "write", "fsync", "fchmod")


class Steps:
    """Counts this process's changes to files and events, and kills it before one of them."""

    def __init__(self, dies_before: int | None) -> None:
        self.taken: list[str] = []
        self._dies_before = dies_before
        self._stack = ExitStack()

    def take(self, name: str) -> None:
        """Count a step, or die before it."""
        if len(self.taken) == self._dies_before:
            os.kill(os.getpid(), signal.SIGKILL)
        self.taken.append(name)

    def __enter__(self) -> Self:
        for name in _CALLS:
            self._watch(f"os.{name}", name, getattr(os, name))
        for module in ("plain_files", "garden_files", "prepared_file"):
            self._watch(f"garden.files.{module}.rename_new", "rename_new", rename_new)
        self._watch("garden.files.plain_files.exchange", "exchange", exchange)
        opened = os.open
        self._replace("os.open", lambda *words, **named: self._opened(opened, words, named))
        send = LockedStream._send
        self._replace(
            "garden.events.stream.LockedStream._send",
            lambda stream, name, *words, **named: (self.take(name), send(stream, name, *words, **named))[1],
        )
        self._watch("garden.writing.transactions.begin_together", "begin_together", begin_together)
        for name in ("begin", "fill", "finish"):
            self._watch(f"garden.events.erasures.Erasures.{name}", name, getattr(Erasures, name))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def _watch(self, place: str, name: str, original: Callable[..., Any]) -> None:
        def watched(*words: Any, **named: Any) -> Any:
            self.take(name)
            return original(*words, **named)

        self._replace(place, watched)

    def _opened(self, original: Callable[..., int], words: tuple[Any, ...], named: dict[str, Any]) -> int:
        if words[1] & os.O_CREAT:
            self.take("create")
        return original(*words, **named)

    def _replace(self, place: str, other: Callable[..., Any]) -> None:
        self._stack.enter_context(mock.patch(place, other))
