"""Departures: changes by which a document loses its file."""

from garden.events.records import DocumentChange
from garden.grammar.canonical import canonical, content_hash, raw_hash
from garden.grammar.splice import Splice

EMPTY_HASH = raw_hash(b"")


def departure_of(text: str) -> DocumentChange:
    """The change that removes a document's whole text and leaves no file."""
    return DocumentChange(
        splices=(Splice(0, text, ""),),
        intended_hash=content_hash(""),
        intended_raw_hash=EMPTY_HASH,
        sealed_text=canonical(""),
        leaves_file=False,
    )
