"""Wishes about files that no edit of a text fulfils: a move, or a copy for the history."""

from collections.abc import Callable
from dataclasses import dataclass

from garden.events.payloads import Payload
from garden.events.records import Statement
from garden.files.paths import GardenPath
from garden.writing.documents import GardenDocument
from garden.writing.plan_refusals import check_precondition
from garden.writing.planner import entity_of


@dataclass(frozen=True, kw_only=True)
class FileWish:
    """What a caller wants done with a document's file, and why."""

    path: GardenPath
    tool: str
    rationale: str | None = None
    evidence_refs: tuple[str, ...] = ()
    if_match: str | None = None
    dry_run: bool = False
    sees_file: Callable[[str, str], None] | None = None
    """Gets path and hash of the file, under the lock, and may refuse it."""

    def check(self, found: GardenDocument) -> None:
        """Refuse a document other than the one that the caller named, or a person approved."""
        check_precondition(self.if_match, found)
        if self.sees_file is not None:
            self.sees_file(found.path.text, found.raw_hash)

    def statement(self, path: GardenPath, event_type: str, op: str, payload: Payload) -> Statement:
        """The statement of an event about one of the wish's paths."""
        return Statement(
            type=event_type,
            op=op,
            tool=self.tool,
            path=path.text,
            entity=entity_of(path),
            rationale=self.rationale,
            evidence_refs=self.evidence_refs,
            edit=payload,
        )
