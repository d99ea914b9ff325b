"""Edits of a whole file: appending an entry and rewriting the file."""

from garden.grammar.body import trim_words
from garden.grammar.change_log import change_logs
from garden.grammar.document import Document, Section
from garden.grammar.headings import find_headings
from garden.grammar.kinds.declaration import Kind, is_free
from garden.grammar.lines import flat
from garden.grammar.parser import BOM
from garden.grammar.refusals import InvalidInputError
from garden.grammar.text_checks import has_open_end, refuse_empty, refuse_open_end


def entry_section(document: Document, kind: Kind | None, text: str) -> Section | None:
    """Return the section that takes an entry; None if its place is the end of the file.

    A text that begins a section of its own goes to the end of the file.
    """
    anchor = kind.entries_anchor if kind else None
    found = [section for section in document.sections if section.anchor and section.anchor == anchor]
    return found[0] if len(found) == 1 and not _begins_section(text) else None


def append_to_file(document: Document, text: str, kind: Kind | None = None) -> str:
    """Return the document's text with an entry at its end, after a blank line."""
    refuse_empty(text, "The entry")
    _refuse_logged(document, text, kind)
    is_any_text = is_free(kind)
    if not is_any_text and has_open_end(document.contents[-1].text):
        raise InvalidInputError(
            "The document ends inside a code fence or an HTML comment, which would swallow the entry.",
            hint="Close the fence or comment in the document's last section first.",
        )
    words = trim_words(text, document.newline)
    if not is_any_text:
        refuse_open_end(words)
    return document.text + _gap_below(document) + words + _last_line_end(document)


def _refuse_logged(document: Document, text: str, kind: Kind | None) -> None:
    """Refuse an entry that would become part of a Change Log at the end of the file."""
    last = document.sections[-1] if document.sections else None
    if last is None or last.span.end < len(document.text) or _begins_section(text):
        return
    if last in change_logs(document, kind):
        raise InvalidInputError(
            f"The entry would land in the Change Log, which is the last section ({last.name!r}).",
            hint="Name the section that the entry is for: md.patch_section with sectionAnchor and "
            'change: {"append": ...}.',
            details={"sections": [section.name for section in document.sections]},
        )


def _begins_section(text: str) -> bool:
    headings = find_headings(flat(trim_words(text, "\n")), 0)
    return bool(headings) and headings[0].span.start == 0 and headings[0].level <= 2


def _gap_below(document: Document) -> str:
    flat_text = flat(document.text).removeprefix(BOM)
    if not flat_text.strip(" \t\n"):
        return ""
    if not flat_text.endswith("\n"):
        return document.newline * 2
    last_line = flat_text[flat_text.rfind("\n", 0, -1) + 1 :]
    return "" if not last_line.strip(" \t\n") else document.newline


def _last_line_end(document: Document) -> str:
    # A file without a final line end keeps it that way, unless it was empty.
    empty = not document.text.removeprefix(BOM)
    return document.newline if empty or document.text.endswith(("\n", "\r")) else ""


def rewrite_file(document: Document | None, text: str) -> str:
    """Return the new text with the line ends and the byte order mark of the old one.

    A text that contains carriage returns of its own keeps its line ends.
    """
    if document is None:
        return text
    keeps_line_ends = "\r" not in text and document.newline != "\n" and not _has_mixed_line_ends(document)
    whole = text.replace("\n", document.newline) if keeps_line_ends else text
    return BOM + whole if document.text.startswith(BOM) and not whole.startswith(BOM) else whole


def _has_mixed_line_ends(document: Document) -> bool:
    rest = document.text.replace(document.newline, "")
    return "\n" in rest or "\r" in rest
