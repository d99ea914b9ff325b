"""Imports what other programs export: memories into the Inbox of the notes, documents below `memories/`.

Each entry is a change of its own through the write path. Its event names the id and the times that it has in
the source. So a later run knows it again: what is unchanged there is skipped, and what has changed is updated
unless it was changed or removed here. An import that was cut off continues when it is run again.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar, Literal
from uuid import UUID

from garden.events.idempotency import identify_request
from garden.events.payloads import EditPayload
from garden.events.reader import PAGE_EVENTS_MAX, Query
from garden.events.records import Caller, Event
from garden.files.errors import FileExistsAlreadyError, FileMissingError
from garden.files.paths import GardenPath
from garden.grammar.apply import apply
from garden.grammar.attributes import with_attributes
from garden.grammar.canonical import content_hash, encoded, raw_hash
from garden.grammar.dated_entry import dated_entry, split_day
from garden.grammar.document import Document
from garden.grammar.edits import AppendToFile, CreateDocument, Edit, ReplaceText, WriteFile
from garden.grammar.errors import GardenError
from garden.home.local_day import day_in
from garden.recall.memories import full_words, is_same, named_passages
from garden.transfer.formats.chatgpt import read_chatgpt
from garden.transfer.formats.claude import read_claude
from garden.transfer.formats.entry import Entry
from garden.transfer.formats.letta import read_letta
from garden.transfer.formats.mem0 import read_mem0
from garden.transfer.formats.notes import read_basic_memory, read_obsidian
from garden.transfer.formats.source import printable
from garden.transfer.imports import refuse_secret
from garden.writing.documents import GardenDocument, identity_for_new
from garden.writing.planner import Intent, Plan
from garden.writing.services import Services
from garden.writing.write_path import Preview

READERS: dict[str, Callable[[Path], Iterator[Entry]]] = {
    "chatgpt": read_chatgpt,
    "claude": read_claude,
    "mem0": read_mem0,
    "basic-memory": read_basic_memory,
    "obsidian": read_obsidian,
    "letta": read_letta,
}
Outcome = Literal["imported", "updated", "unchanged", "skipped", "refused"]
_TOOL, _OP, _KIND = "garden.import", "import", "memories"
_MEMORY_CHARACTERS_MAX, _TAGS_MAX = 10_000, 20
_NAME_CHARACTERS_MAX, _ID_CHARACTERS_MAX = 48, 200


class ChangedHereError(GardenError):
    """An entry that changed in the source was also changed in the garden."""

    code: ClassVar[str] = "precondition_failed"


class IdTwiceError(GardenError):
    """Two entries of an export have one id, and different words."""

    code: ClassVar[str] = "invalid_input"


@dataclass(frozen=True)
class ImportedEntry:
    """What happened to one entry of an export, and where it is."""

    file: str
    outcome: Outcome
    path: str | None = None
    code: str | None = None
    message: str | None = None
    hint: str | None = None


@dataclass(frozen=True)
class _Earlier:
    """The last import of an entry; `memory` is what it put into the notes."""

    event_id: UUID
    path: GardenPath
    after_hash: str | None
    memory: str | None


@dataclass
class ForeignImport:
    """Imports entries of one source into one user's garden, or reports what that would do."""

    services: Services
    source: str
    caller: Caller
    with_chats: bool = True
    dry_run: bool = False
    _hashes: dict[str, str] = field(default_factory=dict)
    _ids_by_text: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._notes = GardenPath.document_of(self.caller.user_id, "notes")
        if not self.dry_run:
            # What a killed import left unfinished is known only once it is finished.
            for event in self._imports("pending", "written"):
                path = GardenPath(str(event.statement.path))
                self.services.write_path.settle_and_adopt(self.caller, path)
        self._earlier: dict[str, _Earlier] = {}
        for event in self._imports("committed"):
            for ref in event.statement.evidence_refs[:1]:
                self._earlier.setdefault(ref, _earlier_of(event))
        self._taken = {each.path.text for each in self._earlier.values()}

    def take(self, entry: Entry) -> ImportedEntry:
        """Import one entry; an error becomes a refusal."""
        name = printable(entry.id)
        skip = entry.skip_reason or self._reason_to_skip(entry)
        if skip is not None:
            return ImportedEntry(name, "skipped", message=skip)
        try:
            if entry.refusal is not None:
                raise entry.refusal
            self._check(entry)
            earlier = self._earlier.get(self._ref(entry))
            is_memory = earlier.memory is not None if earlier else _is_memory(entry)
            outcome, path = (self._store if is_memory else self._write_document)(entry, earlier)
        except GardenError as error:
            return ImportedEntry(name, "refused", None, error.code, error.message, error.hint)
        return ImportedEntry(name, outcome, path.text)

    def _reason_to_skip(self, entry: Entry) -> str | None:
        """Why an entry is not imported, if it is no fault."""
        if entry.is_chat and not self.with_chats:
            return "Conversations are left out."
        if entry.refusal is None and not entry.text.strip():
            return "It has no text."
        if self._hashes.get(self._ref(entry)) == content_hash(entry.text):
            return "It stands twice in the export."
        return None

    def _check(self, entry: Entry) -> None:
        if self._hashes.setdefault(self._ref(entry), content_hash(entry.text)) != content_hash(entry.text):
            raise IdTwiceError(
                "Another entry of the export has the same id and other words.",
                hint="The first one counts. Remove one of them from the export.",
            )
        if self.services.secrets == "refuse":
            refuse_secret("\n".join([entry.text, *entry.tags, *entry.place, entry.id]))

    def _store(self, entry: Entry, earlier: _Earlier | None) -> tuple[Outcome, GardenPath]:
        """Put a memory into the Inbox of the notes, with its day."""
        text = self._memory(entry)
        if earlier and text == earlier.memory:
            return "unchanged", self._notes
        if earlier is None and self._ids_by_text.setdefault(text, entry.id) != entry.id:
            return "unchanged", self._notes

        def edit(_version: int, found: GardenDocument | None) -> Edit:
            if earlier:
                return _replaced(earlier.memory or "", text, found)
            if found is None:
                kind = self.services.documents.kinds["notes"]
                new = apply(None, CreateDocument(kind, kind.title, identity_for_new(self._notes))).after
                return WriteFile(apply(new, AppendToFile(text), kind=kind).text)
            return WriteFile(found.text) if self._is_known(text, found.document) else AppendToFile(text)

        return self._write(entry, self._notes, edit, earlier, memory=text), self._notes

    def _memory(self, entry: Entry) -> str:
        words = " ".join(entry.text.split()) if _is_memory(entry) else entry.text.strip()
        tags = filter(
            None, (re.sub(r"[\W_]+", "-", tag).strip("-0123456789") for tag in entry.tags[:_TAGS_MAX])
        )
        text = with_attributes(words, tags)
        day = day_in(self.services.timezone or "UTC", entry.at).isoformat() if entry.at else None
        return dated_entry(text, day) if day else text

    def _is_known(self, text: str, document: Document) -> bool:
        own = split_day(text)[1]
        naming = self.services.indexing.naming
        sections = [each.name for each in document.sections if each.anchor and each.anchor.id == "inbox"]
        passages = named_passages(document, sections[0], naming, full_words(own)) if sections else ()
        return any(is_same(split_day(each.text)[1], own) for each in passages)

    def _write_document(self, entry: Entry, earlier: _Earlier | None) -> tuple[Outcome, GardenPath]:
        """Write a document, byte for byte."""
        if earlier is None:
            path, is_there = self._new_path(entry)
            if is_there:
                return "unchanged", path
            return self._write(entry, path, lambda *_: WriteFile(entry.text), None), path
        if earlier.after_hash == content_hash(entry.text):
            return "unchanged", earlier.path

        def edit(_version: int, found: GardenDocument | None) -> Edit:
            if found is None or found.document.hash != earlier.after_hash:
                raise _changed_here()
            return WriteFile(entry.text)

        return self._write(entry, earlier.path, edit, earlier), earlier.path

    def _new_path(self, entry: Entry) -> tuple[GardenPath, bool]:
        """A path for a new document, made of its place; and whether the same text stands there already."""
        *folders, name = entry.place or (self.source, entry.text[:_NAME_CHARACTERS_MAX])
        above = filter(None, (_slug(" ".join(each)) for each in (folders[:1], folders[1:])))
        folder = "/".join(["users", self.caller.user_id, _KIND, *above])
        ending = sha256(self._ref(entry).encode()).hexdigest()[:8]
        for last in filter(None, (_slug(name), f"{_slug(name) or 'note'}-{ending}")):
            path = GardenPath(f"{folder}/{last}.md")
            if path.text in self._taken:
                continue
            self._taken.add(path.text)
            try:
                found = self.services.files.read(path)
            except FileMissingError:
                return path, False
            if found.hash == raw_hash(encoded(entry.text)):
                return path, True
        raise FileExistsAlreadyError

    def _write(
        self,
        entry: Entry,
        path: GardenPath,
        edit: Callable[[int, GardenDocument | None], Edit],
        earlier: _Earlier | None,
        memory: str | None = None,
    ) -> Outcome:
        times = {"createdAt": entry.at, "updatedAt": entry.changed_at}
        asked = {name: time.isoformat() for name, time in times.items() if time}
        asked |= {"source": self.source, "id": printable(entry.id)} | ({"memory": memory} if memory else {})
        intent = Intent(
            path=path,
            edit=WriteFile(""),
            tool=_TOOL,
            op=_OP,
            rationale=_rationale(self.source, entry),
            override_rationale="It was imported as it was.",
            evidence_refs=(self._ref(entry),),
            asked=asked,
            only_new=memory is None and earlier is None,
            foreign_log=True,
            under_lock=edit,
        )
        # An update has a key of its own, so that a text that comes back is no replay.
        key = f"{_TOOL}:{self._ref(entry)}:{earlier.event_id if earlier else 'new'}"
        if self.dry_run:
            preview = self.services.write_path.preview(self.caller, intent, None)
            is_unchanged = isinstance(preview, Preview) and preview.plan.unchanged
        else:
            request = identify_request(self.caller, _TOOL, path.text, asked | {"text": entry.text}, key=key)
            done = self.services.write_path.write(self.caller, intent, request, _result)
            is_unchanged = done.unchanged or done.replayed
        return "unchanged" if is_unchanged else "updated" if earlier else "imported"

    def _ref(self, entry: Entry) -> str:
        """The token by which events name an entry of this source."""
        is_plain = entry.id.isprintable() and len(entry.id) <= _ID_CHARACTERS_MAX
        return f"{self.source}:{entry.id if is_plain else sha256(encoded(entry.id)).hexdigest()}"

    def _imports(self, *statuses: str) -> Iterator[Event]:
        """This user's imported entries in these states, newest first."""
        query = Query(tool=_TOOL, op=_OP, status=statuses, limit=PAGE_EVENTS_MAX)
        while True:
            page = self.services.reader.query(self.caller.user_id, query)
            yield from page.events
            if page.cursor is None:
                return
            query = replace(query, cursor=page.cursor)


def _earlier_of(event: Event) -> _Earlier:
    asked = event.statement.edit.asked if isinstance(event.statement.edit, EditPayload) else {}
    memory = asked.get("memory")
    path = GardenPath(str(event.statement.path))
    # Erased words leave no memory to compare with, and the entry stays away.
    gone = "" if path.kind == "notes" else None
    return _Earlier(event.event_id, path, event.after_hash, memory if isinstance(memory, str) else gone)


def _is_memory(entry: Entry) -> bool:
    """Whether an entry goes into the notes: a memory of one paragraph, and no heading, fence or comment."""
    text = entry.text.strip()
    is_paragraph = len(text.splitlines()) == 1 and not text.startswith(("#", "<", "```", "~~~"))
    return not entry.place and is_paragraph and len(text) <= _MEMORY_CHARACTERS_MAX


def _replaced(old: str, new: str, found: GardenDocument | None) -> Edit:
    if not old or found is None or found.text.count(old) != 1:
        raise _changed_here()
    return ReplaceText(old, new)


def _changed_here() -> ChangedHereError:
    return ChangedHereError(
        "It differs from what was imported, and it was changed or removed here since.",
        hint="Nothing was written. Change it here by hand, as you want it.",
    )


def _result(plan: Plan) -> dict[str, Any]:
    return {"newHash": plan.after.document.hash}


def _rationale(source: str, entry: Entry) -> str:
    written = f", where it was written on {entry.at:%Y-%m-%d}" if entry.at else ""
    changed = f" and changed on {entry.changed_at:%Y-%m-%d}" if entry.at and entry.changed_at else ""
    return f"Imported from {source}{written}{changed}."


def _slug(name: str) -> str:
    """A name made into an id; empty if it has no Latin letter or digit."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return re.sub("[^a-z0-9_]+", "-", plain).strip("-_")[:_NAME_CHARACTERS_MAX].strip("-_")
