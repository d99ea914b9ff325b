"""Draws the calls of a sequence, and what a person does to the files in between.

Another tool joins by one more function in `_TOOLS`, and by what the model says of its effect.
"""

import random
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from tests.writing.sequences.calls import ERASED, JOURNAL, Call
from tests.writing.sequences.pages import Page, anchor_line

NOTES = ("notes.md", "parts/a/notes.md", "parts/b/notes.md")
PROFILE = "parts/a/profile.md"
FOLDER = "parts/c"
_WORDS = ("Slept well.", "Rest", "Play", ERASED)
_STEPS_MAX = 14
_RECENT = 4

Fields = dict[str, Any]
_Choice = TypeVar("_Choice")


class Drawing:
    """Draws calls in one user's garden, many of them ones that were made before."""

    def __init__(self, seed: int, home: Path, user_id: str) -> None:
        self.random = random.Random(seed)  # noqa: S311 - it only chooses
        self.versions: list[tuple[str, str, Page]] = []
        self._home = home
        self._folder = f"users/{user_id}"
        self._user_id = user_id
        self._made: list[Call] = []
        self._number = 0
        self._replaced: dict[str, bytes] = {}

    @property
    def paths(self) -> list[str]:
        """Every document of the sequence."""
        return [f"{self._folder}/{each}" for each in (*NOTES, PROFILE)]

    @property
    def folder(self) -> str:
        """The folder that calls make."""
        return f"{self._folder}/{FOLDER}"

    def first_calls(self) -> list[Call]:
        """Calls that plant most documents."""
        for number, path in enumerate([self.paths[0], self.paths[1], self._profile], start=1):
            self._made.append(Call(number=number, tool="md.plant", path=path, args={}))
            self._number = number
        return list(self._made)

    def call(self) -> Call:
        """Draw a call: one that was made before, or a new one."""
        doomed = [made for made in self._made[-_RECENT:] if made.dies_before is not None]
        if self._made and self._chance(0.8 if doomed else 0.4):
            earlier = doomed or (self._made[-_RECENT:] if self._chance(0.5) else self._made)
            again = replace(self._pick(earlier), number=self._number + 1)
        else:
            again = self._fresh_call()
        is_edit = again.tool != "events.log"
        drawn = replace(
            again,
            dry_run=is_edit and self._chance(0.1),
            dies_before=self.random.randrange(_STEPS_MAX) if self._chance(0.15) else None,
        )
        self._number += 1
        self._made.append(drawn)
        return drawn

    def erasure(self) -> Call:
        """Draw an erasure, after which no version with its words is restored."""
        self.versions = [each for each in self.versions if ERASED not in str(each)]
        self._made = [made for made in self._made if made.tool != "md.restore" or not made.brings_erased]
        self._number += 1
        fields = {"text": ERASED, "reason": "She asked for it."}
        return Call(number=self._number, tool="garden.erase", path=JOURNAL, args=fields)

    def _fresh_call(self) -> Call:
        make = self.random.choices(list(_TOOLS), list(_TOOLS.values()))[0]
        tool, path, fields, page = make(self)
        key = f"key {self.random.randrange(40)}" if self._chance(0.3) else None
        return Call(
            number=self._number + 1,
            tool=tool,
            path=path,
            args=fields,
            page=page,
            actor="companion" if self._chance(0.8) else "night nurse",
            transaction="evening" if self._chance(0.2) else None,
            key=key,
            tool_call="call_1" if key is None and self._chance(0.2) else None,
        )

    def append(self) -> tuple[str, str, Fields, Page]:
        return "fs.append", self._notes(), {"text": self._words()}, ()

    def patch(self) -> tuple[str, str, Fields, Page]:
        anchor, path = self._pick(
            [("inbox v1", self._notes()), ("summaries v1", self._notes()), ("concerns v1", self._profile)]
        )
        change = {self._pick(["replace", "append"]): self._words()}
        return "md.patch_section", path, {"sectionAnchor": anchor, "change": change}, ()

    def curate(self) -> tuple[str, str, Fields, Page]:
        op, item = self._pick(["append", "prune"]), self._words()
        items = [item if op == "append" else {"match": item}]
        fields = {"sectionAnchor": "needs v1", "ops": op, "items": items, "reason": "She said so."}
        return "md.curate_list", self._profile, fields, ()

    def write(self) -> tuple[str, str, Fields, Page]:
        path = self._notes()
        file = self._home / path
        identity = f"---\nid: {self._user_id}\nuser_id: {self._user_id}\nschema: 1\n---\n\n"
        head = file.read_text().partition("# ")[0] if file.exists() else identity
        sections = [("Summaries", "summaries v1"), ("Inbox", "inbox v1")]
        body = "\n\n".join(f"## {heading}\n{anchor_line(anchor)}" for heading, anchor in sections)
        content = f"{head}# {self._pick(_WORDS[:-1])}\n\n{body}\n\n{self._words()}\n"
        return "fs.write", path, {"content": content}, ()

    def plant(self) -> tuple[str, str, Fields, Page]:
        return "md.plant", self._pick(self.paths), {}, ()

    def move(self) -> tuple[str, str, Fields, Page]:
        path, new_path = self.random.sample(self.paths[: len(NOTES)], 2)
        return "fs.move", path, {"newPath": new_path}, ()

    def restore(self) -> tuple[str, str, Fields, Page]:
        if not self.versions:
            return self.plant()
        path, event, page = self._pick(self.versions[-8:])
        return "md.restore", path, {"event": event}, page

    def repair(self) -> tuple[str, str, Fields, Page]:
        return "md.repair", self._pick(self.paths), {}, ()

    def snapshot(self) -> tuple[str, str, Fields, Page]:
        return "md.snapshot_history", self._pick(self.paths), {}, ()

    def make_folder(self) -> tuple[str, str, Fields, Page]:
        return "fs.ensure_dir", self.folder, {}, ()

    def log(self) -> tuple[str, str, Fields, Page]:
        return "events.log", JOURNAL, {"type": "observation", "rationale": self._words()}, ()

    def edit_by_hand(self, spared: Sequence[str]) -> None:
        """Change a file, a folder or a copy, as a person may; not the documents that are `spared`."""
        if self._chance(0.1):
            shutil.rmtree(self._home / self.folder, ignore_errors=True)
        copies = list((self._home / "history" / self._user_id).rglob("*.md"))
        if copies and self._chance(0.1):
            copy = self._pick(copies)
            copy.unlink()
            if self._chance(0.5):
                copy.write_text("mine\n")
        for path in self.random.sample(self.paths, 2):
            file = self._home / path
            if path not in spared and (file.exists() or path in self._replaced):
                self._save(path, file)

    def _save(self, path: str, file: Path) -> None:
        before = file.read_bytes() if file.exists() else None
        known = self._replaced.get(path, b"")
        # Not over another document, which was moved here since.
        is_known = before is None or _frontmatter(known) == _frontmatter(before)
        if before is None or (is_known and self._chance(0.3)):
            content: bytes | None = known
        else:
            content = self._content_by_hand(before.decode())
        if before is not None:
            self._replaced[path] = before
        if content is None:
            file.unlink()
        elif content != before:
            fresh = file.with_suffix(".swp")
            fresh.write_bytes(content)
            fresh.replace(file)

    def _content_by_hand(self, text: str) -> bytes | None:
        lines = text.splitlines(keepends=True)
        log = next((number for number, line in enumerate(lines) if "change_log" in line), len(lines))
        said = [number for number, line in enumerate(lines[:log]) if line.strip(" -\n") in _WORDS]
        anchors = [number for number, line in enumerate(lines[:log]) if line.startswith("<!--")]
        chance = self.random.random()
        if chance < 0.05:
            return None
        if chance < 0.15 and anchors:
            del lines[self._pick(anchors)]
        elif chance < 0.6 and said:
            del lines[self._pick(said)]
        elif anchors:
            lines.insert(self._pick(anchors) + 1, f"\n{self._words()}\n")
        return "".join(lines).encode()

    @property
    def _profile(self) -> str:
        return f"{self._folder}/{PROFILE}"

    def _notes(self) -> str:
        return f"{self._folder}/{self._pick(NOTES)}"

    def _words(self) -> str:
        return self._pick(_WORDS)

    def _pick(self, choices: Sequence[_Choice]) -> _Choice:
        return self.random.choice(choices)

    def _chance(self, share: float) -> bool:
        return self.random.random() < share


def _frontmatter(content: bytes) -> bytes:
    return content.partition(b"# ")[0]


_TOOLS: Mapping[Callable[[Drawing], tuple[str, str, Fields, Page]], int] = {
    Drawing.append: 6,
    Drawing.patch: 6,
    Drawing.curate: 6,
    Drawing.write: 3,
    Drawing.plant: 4,
    Drawing.move: 4,
    Drawing.restore: 3,
    Drawing.repair: 3,
    Drawing.snapshot: 2,
    Drawing.make_folder: 1,
    Drawing.log: 3,
}
