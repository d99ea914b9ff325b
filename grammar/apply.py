"""Applies an edit to a document: the one function that handles every kind of edit."""

from dataclasses import dataclass, replace
from operator import attrgetter

from garden.grammar.change_log import (
    body_with_entry,
    change_log_refusal,
    change_logs,
    find_change_log,
)
from garden.grammar.computed import computed
from garden.grammar.diffs import Diff, unified_diff
from garden.grammar.document import Document, Section
from garden.grammar.edits import (
    AppendItem,
    AppendLogLine,
    AppendToFile,
    AppendToSection,
    ApplyDiff,
    ArchiveDocument,
    CreateDocument,
    CurateList,
    Edit,
    RecoveryEdit,
    ReplaceSection,
    ReplaceText,
    SectionEdit,
    WriteFile,
)
from garden.grammar.file_edits import append_to_file, entry_section, rewrite_file
from garden.grammar.guards import check_edit, check_roll, refuse_malformed
from garden.grammar.kinds.declaration import Kind, is_free
from garden.grammar.kinds.template import template_text
from garden.grammar.lines import split_any_lines
from garden.grammar.list_edits import curate_list
from garden.grammar.log_roll import may_roll, rolled_words
from garden.grammar.lookup import find_section
from garden.grammar.parser import parse, with_bodies
from garden.grammar.patch import apply_diff
from garden.grammar.recovery import recover
from garden.grammar.refusals import AlreadyExistsError, ArchiveNotAllowedError, NoDocumentError
from garden.grammar.replacing import replace_once
from garden.grammar.section_edits import append_entry, append_to_section, new_body, replace_section
from garden.grammar.splice import SPLICES_MAX, Splice, Splices, splices_between

_DATA = attrgetter("data")


@dataclass(frozen=True)
class AppliedEdit:
    """The result of an edit. Nothing has been written; `after` passed every guard.

    `section_before` is the section that a section edit changed, as it was. `logged` says whether the edit
    added a Change Log line. An edit that changes nothing is no error: then `after` equals `before`.
    `repairs` lists what a repair put back; `warnings` are for the caller.
    """

    before: Document | None
    after: Document
    section_before: Section | None
    logged: bool
    repairs: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @computed
    def section_after(self) -> Section | None:
        """The edited section as it is now; a section edit keeps the order of the sections."""
        if self.before is None or self.section_before is None:
            return None
        return self.after.section(self.before.number_of(self.section_before))

    @property
    def text(self) -> str:
        """The new text."""
        return self.after.text

    @computed
    def changed(self) -> list[int] | None:
        """The numbers of the contents that changed; None if there were more or fewer, or no document."""
        return self.after.changes_since(self.before) if self.before else None

    @property
    def unchanged(self) -> bool:
        """Whether the text stays the same."""
        return self.changed == []

    @computed
    def splices(self) -> Splices:
        """The change as reversible splices."""
        before, after = self.before, self.after
        if before is None or self.changed is None:
            return splices_between(before.text if before else "", after.text)
        splices: list[Splice] = []
        for number in self.changed:
            offset = sum(map(len, map(_DATA, before.contents[:number])))
            splices += splices_between(before.contents[number].text, after.contents[number].text, offset)
        return tuple(splices) if len(splices) <= SPLICES_MAX else splices_between(before.text, after.text)

    def diff(self, path: str = "document.md") -> Diff:
        """Return the change as a unified diff."""
        return unified_diff(self.before.text if self.before else "", self.after.text, path)


def apply(
    document: Document | None,
    edit: Edit,
    *,
    kind: Kind | None = None,
    entry: str | None = None,
    section: Section | None = None,
) -> AppliedEdit:
    """Apply an edit, or refuse with a `RefusalError`; `document` is None if the file does not exist.

    `entry` is a Change Log line (see `log_entry`). It is added if the document has a Change Log, the edit
    changes something, and the edit itself does not write to the Change Log. `section` is the section that a
    section edit names; it is looked up if not given.
    """
    return _roll_change_log(_apply(document, edit, kind, entry, section), kind)


def _apply(
    document: Document | None, edit: Edit, kind: Kind | None, entry: str | None, section: Section | None
) -> AppliedEdit:
    if isinstance(edit, RecoveryEdit):
        done = recover(document, edit, kind, entry)
        return AppliedEdit(document, done.after, None, done.logged, done.repairs, done.warnings)
    if document is not None:
        refuse_malformed(document, kind)
    if document is not None and isinstance(edit, AppendLogLine):
        return _append_log_line(document, edit, kind)
    if document is not None and isinstance(edit, SectionEdit):
        return _edit_section(document, section or find_section(document, edit.section), edit, kind, entry)
    if document is not None and isinstance(edit, AppendToFile):
        takes_entries = entry_section(document, kind, edit.text)
        if takes_entries is not None:
            return _edit_section(document, takes_entries, edit, kind, entry)
    return _finish(document, None, edit, parse(_edited_text(document, edit, kind), document), kind, entry)


def _edit_section(
    document: Document,
    section: Section,
    edit: SectionEdit | AppendToFile,
    kind: Kind | None,
    entry: str | None,
) -> AppliedEdit:
    logs, own = change_logs(document, kind), document.number_of(section)
    is_log = own in [document.number_of(log) for log in logs]
    if is_log and not _only_appends(edit):
        raise change_log_refusal()
    body = _edited_body(document, section, edit)
    if entry is None or body == section.body or len(logs) != 1 or is_log:
        return _finish(document, section, edit, with_bodies(document, {own: body}), kind, entry)
    # Both are parsed and checked at once.
    log_body = body_with_entry(document, logs[0], entry)
    after = with_bodies(document, {own: body, document.number_of(logs[0]): log_body})
    check_edit(document, after, edit, kind, section=section, log=logs[0], log_body=log_body)
    return AppliedEdit(document, after, section, logged=True)


def _append_log_line(document: Document, edit: AppendLogLine, kind: Kind | None) -> AppliedEdit:
    log = find_change_log(document, kind)
    if log is None or edit.line in map(str.strip, split_any_lines(log.body)):
        return AppliedEdit(document, document, log, logged=False)
    after = with_bodies(document, {document.number_of(log): body_with_entry(document, log, edit.line)})
    check_edit(document, after, edit, kind, section=log)
    return AppliedEdit(document, after, log, logged=False)


def _finish(
    before: Document | None,
    section: Section | None,
    edit: Edit,
    after: Document,
    kind: Kind | None,
    entry: str | None,
) -> AppliedEdit:
    check_edit(before, after, edit, kind, section=section)
    with_entry = _with_entry(before, after, kind, entry)
    return AppliedEdit(before, with_entry or after, section, with_entry is not None)


def _roll_change_log(applied: AppliedEdit, kind: Kind | None) -> AppliedEdit:
    """Take the oldest lines out of a Change Log that became too long."""
    log = find_change_log(applied.after, kind)
    if applied.before is None or log is None or not may_roll(log.layout.words):
        return applied
    old, words = find_change_log(applied.before, kind), log.layout.words
    if old is None or old.body == log.body:
        return applied
    kept = rolled_words(old.layout.words, words, applied.after.newline)
    if kept == words:
        return applied
    rolled = new_body(applied.after, log, kept)
    after = with_bodies(applied.after, {applied.after.number_of(log): rolled})
    check_roll(applied.before, applied.after, after, kind)
    return replace(applied, after=after)


def _edited_text(document: Document | None, edit: Edit, kind: Kind | None) -> str:
    match edit:
        case CreateDocument() if document is not None:
            raise AlreadyExistsError(
                "A document already exists here.", hint="Edit it, or choose another path."
            )
        case CreateDocument():
            return template_text(edit.kind, edit.title, edit.identity)
        case WriteFile():
            return edit.text if is_free(kind) else rewrite_file(document, edit.text)
        case ArchiveDocument() if not is_free(kind):
            raise ArchiveNotAllowedError(
                "Only a free-form document can be archived.",
                hint="Take out what no longer holds with md.curate_list or md.patch_section.",
            )
        case ArchiveDocument() if document is not None:
            return ""
        case AppendToFile() if document is not None:
            return append_to_file(document, edit.text, kind)
        case ReplaceText() if document is not None:
            return replace_once(document.text, edit.find, edit.replace, document.newline)
        case ApplyDiff() if document is not None:
            return apply_diff(document.text, edit.diff, document.newline, edit.path)
    raise NoDocumentError(
        "There is no document to edit.",
        hint="Create it with md.plant, or write the whole file with fs.write.",
    )


def _edited_body(document: Document, section: Section, edit: SectionEdit | AppendToFile) -> str:
    match edit:
        case ReplaceSection():
            return replace_section(document, section, edit.text)
        case AppendToSection():
            return append_to_section(document, section, edit.text)
        case AppendToFile():
            return append_entry(document, section, edit.text)
        case CurateList():
            return curate_list(document, section, edit.ops)


def _only_appends(edit: SectionEdit | AppendToFile) -> bool:
    return isinstance(edit, AppendToSection) or (
        isinstance(edit, CurateList) and all(isinstance(op, AppendItem) for op in edit.ops)
    )


def _with_entry(
    before: Document | None, after: Document, kind: Kind | None, entry: str | None
) -> Document | None:
    """Add the Change Log line; None if nothing changed or the edit itself wrote to the log."""
    if before is None or entry is None or before.text == after.text:
        return None
    old, new = find_change_log(before, kind), find_change_log(after, kind)
    if old is None or new is None or old.layout.words != new.layout.words:
        return None
    with_entry = with_bodies(after, {after.number_of(new): body_with_entry(after, new, entry)})
    check_edit(after, with_entry, AppendToSection(new.name, entry), kind, section=new)
    return with_entry
