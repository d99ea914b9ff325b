"""Applying an edit to a document: one function that knows the closed set of edits, and one kind of answer."""

from dataclasses import dataclass
from functools import cached_property

from garden.grammar.body import layout_of
from garden.grammar.change_log import change_logs, find_change_log, logged, refuse_rewriting, with_line
from garden.grammar.diffs import Diff, unified_diff
from garden.grammar.document import Document, Section
from garden.grammar.edits import (
    AppendItem,
    AppendToFile,
    AppendToSection,
    ApplyDiff,
    CreateDocument,
    CurateList,
    Edit,
    RecoveryEdit,
    ReplaceSection,
    SectionEdit,
    WriteFile,
)
from garden.grammar.file_edits import entry_added, rewritten
from garden.grammar.guards import check, refuse_malformed
from garden.grammar.kinds.declaration import Kind
from garden.grammar.kinds.template import new_text
from garden.grammar.list_edits import curated
from garden.grammar.lookup import find_section
from garden.grammar.parser import parse
from garden.grammar.patch import patched
from garden.grammar.refusals import AlreadyExistsError, NoDocumentError
from garden.grammar.restore import recovered
from garden.grammar.section_edits import appended, replaced
from garden.grammar.splice import Splice, splice_between


@dataclass(frozen=True)
class Applied:
    """What an edit makes of a document. Nothing has been written; `after` passed every guard.

    `section` is the name of the one section that was edited, `logged` says whether a Change Log line came
    with it. An edit that changes nothing is no error: then `after` equals `before`. Where something was
    repaired, `mended` says what; `warnings` say what else the edit means.
    """

    before: Document | None
    after: Document
    section: str | None
    logged: bool
    mended: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The new text."""
        return self.after.text

    @property
    def unchanged(self) -> bool:
        """Whether the text is what it was."""
        return self.before is not None and self.before.text == self.after.text

    @cached_property
    def splice(self) -> Splice:
        """The change as one reversible splice."""
        return splice_between(self.before.text if self.before else "", self.after.text)

    def diff(self, path: str = "document.md") -> Diff:
        """Tell the change as a unified diff."""
        return unified_diff(self.before.text if self.before else "", self.after.text, path)


def apply(
    document: Document | None, edit: Edit, *, kind: Kind | None = None, entry: str | None = None
) -> Applied:
    """Apply an edit, or refuse with a `RefusalError`; `document` is None where there is no file yet.

    `entry` is a Change Log line (see `log_entry`). It goes in with the edit where the document has a Change
    Log, the edit changes anything, and the edit doesn't itself write to the Change Log.
    """
    if isinstance(edit, RecoveryEdit):
        done = recovered(document, edit, kind, entry)
        return Applied(document, done.after, None, done.logged, done.mended, done.warnings)
    if document is not None:
        refuse_malformed(document)
    section = find_section(document, edit.section) if document and isinstance(edit, SectionEdit) else None
    if document is not None and section is not None:
        _refuse_rewriting_the_log(document, section, edit, kind)
    text = _edited(document, section, edit)
    if document is not None and section is not None and entry is not None and text != document.text:
        log = find_change_log(document, kind)
        if log is not None and log != section:
            return _both(document, section, edit, text, log, entry, kind)
    after = parse(text)
    check(document, after, edit, kind)
    with_entry = _with_entry(document, after, kind, entry)
    return Applied(document, with_entry or after, section.name if section else None, with_entry is not None)


def _both(
    document: Document,
    section: Section,
    edit: Edit,
    text: str,
    log: Section,
    entry: str,
    kind: Kind | None,
) -> Applied:
    """Put the edit of a section and its Change Log line into one text, so that it is read only once."""
    body = with_line(document, log, entry)
    moved = len(text) - len(document.text) if log.span.start > section.span.start else 0
    start, end = log.body_span.start + moved, log.body_span.end + moved
    after = parse(text[:start] + body + text[end:])
    check(document, after, edit, kind, log=log, log_body=body)
    return Applied(document, after, section.name, logged=True)


def _edited(document: Document | None, section: Section | None, edit: "_PlainEdit") -> str:
    if isinstance(edit, CreateDocument):
        return _created(document, edit)
    if isinstance(edit, WriteFile):
        return rewritten(document, edit.text)
    if document is None:
        raise NoDocumentError(
            "There is no document to edit.", hint="Begin it with md.plant, or write the whole file."
        )
    if isinstance(edit, AppendToFile):
        return entry_added(document, edit.text)
    if isinstance(edit, ApplyDiff):
        return patched(document.text, edit.diff, document.newline, edit.path)
    return _section_edited(document, section or find_section(document, edit.section), edit)


def _created(document: Document | None, edit: CreateDocument) -> str:
    if document is not None:
        raise AlreadyExistsError("A document stands here already.", hint="Edit it, or choose another place.")
    return new_text(edit.kind, edit.title, edit.identity)


_PlainEdit = SectionEdit | AppendToFile | WriteFile | ApplyDiff | CreateDocument


def _section_edited(document: Document, section: Section, edit: SectionEdit) -> str:
    match edit:
        case ReplaceSection():
            return replaced(document, section, edit.text)
        case AppendToSection():
            return appended(document, section, edit.text)
        case CurateList():
            return curated(document, section, edit.ops)


def _refuse_rewriting_the_log(document: Document, section: Section, edit: Edit, kind: Kind | None) -> None:
    if section not in change_logs(document, kind):
        return
    only_appends = isinstance(edit, AppendToSection) or (
        isinstance(edit, CurateList) and all(isinstance(op, AppendItem) for op in edit.ops)
    )
    if not only_appends:
        raise refuse_rewriting()


def _with_entry(
    before: Document | None, after: Document, kind: Kind | None, entry: str | None
) -> Document | None:
    """Add the Change Log line, unless nothing changed or the edit wrote to the log itself."""
    if before is None or entry is None or before.text == after.text:
        return None
    old, new = find_change_log(before, kind), find_change_log(after, kind)
    if old is None or new is None or layout_of(old.body).words != layout_of(new.body).words:
        return None
    with_entry = parse(logged(after, new, entry))
    check(after, with_entry, AppendToSection(new.name, entry), kind)
    return with_entry
