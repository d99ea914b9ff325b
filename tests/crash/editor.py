"""A person with an editor, who changes files without the product.

Before each save the witness records every content the file may hold from then on, byte for byte. So the judge
can tell a person's edit from a loss. After the save the witness records that it happened.
"""

import os
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, NamedTuple

from tests.crash.ledger import WitnessClient
from tests.crash.workload import PLANTED, WORDS, key_of, words_of

# Not the files that are moved: saving one at its old path would double it.
_EDITED = PLANTED[:3]
_PAGE_BYTES = 4096
_UNDOES = 0.4
_IN_PLACE = 0.4
_HOLDS_ON = ("@anchor:", "\n## ", "\n---\n")


class Edit(NamedTuple):
    """A file's content before and after, and the words that the edit adds."""

    before: bytes
    content: bytes
    words: str | None = None


class Editor:
    """Changes one file after the other; its words begin with `name`."""

    def __init__(
        self, home: Path, users: Sequence[str], witness: WitnessClient, name: str, seed: int
    ) -> None:
        self._home = home
        self._users = users
        self._witness = witness
        self._name = name
        self._random = random.Random(seed)  # noqa: S311 - it only chooses
        self._known: dict[str, bytes] = {}

    def edit(self, key: str) -> None:
        """Change a random file; words it adds are those of this key."""
        path = f"users/{self._random.choice(self._users)}/{self._random.choice(_EDITED)}"
        save = self._save_in_place if self._random.random() < _IN_PLACE else self._save_anew
        undoes = self._random.random() < _UNDOES
        with suppress(FileNotFoundError):
            save(path, None if undoes else words_of(key))

    def _save_anew(self, path: str, words: str | None) -> None:
        """Write a new file and rename it over the old one, as most editors do."""
        file = self._home / path
        edit = self._edited(path, file.read_bytes(), words)
        if edit is None:
            return
        fresh = file.with_suffix(".swp")
        fresh.write_bytes(edit.content)
        self._witness.saving(path, edit.before, edit.content)
        fresh.replace(file)
        self._witness.saved(path, edit.words)

    def _save_in_place(self, path: str, words: str | None) -> None:
        """Overwrite the file in place, and truncate it."""
        file = self._home / path
        with file.open("r+b", buffering=0) as handle:
            before = handle.readall()
            edit = self._edited(path, before, words)
            if edit is None:
                return
            between = list(on_the_way(before, edit.content))
            if not all(is_harmless(state, before) for state in between):
                return
            self._witness.saving(path, before, edit.content, between)
            # An editor checks that the file was not replaced since it was opened.
            if not _is_at(handle, file):
                return
            handle.seek(0)
            handle.write(edit.content)
            handle.truncate()
            # Writing into a file that was just replaced saves nothing.
            if _is_at(handle, file):
                self._witness.saved(path, edit.words)

    def _edited(self, path: str, before: bytes, words: str | None) -> Edit | None:
        """Add words to the text, or undo words of agents."""
        known = self._known.get(path, before)
        self._known[path] = before
        if words is not None:
            return Edit(before, before + f"\n- {words}\n".encode(), words)
        undone = put_back(before, known, self._name) or without_last_entry(before, self._name)
        return Edit(before, undone) if undone is not None else None


def put_back(content: bytes, known: bytes, name: str) -> bytes | None:
    """Return the known content where agents only added to it since; otherwise None.

    Nothing removed is brought back: a removed change may be sent again, and would then be there twice.
    """
    there, then = (Counter(WORDS.findall(each.decode())) for each in (content, known))
    gone = there - then
    if not gone or then - there or any(map(_is_of(name), gone)):
        return None
    return known


def without_last_entry(content: bytes, name: str) -> bytes | None:
    """Remove the last line with words of others; None where there is none."""
    lines = content.decode().splitlines(keepends=True)
    for number, line in reversed(list(enumerate(lines))):
        found = WORDS.findall(line)
        if len(found) == 1 and not any(map(_is_of(name), found)):
            del lines[number]
            return "".join(lines).encode()
    return None


def _is_of(name: str) -> Callable[[str], bool]:
    return lambda words: key_of(words).startswith(f"{name}-")


def on_the_way(before: bytes, after: bytes) -> Iterator[bytes]:
    """Yield the contents of a file while it is overwritten page by page and then truncated.

    A reader may see one of these, and a killed editor leaves one.
    """
    for end in (*range(_PAGE_BYTES, len(after), _PAGE_BYTES), len(after)):
        state = after[:end] + before[end:]
        if state not in {before, after}:
            yield state


def is_harmless(state: bytes, before: bytes) -> bool:
    """Whether tools can still edit a state; no target repairs documents."""
    try:
        text, old = state.decode(), before.decode()
    except UnicodeDecodeError:
        return False
    return all(text.count(each) == old.count(each) for each in _HOLDS_ON)


def _is_at(handle: BinaryIO, file: Path) -> bool:
    return os.path.samestat(os.fstat(handle.fileno()), file.stat())
