"""The edit of an erasure: passages leave a document, and a line comes into its Change Log."""

from garden.grammar.change_log import body_with_entry, find_change_log
from garden.grammar.document import Document
from garden.grammar.edits import AppendToSection
from garden.grammar.guards import check_edit, check_erasure
from garden.grammar.kinds.declaration import Kind
from garden.grammar.parser import parse, with_bodies
from garden.grammar.passages import Finder, without


def erase_passages(
    before: Document, finder: Finder, kind: Kind | None = None, entry: str | None = None
) -> Document:
    """Remove every passage, and add a Change Log line if there is a Change Log.

    Passages leave the Change Log too. Anchors and identity stay, or the erasure is refused.
    """
    cut = parse(without(before.text, finder))
    check_erasure(before, cut)
    log = find_change_log(cut, kind)
    if entry is None or log is None or cut.malformed:
        return cut
    after = with_bodies(cut, {cut.number_of(log): body_with_entry(cut, log, entry)})
    check_edit(cut, after, AppendToSection(log.name, entry), kind, section=log)
    return after
