"""Products that break a promise, to prove that the judge detects it."""

import os
import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest import mock

from garden.files.prepared_file import PreparedFile
from garden.gateway.dispatcher import Dispatcher
from garden.writing.settlement import STALLED, SagaSettler

_WIDE_SECONDS = 0.03
_LOST = 0.3


@contextmanager
def broken(how: str | None) -> Iterator[None]:
    """Break the product in this way, in this process and its forks."""
    with ExitStack() as stack:
        if how is not None:
            for place, other in BREAKAGES[how]().items():
                stack.enter_context(mock.patch(place, other))
        yield


def _answers_early() -> Mapping[str, Any]:
    """Answer a write before carrying it out."""
    call = Dispatcher.call

    def early(self: Dispatcher, access: Any, tool: str, args: Any, pace: Any = None) -> Any:
        if tool != "fs.append":
            return call(self, access, tool, args, pace)

        def later() -> None:
            time.sleep(_WIDE_SECONDS)
            call(self, access, tool, args, pace)

        threading.Thread(target=later, daemon=True).start()
        return {"ok": True, "result": {"newSize": 1}, "meta": {"unchanged": False}}

    return {"garden.gateway.dispatcher.Dispatcher.call": early}


def _undoes_what_was_written() -> Mapping[str, Any]:
    """Fail changes that are already written; a pause makes kills in between likely."""
    put = PreparedFile.put

    def slowly(self: PreparedFile) -> None:
        put(self)
        time.sleep(_WIDE_SECONDS)

    def undone(_self: SagaSettler, stream: Any, _path: Any, event: Any) -> Any:
        return stream.fail(event, STALLED, keep=True)

    return {
        "garden.files.prepared_file.PreparedFile.put": slowly,
        "garden.writing.settlement.SagaSettler._settle_event": undone,
    }


def _loses_what_it_acknowledged() -> Mapping[str, Any]:
    """Put the old text back right after acknowledging a write."""
    call = Dispatcher.call

    def losing(self: Dispatcher, access: Any, tool: str, args: Any, pace: Any = None) -> Any:
        if tool != "fs.append" or random.random() > _LOST:  # noqa: S311 - it only chooses
            return call(self, access, tool, args, pace)
        file = Path(f"/proc/self/fd/{self._services.files._home}").readlink() / args["path"]
        with suppress(FileNotFoundError):
            before = file.read_bytes()
            answer = call(self, access, tool, args, pace)
            if answer["ok"]:
                older = file.with_suffix(f".{os.getpid()}-{threading.get_ident()}")
                older.write_bytes(before)
                older.replace(file)
            return answer
        return call(self, access, tool, args, pace)

    return {"garden.gateway.dispatcher.Dispatcher.call": losing}


def _takes_an_undo_for_a_fault_of_the_disk() -> Mapping[str, Any]:
    """Treat every older version in a file as a fault of the disk, and write the newest again."""
    return {"garden.files.garden_files.touched_at": lambda _status: datetime.fromtimestamp(0, UTC)}


BREAKAGES: Mapping[str, Callable[[], Mapping[str, Any]]] = {
    "answers early": _answers_early,
    "undoes what was written": _undoes_what_was_written,
    "loses what it acknowledged": _loses_what_it_acknowledged,
    "takes an undo for a fault of the disk": _takes_an_undo_for_a_fault_of_the_disk,
}
