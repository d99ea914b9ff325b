"""Living files: a passage leaves a document, or the document goes, by an event of its own.

The event is one like any other, so that a kill at any moment is settled like any other. Its words are filled
together with all others of the document.
"""

from dataclasses import dataclass, replace
from typing import Any

from garden.events.erased_rows import ERASURE_TYPE
from garden.events.erasures import Erasure
from garden.events.payloads import EditPayload
from garden.events.records import Statement
from garden.events.stream import LockedStream
from garden.files.failpoints import Failpoint, reach
from garden.files.garden_files import GardenFiles
from garden.files.paths import GardenPath
from garden.grammar.change_log import log_entry
from garden.grammar.erasing import erase_passages
from garden.grammar.gaps import Gaps
from garden.grammar.parser import parse
from garden.grammar.passages import Finder
from garden.writing.departures import change_to, departure_of
from garden.writing.documents import Documents, GardenDocument
from garden.writing.indexing import Indexing
from garden.writing.log_claims import log_time
from garden.writing.planner import ERASE_OP, WHOLE, entity_of
from garden.writing.write_path import record_failure

_TOOL = "garden.erase"


@dataclass(frozen=True)
class LivingFiles:
    """Takes erased words out of living files; the caller holds the document's lock."""

    files: GardenFiles
    documents: Documents
    indexing: Indexing

    def take_passages_out(
        self,
        stream: LockedStream,
        path: GardenPath,
        erasure: Erasure,
        finder: Finder,
        gaps: Gaps,
        current: GardenDocument | None,
    ) -> bool:
        """Remove the passages from the newest version; words beside them that get filled are put back."""
        if not stream.head.has_file or not gaps.is_in_newest:
            return False
        name = stream.next_name()
        before = current.document if current else parse(gaps.text)
        entry = log_entry(log_time(name.at), WHOLE, ERASE_OP, erasure.reason, str(name.event_id))
        is_visible = bool(finder.find(before.text)) and path.kind != "notes"
        after = erase_passages(before, finder, self.documents.kind_of(path), entry if is_visible else None)
        change = change_to(after, gaps.removal(after.text))
        statement = replace(_statement(path, erasure), lint=_damage(stream, current))
        passages = self.indexing.encoded_changes(path, before, after, stream.head.version + 1, name.at)
        if current is None:
            stream.record(statement, change, name=name, by=stream.caller, passages=passages)
            return True
        with self.files.prepare(path, after.text.encode(), expected=current.raw_hash) as prepared:
            statement = replace(statement, edit=_payload(erasure, prepared.file_time))
            event = stream.begin(statement, change, name)
            with record_failure(stream, event):
                reach(Failpoint.BEGUN)
                prepared.put()
        reach(Failpoint.WRITTEN)
        stream.finish(event, {}, keep=True, passages=passages)
        reach(Failpoint.SEALED)
        return True

    def take_file_away(
        self,
        stream: LockedStream,
        path: GardenPath,
        erasure: Erasure,
        gaps: Gaps,
        current: GardenDocument | None,
    ) -> bool:
        """Remove the document's file, by an event that leaves none."""
        if not stream.head.has_file:
            return False
        statement, change = _statement(path, erasure), departure_of(gaps.text)
        name, before = stream.next_name(), current.document if current else parse(gaps.text)
        passages = self.indexing.encoded_changes(path, before, None, stream.head.version + 1, name.at)
        if current is None:
            stream.record(statement, change, name=name, by=stream.caller, passages=passages)
            return True
        event = stream.begin(statement, change, name)
        with record_failure(stream, event):
            reach(Failpoint.BEGUN)
            self.files.removals.remove_document(path, expected=current.raw_hash)
        reach(Failpoint.WRITTEN)
        stream.finish(event, {}, keep=True, passages=passages)
        reach(Failpoint.SEALED)
        return True


def _statement(path: GardenPath, erasure: Erasure) -> Statement:
    return Statement(
        type=ERASURE_TYPE,
        op=ERASE_OP,
        tool=_TOOL,
        path=path.text,
        entity=entity_of(path),
        rationale=erasure.reason,
        edit=_payload(erasure),
    )


def _payload(erasure: Erasure, file_time: str | None = None) -> EditPayload:
    return EditPayload(asked={"erasureId": str(erasure.erasure_id)}, file_time=file_time)


def _damage(stream: LockedStream, current: GardenDocument | None) -> dict[str, Any] | None:
    """What stays damaged after the erasure, so that the document can still be repaired."""
    blocked = list(current.report.blocked_reasons) if current else []
    return {"damage": stream.damage, "blocked": blocked} if stream.damage or blocked else None
