"""Edits: values that say what should change. The set is closed; `grammar.applying.apply` knows them all."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from garden.grammar.kinds.declaration import Kind


@dataclass(frozen=True, slots=True)
class ReplaceSection:
    """Put new text in the place of a section's body."""

    section: str
    text: str


@dataclass(frozen=True, slots=True)
class AppendToSection:
    """Add text at the end of a section's body."""

    section: str
    text: str


@dataclass(frozen=True, slots=True)
class AppendItem:
    """Add an item below the last one."""

    text: str


@dataclass(frozen=True, slots=True)
class PruneItem:
    """Take an item out, with everything nested in it.

    `match` is an `ev:` token, the whole text of the item, or its number and first words: `3: I can't relax`.
    """

    match: str


@dataclass(frozen=True, slots=True)
class MergeItems:
    """Make one item of several: `into` stays in its place, the `sources` go.

    Without `text` the merged item holds the words of all of them.
    """

    into: str
    sources: tuple[str, ...]
    text: str | None = None


ListOp = AppendItem | PruneItem | MergeItems


@dataclass(frozen=True, slots=True)
class CurateList:
    """Work on the items of a section's list, one operation after the other."""

    section: str
    ops: tuple[ListOp, ...]


@dataclass(frozen=True, slots=True)
class AppendToFile:
    """Add an entry at the end of the file, after a blank line."""

    text: str


@dataclass(frozen=True, slots=True)
class WriteFile:
    """Put a whole new text in the place of the document, or begin one with it."""

    text: str


@dataclass(frozen=True, slots=True)
class ApplyDiff:
    """Apply a unified diff for this one file; `path` says which that is, so that no other's diff is taken."""

    diff: str
    path: str | None = None


@dataclass(frozen=True, slots=True)
class CreateDocument:
    """Begin a document of a kind from its template."""

    kind: Kind
    title: str
    identity: Mapping[str, object] = field(hash=False)


@dataclass(frozen=True, slots=True)
class RepairDocument:
    """Put back what a document held on to when it was last whole, in this version and with the text `good`.

    `identity` is what its frontmatter must say now. Version 0 means that it was never whole.
    """

    version: int
    good: str
    identity: Mapping[str, object] = field(hash=False)


@dataclass(frozen=True, slots=True)
class RestoreText:
    """Put the text of an earlier version in the place of the document, whatever has become of that."""

    version: int
    text: str


SectionEdit = ReplaceSection | AppendToSection | CurateList
RecoveryEdit = RepairDocument | RestoreText
Edit = SectionEdit | AppendToFile | WriteFile | ApplyDiff | CreateDocument | RecoveryEdit
