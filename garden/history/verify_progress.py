"""What an interrupted verification has done, so that the next one goes on there.

A document counts as verified only while nothing of it was touched: its rows, by the transactions that wrote
them, its file and its copies, by their stamps. So all that changed since is verified again. The file is
sealed.
"""

import json
import time
from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from garden.events.keyring import Keyring, Seal
from garden.events.reader import ReaderSnapshot
from garden.files.errors import FileError, FileMissingError
from garden.files.garden_files import GardenFiles
from garden.files.paths import GardenPath
from garden.home.state_files import write_private_file

_PURPOSE = "verify progress"
_KEPT_SECONDS = 3600
_SAVED_EVERY_SECONDS = 1.0


class Resumption:
    """The documents that the interrupted run has verified, and those of this run; without a file, none."""

    def __init__(self, file: Path | None, keys: Keyring | None, *, restart: bool = False) -> None:
        self._file = file
        self._keys = keys
        known = {} if restart else self._read()
        self._known_users: dict[str, str] = known.get("users", {})
        self._known_streams: dict[str, str] = known.get("streams", {})
        self._users: dict[str, str] = {}
        self._streams: dict[str, str] = {}
        self._prints: dict[str, str] = {}
        self._events: dict[str, int] = {}
        self._saved_at = time.monotonic()

    def begin(self, user_id: str, snapshot: ReaderSnapshot, files: GardenFiles) -> None:
        """Take the marks of a user's documents as they are now, before they are verified."""
        self._streams = {}
        if self._file is None:
            return
        rows = snapshot.fetch("row_marks", {})
        self._events = {row["stream"]: row["events"] for row in rows if row["stream"]}
        self._prints = {
            row[
                "stream"
            ]: f"{row['newest']} {_digest([row['mark'], _stamps(files, GardenPath(row['stream']))])}"
            for row in rows
            if row["stream"]
        }
        if self._known_users.get(user_id) == _digest(self._prints):
            self._known_streams |= self._prints

    def events_verified(self, stream: str) -> int | None:
        """The number of events of a document that was verified and not touched since; else None."""
        mark = self._prints.get(stream)
        if mark is None or self._known_streams.get(stream) != mark:
            return None
        self._streams[stream] = mark
        return self._events[stream]

    def add(self, stream: str) -> None:
        """Remember that a document holds."""
        if self._file is None or stream not in self._prints:
            return
        self._streams[stream] = self._prints[stream]
        if time.monotonic() - self._saved_at > _SAVED_EVERY_SECONDS:
            self.save()

    def finish(self, user_id: str) -> None:
        """Remember that all documents of a user hold."""
        self._users[user_id] = _digest(self._prints)
        self._streams = {}

    def save(self) -> None:
        """Write down what was verified, for a run that goes on here."""
        if self._file is None or self._keys is None:
            return
        done = {"at": time.time(), "users": self._users, "streams": self._streams}
        seal = self._keys.seal(_PURPOSE, done)
        content = {"done": done, "seal": seal.mac.hex(), "version": seal.version}
        write_private_file(self._file, json.dumps(content).encode())
        self._saved_at = time.monotonic()

    def remove(self) -> None:
        """Forget everything: the run has come to its end."""
        if self._file is not None:
            self._file.unlink(missing_ok=True)

    def _read(self) -> Mapping[str, Any]:
        if self._file is None or self._keys is None:
            return {}
        with suppress(OSError, ValueError, KeyError, TypeError):
            content = json.loads(self._file.read_bytes())
            done = content["done"]
            is_ours = self._keys.holds(
                Seal(bytes.fromhex(content["seal"]), content["version"]), _PURPOSE, done
            )
            if is_ours and 0 <= time.time() - done["at"] < _KEPT_SECONDS:
                return dict(done)
        return {}


def _stamps(files: GardenFiles, path: GardenPath) -> list[Any]:
    """The stamps of a document's file and copies."""
    found: list[Any] = []
    with suppress(FileError):
        found.append(files.stamp(path))
    with suppress(FileMissingError):
        found += [(copy.text, files.stamp(copy)) for copy in files.list_folder(path.history)]
    return found


def _digest(value: object) -> str:
    return sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
