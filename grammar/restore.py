"""Recovering: edits of a document that may be damaged, judged against a text that was whole."""

from contextlib import suppress
from typing import NamedTuple

from garden.grammar.body import layout_of
from garden.grammar.change_log import find_change_log, goes_on_from, logged
from garden.grammar.document import Document
from garden.grammar.edits import RecoveryEdit, RepairDocument, RestoreText
from garden.grammar.guards import check_whole
from garden.grammar.kinds.declaration import Kind
from garden.grammar.lines import with_newlines
from garden.grammar.parser import parse
from garden.grammar.refusals import NoDocumentError, RefusalError
from garden.grammar.repair import repaired
from garden.grammar.section_edits import body_around


class Recovered(NamedTuple):
    """A document as it is after its recovery, what was put back, and what its reader should know."""

    after: Document
    logged: bool
    mended: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def recovered(
    document: Document | None, edit: RecoveryEdit, kind: Kind | None, entry: str | None
) -> Recovered:
    """Repair or restore a document; an entry for its Change Log goes in where anything changed."""
    match edit:
        case RepairDocument():
            result = _repaired(document, edit)
        case RestoreText():
            result = _restored(document, edit, kind)
    check_whole(result.after)
    if document is None or entry is None or result.after.text == document.text:
        return result
    log = find_change_log(result.after, kind)
    # A log that can take no line, since it ends in an open fence, is no reason to leave a document as it is.
    with suppress(RefusalError):
        if log is not None:
            after = parse(logged(result.after, log, entry))
            check_whole(after)
            return result._replace(after=after, logged=True)
    return result


def _repaired(document: Document | None, edit: RepairDocument) -> Recovered:
    if document is None:
        raise NoDocumentError("There is no document to repair.", hint="Restore one of its versions.")
    found = repaired(document.text, edit.good, edit.identity)
    emptied = (
        f"The section '{name}' comes back empty; version {edit.version} holds the words that it had."
        for name in found.emptied
    )
    return Recovered(parse(found.text), False, found.mended, (*found.warnings, *emptied))


def _restored(document: Document | None, edit: RestoreText, kind: Kind | None) -> Recovered:
    after = _with_later_log(document, parse(edit.text), kind)
    going = _anchors(document) - _anchors(after) if document else set()
    coming = _anchors(after) - _anchors(document) if document else set()
    warnings = [
        f"The anchor '{anchor}' goes: that version had none of this name." for anchor in sorted(going)
    ]
    warnings += [f"The anchor '{anchor}' comes back." for anchor in sorted(coming)]
    return Recovered(after, logged=False, warnings=tuple(warnings))


def _with_later_log(document: Document | None, then: Document, kind: Kind | None) -> Document:
    """Keep what was written in the Change Log since: it only grows, also where the rest goes back."""
    old = find_change_log(then, kind)
    now = find_change_log(document, kind) if document else None
    if old is None or now is None or not goes_on_from(old, now):
        return then
    later = with_newlines(layout_of(now.body).words, then.newline)
    if not later or later == layout_of(old.body).words:
        return then
    start, end = old.body_span
    return parse(then.text[:start] + body_around(then, old, later) + then.text[end:])


def _anchors(document: Document) -> set[str]:
    return {str(section.anchor) for section in document.sections if section.anchor}
