"""Edits of a whole file: adding an entry at its end, and writing it anew."""

from garden.grammar.body import trimmed
from garden.grammar.document import Document
from garden.grammar.lines import flat
from garden.grammar.new_text import refuse_empty, refuse_open_end, swallows_what_follows
from garden.grammar.parser import BOM
from garden.grammar.refusals import InvalidInputError


def entry_added(document: Document, text: str) -> str:
    """Give the document's text with an entry at its end, a blank line before it."""
    refuse_empty(text, "The entry")
    if swallows_what_follows(document.text):
        raise InvalidInputError(
            "The document ends inside a code fence or an HTML comment, which would swallow the entry.",
            hint="Close what is open there first, in the document's last section.",
        )
    words = trimmed(text, document.newline)
    refuse_open_end(words)
    return document.text + _gap_below(document) + words + _ending(document)


def _gap_below(document: Document) -> str:
    flat_text = flat(document.text).removeprefix(BOM)
    if not flat_text.strip(" \t\n"):
        return ""
    if not flat_text.endswith("\n"):
        return document.newline * 2
    last_line = flat_text[flat_text.rfind("\n", 0, -1) + 1 :]
    return "" if not last_line.strip(" \t\n") else document.newline


def _ending(document: Document) -> str:
    # A file that ends without a line end goes on doing so, unless it was empty.
    empty = not document.text.removeprefix(BOM)
    return document.newline if empty or document.text.endswith(("\n", "\r")) else ""


def rewritten(document: Document | None, text: str) -> str:
    """Give the new text of a document, in the line ends and with the byte order mark that it had.

    A text that brings carriage returns of its own has made its choice and stays as it is.
    """
    if document is None:
        return text
    keeps_line_ends = "\r" not in text and document.newline != "\n" and not _mixed(document)
    whole = text.replace("\n", document.newline) if keeps_line_ends else text
    return BOM + whole if document.text.startswith(BOM) and not whole.startswith(BOM) else whole


def _mixed(document: Document) -> bool:
    rest = document.text.replace(document.newline, "")
    return "\n" in rest or "\r" in rest
