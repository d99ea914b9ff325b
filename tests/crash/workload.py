"""Random requests of every kind, each with words that no other request adds."""

import random
import re
from collections.abc import Callable, Sequence
from typing import Any

from tests.crash.ledger import Request

WORDS = re.compile(r"said-[a-z]+[0-9]+-[0-9]+-[0-9]+;")

Asked = tuple[str, dict[str, Any]]

_LISTS = {
    "parts/critic/profile.md": ("concerns v1", "needs v1", "questions v1"),
    "overview.md": ("facts v1", "preferences v1", "open_loops v1"),
    "notes.md": ("inbox v1",),
}
_CURATED = {"parts/critic/profile.md": "strengths v1", "overview.md": "projects v1"}
_NOTES = ("notes.md", "parts/roam0/notes.md", "parts/roam1/notes.md")
_RESTORED_MAX = 30
PLANTED = ("parts/critic/profile.md", "overview.md", "notes.md", "parts/roam0/notes.md")


def words_of(key: str) -> str:
    """The words that the request with this key adds."""
    return f"said-{key};"


def key_of(words: str) -> str:
    """The key of the request that added these words."""
    return words.removeprefix("said-").removesuffix(";")


class Workload:
    """Draws the requests of one process; keys are unique across all processes."""

    def __init__(self, name: str, life: int, users: Sequence[str], seed: int) -> None:
        self._prefix = f"{name}-{life}"
        self._users = users
        self._random = random.Random(seed)  # noqa: S311 - it only chooses
        self._number = 0
        self._curated: dict[str, list[str]] = {}

    def draw(self) -> Request:
        self._number += 1
        key = f"{self._prefix}-{self._number}"
        user_id = self._random.choice(self._users)
        make = self._random.choices(_OPERATIONS, _OFTEN)[0]
        tool, args = make(self, f"users/{user_id}", words_of(key))
        has_words = tool not in {"fs.move", "md.snapshot_history", "events.log"} and words_of(key) in str(
            args
        )
        args = {**args, "idempotencyKey": key}
        return Request(key, user_id, tool, args, words_of(key) if has_words else None)

    def append_to_section(self, folder: str, words: str) -> Asked:
        path = self._random.choice(list(_LISTS))
        change = {"append": f"- {words}"}
        return self._patching(folder, path, self._random.choice(_LISTS[path]), change)

    def replace_section(self, folder: str, words: str) -> Asked:
        path = self._random.choice(["parts/critic/profile.md", "overview.md"])
        return self._patching(folder, path, "summary v1", {"replace": f"It was {words} and so on."})

    def tidy_section(self, folder: str, words: str) -> Asked:
        """Replace a whole list, so that documents stay short."""
        path = self._random.choice(list(_LISTS))
        change = {"replace": f"- {words}"}
        return self._patching(folder, path, self._random.choice(_LISTS[path]), change)

    def append_to_file(self, folder: str, words: str) -> Asked:
        return "fs.append", {"path": f"{folder}/{self._random.choice(_NOTES)}", "text": words}

    def curate_list(self, folder: str, words: str) -> Asked:
        path, section = self._random.choice(list(_CURATED.items()))
        known = self._curated.setdefault(f"{folder}/{path}", [])
        said: dict[str, Any] = {
            "path": f"{folder}/{path}",
            "sectionAnchor": section,
            "reason": "As it was said.",
        }
        if known and self._random.random() < 0.4:
            return "md.curate_list", {**said, "ops": "prune", "items": [{"match": known.pop()}]}
        known.append(words)
        return "md.curate_list", {**said, "ops": "append", "items": [words]}

    def patch_file(self, folder: str, words: str) -> Asked:
        path = f"{folder}/notes.md"
        lines = (f"--- a/{path}", f"+++ b/{path}", "@@ -1,2 +1,3 @@", " ## Inbox")
        diff = "\n".join((*lines, " <!-- @anchor: inbox v1 -->", f"+- {words}", ""))
        return "fs.patch", {"path": path, "diffText": diff}

    def plant(self, folder: str, words: str) -> Asked:
        part = words.removesuffix(";")
        name = self._random.choice(["notes.md", "profile.md"])
        return "md.plant", {"path": f"{folder}/parts/{part}/{name}", "title": f"Part {words}"}

    def move(self, folder: str, _words: str) -> Asked:
        there = self._random.sample(_NOTES[1:], 2)
        return "fs.move", {"path": f"{folder}/{there[0]}", "newPath": f"{folder}/{there[1]}"}

    def snapshot(self, folder: str, _words: str) -> Asked:
        return "md.snapshot_history", {"path": f"{folder}/{self._random.choice(list(_LISTS))}"}

    def restore(self, folder: str, _words: str) -> Asked:
        """Restore an early version of a document that is never moved; elsewhere words would double."""
        path = f"{folder}/{self._random.choice(list(_LISTS))}"
        return "md.restore", {"path": path, "version": self._random.randint(1, _RESTORED_MAX)}

    def repair(self, folder: str, _words: str) -> Asked:
        return "md.repair", {"path": f"{folder}/{self._random.choice(list(_LISTS))}"}

    def log(self, folder: str, words: str) -> Asked:
        said = {"type": "observation", "rationale": words, "filePath": f"{folder}/notes.md"}
        return "events.log", said

    def _patching(self, folder: str, path: str, section: str, change: dict[str, str]) -> Asked:
        # Exceeding a soft cap is a valid write.
        args = {"path": f"{folder}/{path}", "sectionAnchor": section, "change": change}
        return "md.patch_section", {**args, "rationale": "As it was said.", "overrideRationale": "All of it."}


_OPERATIONS: tuple[Callable[[Workload, str, str], Asked], ...] = (
    Workload.append_to_section, Workload.replace_section, Workload.tidy_section, Workload.append_to_file,
    Workload.curate_list, Workload.patch_file, Workload.plant, Workload.move, Workload.snapshot, Workload.log,
    Workload.restore, Workload.repair,
)  # fmt: skip
_OFTEN = (30, 10, 4, 20, 10, 10, 3, 5, 3, 5, 2, 1)
