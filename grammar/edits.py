"""Edits: values that describe a change. The set is closed; `grammar.apply.apply` handles all of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from garden.grammar.kinds.declaration import Kind


@dataclass(frozen=True, slots=True)
class ReplaceSection:
    """Replace the body of a section."""

    section: str
    text: str


@dataclass(frozen=True, slots=True)
class AppendToSection:
    """Append text to the body of a section."""

    section: str
    text: str


@dataclass(frozen=True, slots=True)
class AppendItem:
    """Add an item after the last one."""

    text: str


@dataclass(frozen=True, slots=True)
class PruneItem:
    """Remove an item with everything nested in it.

    `match` is an `ev:` token, the whole text of the item, or its number and first words: `3: I can't relax`.
    """

    match: str


@dataclass(frozen=True, slots=True)
class MergeItems:
    """Merge items: `into` keeps its place, the `sources` are removed.

    Without `text` the merged item holds the words of all of them.
    """

    into: str
    sources: tuple[str, ...]
    text: str | None = None


ListOp = AppendItem | PruneItem | MergeItems


@dataclass(frozen=True, slots=True)
class CurateList:
    """Apply operations to the items of a section's list, in order."""

    section: str
    ops: tuple[ListOp, ...]


@dataclass(frozen=True, slots=True)
class AppendToFile:
    """Append an entry, after a blank line: to the section that takes the kind's entries, else to the file."""

    text: str


@dataclass(frozen=True, slots=True)
class AppendLogLine:
    """Append a line to the Change Log, unless it is there or the document has no Change Log."""

    line: str


@dataclass(frozen=True, slots=True)
class WriteFile:
    """Replace the whole text of the document, or create the document with it."""

    text: str


@dataclass(frozen=True, slots=True)
class ReplaceText:
    """Replace a text that stands in the document exactly once."""

    find: str
    replace: str


@dataclass(frozen=True, slots=True)
class ApplyDiff:
    """Apply a unified diff; if `path` is given, a diff that names another document is refused."""

    diff: str
    path: str | None = None


@dataclass(frozen=True, slots=True)
class CreateDocument:
    """Create a document from the template of its kind."""

    kind: Kind
    title: str
    identity: Mapping[str, object] = field(hash=False)


@dataclass(frozen=True, slots=True)
class ArchiveDocument:
    """Empty a free-form document; the history keeps its text."""


@dataclass(frozen=True, slots=True)
class RepairDocument:
    """Put anchors and identity back as they were in `good`, the text of the last undamaged version.

    `identity` is what the frontmatter must say now. Version 0 means that no version was undamaged.
    """

    version: int
    good: str
    identity: Mapping[str, object] = field(hash=False)


@dataclass(frozen=True, slots=True)
class RestoreText:
    """Replace the document, damaged or not, with the text of an earlier version."""

    version: int
    text: str


SectionEdit = ReplaceSection | AppendToSection | CurateList
RecoveryEdit = RepairDocument | RestoreText
FileEdit = (
    AppendToFile | AppendLogLine | WriteFile | ReplaceText | ApplyDiff | CreateDocument | ArchiveDocument
)
Edit = SectionEdit | FileEdit | RecoveryEdit
