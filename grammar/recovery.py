"""Recovers a document that may be damaged: repairs it from a good text, or restores an earlier version."""

from contextlib import suppress
from typing import NamedTuple

from garden.grammar.change_log import body_with_entry, find_change_log
from garden.grammar.document import Document
from garden.grammar.edits import RecoveryEdit, RepairDocument, RestoreText
from garden.grammar.guards import check_whole
from garden.grammar.kinds.declaration import Kind, is_free
from garden.grammar.lines import with_newlines
from garden.grammar.log_roll import is_continued, read_log
from garden.grammar.parser import parse, with_bodies
from garden.grammar.refusals import NoDocumentError, RefusalError
from garden.grammar.repair import repair_text
from garden.grammar.section_edits import new_body


class Recovery(NamedTuple):
    """The recovered document, what was put back, and warnings for the caller."""

    after: Document
    logged: bool
    repairs: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def recover(document: Document | None, edit: RecoveryEdit, kind: Kind | None, entry: str | None) -> Recovery:
    """Repair or restore a document; `entry` goes into its Change Log if anything changed."""
    match edit:
        case RepairDocument():
            result = _repair(document, edit, kind)
        case RestoreText():
            result = _restore(document, edit, kind)
    check_whole(result.after, kind)
    if document is None or entry is None or result.after.text == document.text:
        return result
    log = find_change_log(result.after, kind)
    # A log that ends in an open fence can take no line, but that must not prevent the recovery.
    with suppress(RefusalError):
        if log is not None:
            body = body_with_entry(result.after, log, entry)
            after = with_bodies(result.after, {result.after.number_of(log): body})
            check_whole(after, kind)
            return result._replace(after=after, logged=True)
    return result


def _repair(document: Document | None, edit: RepairDocument, kind: Kind | None) -> Recovery:
    if document is None:
        raise NoDocumentError("There is no document to repair.", hint="Restore one of its versions.")
    if is_free(kind):
        # It has no form that could be damaged.
        return Recovery(document, logged=False)
    found = repair_text(document.text, edit.good, edit.identity)
    emptied = (
        f"The section '{name}' comes back empty; version {edit.version} holds its words."
        for name in found.emptied
    )
    return Recovery(parse(found.text), False, found.repairs, (*found.warnings, *emptied))


def _restore(document: Document | None, edit: RestoreText, kind: Kind | None) -> Recovery:
    after, kept_log = _keep_log(document, parse(edit.text), kind)
    going = _anchors(document) - _anchors(after) if document else set()
    coming = _anchors(after) - _anchors(document) if document else set()
    warnings = [
        f"The anchor '{anchor}' is removed: that version did not have it." for anchor in sorted(going)
    ]
    warnings += [f"The anchor '{anchor}' comes back." for anchor in sorted(coming)]
    if kept_log:
        warnings.append(
            "The Change Log stays as it is now: lines of that version have changed or gone since."
        )
    return Recovery(after, logged=False, warnings=tuple(warnings))


def _keep_log(document: Document | None, then: Document, kind: Kind | None) -> tuple[Document, bool]:
    """Keep the Change Log unless that version has all of its lines: a restore takes no line out of it.

    The second value says that the log of today is no continuation of the log of that version.
    """
    old = find_change_log(then, kind)
    now = find_change_log(document, kind) if document else None
    if old is None or now is None:
        return then, False
    words = with_newlines(now.layout.words, then.newline)
    if not words or read_log(old.layout.words).holds(read_log(words)):
        return then, False
    after = with_bodies(then, {then.number_of(old): new_body(then, old, words)})
    return after, not is_continued(old, now)


def _anchors(document: Document) -> set[str]:
    return {str(section.anchor) for section in document.sections if section.anchor}
