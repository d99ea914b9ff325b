"""Wishes about files that no edit of a text fulfils: a move, or a copy for the history."""

from dataclasses import dataclass

from garden.events.payloads import Payload
from garden.events.records import Statement
from garden.files.paths import GardenPath
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
