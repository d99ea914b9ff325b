"""A call as the model sees it: its words, its caller, and what identifies it if it is sent again."""

import json
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

# Tools that are not replayed for their words alone, and those that only a key replays.
NEEDS_KEY = frozenset({"md.plant", "md.repair", "md.restore", "fs.move"})
ONLY_KEY = frozenset({"fs.ensure_dir", "md.snapshot_history"})
JOURNAL = ""
# The words that are erased. Longer than 12 characters, so that they are refused from then on.
ERASED = "Anna has debts"


@dataclass(frozen=True, kw_only=True)
class Call:
    """One call of a sequence; `dies_before` counts the steps until its process is killed.

    `page` is the one that a restore brings back.
    """

    number: int
    tool: str
    path: str
    args: Mapping[str, Any]
    actor: str = "companion"
    transaction: str | None = None
    key: str | None = None
    tool_call: str | None = None
    dry_run: bool = False
    dies_before: int | None = None
    page: tuple[str, ...] = ()

    @property
    def words(self) -> Hashable:
        """Everything that two equal requests have in common."""
        return self.tool, self.path, json.dumps(self.args, sort_keys=True)

    @property
    def identity(self) -> Hashable | None:
        """What identifies the request, if anything does."""
        if self.key is not None:
            return "key", self.key
        if self.tool in ONLY_KEY or (self.tool in NEEDS_KEY and self.tool_call is None):
            return None
        return "words", self.actor, self.transaction, self.tool_call, self.words

    @property
    def only_while_newest(self) -> bool:
        """Whether it counts as sent again only until something else changes."""
        return self.key is None and (self.tool_call is None or self.tool in NEEDS_KEY)

    @property
    def paths(self) -> tuple[str, ...]:
        """The documents that it opens."""
        if self.tool in {"events.log", "fs.ensure_dir"}:
            return ()
        return (self.path, self.args["newPath"]) if self.tool == "fs.move" else (self.path,)

    @property
    def brings_erased(self) -> bool:
        """Whether it has the words that are erased."""
        return ERASED in f"{self.args} {self.page}"

    @property
    def request(self) -> dict[str, Any]:
        """The arguments as they are sent."""
        shared = {"idempotencyKey": self.key, "toolCallId": self.tool_call, "dryRun": self.dry_run or None}
        path = {"path": self.path} if self.path else {}
        return {**path, **self.args, **{name: value for name, value in shared.items() if value is not None}}
