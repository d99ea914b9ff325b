"""A person at an editor, who knows nothing of the product, and how files are changed by hand.

Before a file is saved the witness has it on the disk what the file may hold from then on, to the byte. So the
judge can tell what a person did from what got lost. Only that it was saved is told afterwards.
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

# What is moved about is left alone: a file that is saved where it no longer is would be there twice.
_EDITED = PLANTED[:3]
_PAGE_BYTES = 4096
_UNDOES = 0.4
_IN_PLACE = 0.4
_HOLDS_ON = ("@anchor:", "\n## ", "\n---\n")


class Edit(NamedTuple):
    """What a file held, what it is to hold, and the words that this brings."""

    before: bytes
    content: bytes
    words: str | None = None


class Editor:
    """Changes one file after the other; `name` is whose words it brings."""

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
        """Change a file in one way or another; where it brings words they are those of this key."""
        path = f"users/{self._random.choice(self._users)}/{self._random.choice(_EDITED)}"
        save = self._save_in_place if self._random.random() < _IN_PLACE else self._save_anew
        undoes = self._random.random() < _UNDOES
        with suppress(FileNotFoundError):
            save(path, None if undoes else words_of(key))

    def _save_anew(self, path: str, words: str | None) -> None:
        """Write all of it beside the file, and put that in its place, as most editors do."""
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
        """Write over what is there, and cut off what is left of it."""
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
            # An editor looks whether somebody else has saved the file since it was opened.
            if not _is_at(handle, file):
                return
            handle.seek(0)
            handle.write(edit.content)
            handle.truncate()
            # Who writes into a file that has just been replaced has not saved it.
            if _is_at(handle, file):
                self._witness.saved(path, edit.words)

    def _edited(self, path: str, before: bytes, words: str | None) -> Edit | None:
        """Give what becomes of a file: it is longer by some words, or agents' words are undone."""
        known = self._known.get(path, before)
        self._known[path] = before
        if words is not None:
            return Edit(before, before + f"\n- {words}\n".encode(), words)
        undone = put_back(before, known, self._name) or without_last_entry(before, self._name)
        return Edit(before, undone) if undone is not None else None


def put_back(content: bytes, known: bytes, name: str) -> bytes | None:
    """Undo what agents have added to what was known of a file; None where anything else has changed as well.

    What somebody undid may be asked for again. So nothing is brought back, or it might be there twice.
    """
    there, then = (Counter(WORDS.findall(each.decode())) for each in (content, known))
    gone = there - then
    if not gone or then - there or any(map(_is_of(name), gone)):
        return None
    return known


def without_last_entry(content: bytes, name: str) -> bytes | None:
    """Take out the last line with words, unless they are one's own; None where there is no such line."""
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
    """Give what a file holds while it is written over: it is written page by page, and cut off at the end.

    Whoever reads it then, or kills the editor, finds that.
    """
    for end in (*range(_PAGE_BYTES, len(after), _PAGE_BYTES), len(after)):
        state = after[:end] + before[end:]
        if state not in {before, after}:
            yield state


def is_harmless(state: bytes, before: bytes) -> bool:
    """Whether tools can work on a state as they could before; nobody here would mend it for them."""
    try:
        text, old = state.decode(), before.decode()
    except UnicodeDecodeError:
        return False
    return all(text.count(each) == old.count(each) for each in _HOLDS_ON)


def _is_at(handle: BinaryIO, file: Path) -> bool:
    return os.path.samestat(os.fstat(handle.fileno()), file.stat())
