"""Parsed documents, of which the last version is remembered: other versions share what did not change."""

import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from garden.files.garden_files import FileText
from garden.files.paths import GardenPath
from garden.grammar.canonical import raw_hash
from garden.grammar.document import Document
from garden.grammar.kinds.declaration import Kind
from garden.grammar.parser import parse
from garden.lint.linter import lint
from garden.lint.report import Report

CACHE_CHARACTERS_MAX = 16 * 1024 * 1024
# The one rule that compares with the text before: it judges an edit, not a document.
_RULE_OF_EDITS = "MG405"


@dataclass(frozen=True)
class GardenDocument:
    """A parsed document with its path, its kind and its lint report."""

    path: GardenPath
    raw_hash: str
    document: Document
    kind: Kind | None
    previous: Document | None = None

    @cached_property
    def report(self) -> Report:
        """The findings of lint; for an edited document, also what it lost against the previous text."""
        identity = identity_by_path(self.path)
        return lint(self.document, self.kind, identity=identity, previous=self.previous)

    @property
    def without_previous(self) -> "GardenDocument":
        """The same document without the previous text."""
        if self.previous is None or not self.report.has(_RULE_OF_EDITS):
            return self
        return GardenDocument(self.path, self.raw_hash, self.document, self.kind)

    @property
    def text(self) -> str:
        """The text with every line end unchanged."""
        return self.document.text


class Documents:
    """Parses documents, and remembers the latest, since calls for one document come in bunches."""

    def __init__(self, kinds: Mapping[str, Kind]) -> None:
        self.kinds = kinds
        self._kept: OrderedDict[str, GardenDocument] = OrderedDict()
        self._characters = 0
        self._guard = threading.Lock()

    def kind_of(self, path: GardenPath) -> Kind | None:
        """The kind of the document at a path."""
        return self.kinds.get(path.kind) if path.kind else None

    def parse_file(self, path: GardenPath, file: FileText) -> GardenDocument:
        """Parse a file, or return the document remembered for its bytes."""
        with self._guard:
            last = self._kept.get(path.text)
            if last is not None:
                self._kept.move_to_end(path.text)
        if last is not None and last.raw_hash == file.hash:
            return last
        parsed = parse(file.text, last.document if last else None)
        document = GardenDocument(path, file.hash, parsed, self.kind_of(path))
        self.remember(document)
        return document

    def parse_text(self, path: GardenPath, text: str) -> GardenDocument:
        """Parse a text as the document at this path, without remembering it."""
        return GardenDocument(path, raw_hash(text.encode()), parse(text), self.kind_of(path))

    def remember(self, document: GardenDocument) -> None:
        """Remember a document for the next caller."""
        document = document.without_previous
        with self._guard:
            earlier = self._kept.pop(document.path.text, None)
            self._characters += document.document.length - (earlier.document.length if earlier else 0)
            self._kept[document.path.text] = document
            while self._characters > CACHE_CHARACTERS_MAX:
                _, oldest = self._kept.popitem(last=False)
                self._characters -= oldest.document.length


def identity_by_path(path: GardenPath) -> dict[str, object]:
    """The identity that a path gives its document; notes may have an id of their own, free-form ones any."""
    if path.free is not None:
        return {}
    identity: dict[str, object] = {"user_id": path.user_id}
    if path.kind != "notes":
        identity["id"] = path.entity_id or path.user_id
    return identity


def identity_for_new(path: GardenPath, participants: Iterable[str] = ()) -> dict[str, object]:
    """The identity keys of a new document at this path."""
    own = path.document_name if path.free else path.user_id
    identity: dict[str, object] = {"id": path.entity_id or own, "user_id": path.user_id}
    if path.kind == "relationship_profile":
        identity["participants"] = list(participants)
    return identity
