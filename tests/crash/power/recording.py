"""Records this process's effects on files and events, and kills it before a chosen step."""

import errno
import linecache
import os
import signal
import sys
from collections.abc import Callable
from contextlib import ExitStack, suppress
from types import FrameType, TracebackType
from typing import Any, Self
from unittest import mock

from garden.events.stream import LockedStream
from garden.files import beneath, plain_files
from tests.crash.power.effects import Effect, What

# Statements that change nothing a power failure could take.
_NO_CHANGE = {"unlock"}

Tell = Callable[[Effect], None]


class Recorder:
    """Watches the calls that change what the labelled folders hold; all else passes by unnoticed.

    `left_out` is the place of a sync that does not happen. `unable` names calls that the file system is to
    refuse, as some do: "link", and "rename_new" for renames that replace nothing or exchange two names.
    """

    def __init__(
        self,
        labels: dict[int, str],
        tell: Tell,
        *,
        dies_before: int | None,
        left_out: str | None,
        unable: tuple[str, ...],
        first_number: int,
    ) -> None:
        self._labels = dict(labels)
        self._tell = tell
        self._dies_before = dies_before
        self._left_out = left_out
        self._unable = unable
        self._number = first_number
        self._taken = 0
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        for name in ("open", "write", "fsync", "link", "rename", "unlink", "mkdir"):
            self._replace(f"os.{name}", getattr(self, f"_{name}"), getattr(os, name))
        self._replace(
            "garden.files.beneath._rename_without_replacing",
            self._rename_new,
            beneath._rename_without_replacing,
        )
        self._replace("garden.files.plain_files.exchange", self._exchange, beneath.exchange)
        self._replace("garden.events.stream.LockedStream._send", self._send, LockedStream._send)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def answer(self, tool: str) -> None:
        """Record that a caller received an answer."""
        self._before()
        self._done(Effect(What.ANSWER, name=tool))

    def _replace(self, place: str, method: Callable[..., Any], original: Callable[..., Any]) -> None:
        def watched(*words: Any, **named: Any) -> Any:
            return method(original, *words, **named)

        self._stack.enter_context(mock.patch(place, watched))

    def _before(self) -> None:
        if self._taken == self._dies_before:
            os.kill(os.getpid(), signal.SIGKILL)

    def _done(self, effect: Effect) -> None:
        self._tell(effect)
        self._taken += 1

    def _label(self, handle: int | None) -> str | None:
        return None if handle is None else self._labels.get(os.fstat(handle).st_ino)

    def _label_in(self, folder: int | None, name: str) -> str | None:
        if folder is None:
            return None
        with suppress(FileNotFoundError):
            return self._labels.get(os.stat(name, dir_fd=folder, follow_symlinks=False).st_ino)
        return None

    def _labelled(self, number: int) -> str:
        label = self._labels[number] = f"new{self._number}"
        self._number += 1
        return label

    def _open(
        self, original: Any, path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None
    ) -> int:
        folder = self._label(dir_fd)
        if folder is None or not flags & os.O_CREAT:
            handle: int = original(path, flags, mode, dir_fd=dir_fd)
            return handle
        self._before()
        handle = original(path, flags, mode, dir_fd=dir_fd)
        number = os.fstat(handle).st_ino
        self._done(Effect(What.CREATE, self._labelled(number), folder, path, number=number))
        return handle

    def _write(self, original: Any, handle: int, data: Any) -> int:
        node = self._label(handle)
        if node is None:
            size: int = original(handle, data)
            return size
        self._before()
        size = original(handle, data)
        self._done(Effect(What.WRITE, node, data=bytes(data[:size])))
        return size

    def _fsync(self, original: Any, handle: int) -> None:
        node = self._label(handle)
        if node is None:
            original(handle)
            return
        place = place_of(sys._getframe())
        if place == self._left_out:
            return
        self._before()
        original(handle)
        self._done(Effect(What.SYNC, node, place=place))

    def _link(self, original: Any, name: str, new_name: str, **named: Any) -> None:
        folder, node = self._label(named["dst_dir_fd"]), self._label_in(named["src_dir_fd"], name)
        if "link" in self._unable:
            raise OSError(errno.EPERM, os.strerror(errno.EPERM))
        if folder is None or node is None:
            original(name, new_name, **named)
            return
        self._before()
        original(name, new_name, **named)
        self._done(Effect(What.LINK, node, folder, new_name))

    def _rename(self, original: Any, name: str, new_name: str, *, src_dir_fd: int, dst_dir_fd: int) -> None:
        self._renamed(
            lambda: original(name, new_name, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd),
            (src_dir_fd, name),
            (dst_dir_fd, new_name),
        )

    def _rename_new(self, original: Any, name: str, new_name: str, folder: int, new_folder: int) -> None:
        if "rename_new" in self._unable:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        self._renamed(
            lambda: original(name, new_name, folder, new_folder), (folder, name), (new_folder, new_name)
        )

    def _exchange(self, original: Any, name: str, other: str, folder: int) -> bool:
        if "rename_new" in self._unable:
            return False
        node, replaced = self._label_in(folder, name), self._label_in(folder, other)
        label = self._label(folder)
        if node is None or replaced is None or label is None:
            return bool(original(name, other, folder))
        self._before()
        done = bool(original(name, other, folder))
        if done:
            self._done(Effect(What.EXCHANGE, node, label, other, label, name, other=replaced))
        return done

    def _renamed(self, rename: Callable[[], None], old: tuple[int, str], new: tuple[int, str]) -> None:
        node, old_folder, folder = self._label_in(*old), self._label(old[0]), self._label(new[0])
        if node is None or old_folder is None or folder is None:
            rename()
            return
        self._before()
        rename()
        self._done(Effect(What.RENAME, node, folder, new[1], old_folder, old[1]))

    def _unlink(self, original: Any, name: Any, *, dir_fd: int | None = None) -> None:
        folder, node = self._label(dir_fd), self._label_in(dir_fd, name)
        if folder is None or node is None:
            original(name, dir_fd=dir_fd)
            return
        self._before()
        original(name, dir_fd=dir_fd)
        self._done(Effect(What.UNLINK, node, folder, name))

    def _mkdir(self, original: Any, name: Any, mode: int = 0o777, *, dir_fd: int | None = None) -> None:
        folder = self._label(dir_fd)
        if folder is None:
            original(name, mode, dir_fd=dir_fd)
            return
        self._before()
        original(name, mode, dir_fd=dir_fd)
        number = os.stat(name, dir_fd=dir_fd).st_ino
        self._done(Effect(What.MAKE_FOLDER, self._labelled(number), folder, name, number=number))

    def _send(
        self,
        original: Any,
        stream: LockedStream,
        name: str,
        *words: Any,
        meanwhile: Callable[[], None] | None = None,
        **named: Any,
    ) -> Any:
        if name in _NO_CHANGE:
            return original(stream, name, *words, **named)

        def once_sent() -> None:
            self._done(Effect(What.DATABASE, name=name))
            if meanwhile is not None:
                meanwhile()
            self._before()

        self._before()
        rows = original(stream, name, *words, meanwhile=once_sent, **named)
        self._done(Effect(What.CONFIRMED, name=name))
        return rows


def place_of(frame: FrameType | None) -> str:
    """Name the line of the product that calls sync."""
    asking = _beyond(frame, {__file__, plain_files.sync.__code__})
    return place_named(
        asking.f_code.co_qualname, linecache.getline(asking.f_code.co_filename, asking.f_lineno)
    )


def _beyond(frame: FrameType | None, passed: set[Any]) -> FrameType:
    while frame is not None and ({frame.f_code.co_filename, frame.f_code} & passed):
        frame = frame.f_back
    assert frame is not None
    return frame


def place_named(function: str, line: str) -> str:
    return f"{function.replace('.<locals>', '').replace('GardenFiles.', '')}: {line.strip()}"
