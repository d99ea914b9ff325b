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

from garden.events.keyring import Keyring, Seal
from garden.events.snapshots import ReaderSnapshot
from garden.files.errors import FileError
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
        self._known: Mapping[str, str] = {} if restart else self._read()
        self._done: dict[str, str] = {}
        self._marks: dict[str, tuple[str, int]] = {}
        self._saved_at = time.monotonic()

    def begin(self, snapshot: ReaderSnapshot, files: GardenFiles) -> None:
        """Take the marks of a user's documents as they are now, before they are verified."""
        if self._file is not None:
            self._marks = {
                row["stream"]: (f"{row['newest']} {_mark(row['mark'], files, row['stream'])}", row["events"])
                for row in snapshot.fetch("row_marks", {})
                if row["stream"]
            }

    def events_verified(self, stream: str) -> int | None:
        """The number of events of a document that was verified and not touched since; else None."""
        mark, events = self._marks.get(stream, ("", 0))
        if not mark or self._known.get(stream) != mark:
            return None
        self._done[stream] = mark
        return events

    def add(self, stream: str) -> None:
        """Remember that a document holds."""
        if stream in self._marks:
            self._done[stream], _ = self._marks[stream]
            if time.monotonic() - self._saved_at > _SAVED_EVERY_SECONDS:
                self.save()

    def save(self) -> None:
        """Write down what was verified, for a run that goes on here."""
        if self._file is None or self._keys is None:
            return
        done = {"at": time.time(), "documents": self._done}
        seal = self._keys.seal(_PURPOSE, done)
        content = {"done": done, "seal": seal.mac.hex(), "version": seal.version}
        write_private_file(self._file, json.dumps(content).encode())
        self._saved_at = time.monotonic()

    def remove(self) -> None:
        """Forget everything: the run has come to its end."""
        if self._file is not None:
            self._file.unlink(missing_ok=True)

    def _read(self) -> Mapping[str, str]:
        if self._file is None or self._keys is None:
            return {}
        with suppress(OSError, ValueError, KeyError, TypeError):
            content = json.loads(self._file.read_bytes())
            done = content["done"]
            is_ours = self._keys.holds(
                Seal(bytes.fromhex(content["seal"]), content["version"]), _PURPOSE, done
            )
            if is_ours and 0 <= time.time() - done["at"] < _KEPT_SECONDS:
                return dict(done["documents"])
        return {}


def _mark(of_rows: str, files: GardenFiles, stream: str) -> str:
    """A digest of the rows, the file and the copies of a document."""
    path, found = GardenPath(stream), [of_rows]
    with suppress(FileError):
        found.append(repr(files.stamp(path)))
    with suppress(FileError):
        found += [f"{copy.name} {files.stamp(copy)}" for copy in files.list_folder(path.history)]
    return sha256("\n".join(found).encode()).hexdigest()
