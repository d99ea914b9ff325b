"""Changes of a whole document: to another text, or a departure, by which it loses its file."""

from garden.events.records import DocumentChange
from garden.grammar.canonical import canonical, content_hash, raw_hash
from garden.grammar.document import Document
from garden.grammar.splice import Splice, Splices

EMPTY_HASH = raw_hash(b"")


def change_to(after: Document, splices: Splices) -> DocumentChange:
    """The change that leaves this document."""
    return DocumentChange(
        splices=splices,
        intended_hash=after.hash,
        intended_raw_hash=raw_hash(after.text.encode()),
        sealed_text=canonical(after.text),
    )


def departure_of(text: str) -> DocumentChange:
    """The change that removes a document's whole text and leaves no file."""
    return DocumentChange(
        splices=(Splice(0, text, ""),),
        intended_hash=content_hash(""),
        intended_raw_hash=EMPTY_HASH,
        sealed_text=canonical(""),
        leaves_file=False,
    )
