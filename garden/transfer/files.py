"""The files of imports and exports: written whole or not at all, each with an outcome."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal

from garden.grammar.errors import GardenError
from garden.home.platform_features import flush_drive

TransferOutcome = Literal["imported", "exported", "unchanged", "refused"]


@dataclass(frozen=True)
class TransferredFile:
    """What happened to one file of the tree."""

    file: str
    outcome: TransferOutcome
    code: str | None = None
    message: str | None = None
    hint: str | None = None


def refused_file(name: str, error: GardenError) -> TransferredFile:
    """A file that could not be transferred, with the reason."""
    return TransferredFile(name, "refused", error.code, error.message, error.hint)


@contextmanager
def new_file(file: Path) -> Iterator[IO[bytes]]:
    """Write a new file, readable by its owner only; it appears whole, or not at all after an error."""
    fresh = file.with_name(f".{file.name}.{secrets.token_hex(4)}")
    try:
        handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as opened:
            yield opened
            opened.flush()
            flush_drive(handle)
            os.fsync(handle)
        os.link(fresh, file)
    finally:
        with suppress(FileNotFoundError):
            fresh.unlink()
