"""The Change Log: the section in which a document tells, one line for each edit, how it came to be."""

from garden.grammar.body import layout_of
from garden.grammar.canonical import canonical
from garden.grammar.document import Document, Section
from garden.grammar.kinds.declaration import Kind
from garden.grammar.new_text import refuse_anchor, refuse_open_end
from garden.grammar.refusals import ChangeLogIsAppendOnlyError
from garden.grammar.section_edits import body_around, join_below
from garden.grammar.values import Anchor

USUAL_ANCHOR_ID = "change_log"
# A section without an anchor goes by its heading, which may be long.
_NAME_CHARACTERS_MAX = 100


def log_entry(
    at: str, section: str, op: str, rationale: str, event_id: str, override: str | None = None
) -> str:
    """Write a Change Log line; `at` is the moment as it shall read: `2026-11-18 08:25Z`."""
    parts = [
        at,
        _plain(section)[:_NAME_CHARACTERS_MAX],
        op,
        f"{_plain(rationale)} (evt:{event_id})",
        *([f"override: {_plain(override)}"] if override else []),
    ]
    return "- " + " · ".join(parts)


def _plain(words: str) -> str:
    """Put free words on one line, without the signs by which the line is read."""
    return " ".join(words.split()).replace("·", "-").replace("(evt:", "(evt ")


def change_logs(document: Document, kind: Kind | None) -> list[Section]:
    """Find what the kind declares as a Change Log; without a kind, what carries the usual anchor."""
    declared = [section.anchor for section in kind.sections if section.is_change_log] if kind else []
    return [
        section
        for section in document.sections
        if section.anchor and (section.anchor in declared or (not kind and _is_usual(section.anchor)))
    ]


def find_change_log(document: Document, kind: Kind | None) -> Section | None:
    """Find the one Change Log that a line can go to."""
    found = change_logs(document, kind)
    return found[0] if len(found) == 1 else None


def goes_on_from(log: Section, grown: Section) -> bool:
    """Tell whether a Change Log holds what it held before, and at most more."""
    words = layout_of(log.body).words
    return not words or canonical(layout_of(grown.body).words).startswith(canonical(words))


def _is_usual(anchor: Anchor) -> bool:
    return anchor.id == USUAL_ANCHOR_ID


def logged(document: Document, log: Section, entry: str) -> str:
    """Give the document's text with a line more in its Change Log."""
    start, end = log.body_span
    return document.text[:start] + with_line(document, log, entry) + document.text[end:]


def with_line(document: Document, log: Section, entry: str) -> str:
    """Give the Change Log's body with a line more."""
    refuse_anchor(entry)
    words = join_below(layout_of(log.body).words, entry, document.newline)
    refuse_open_end(words)
    return body_around(document, log, words)


def refuse_rewriting() -> ChangeLogIsAppendOnlyError:
    """Make the refusal for an edit that would take something out of the Change Log."""
    return ChangeLogIsAppendOnlyError(
        "The Change Log only grows: what stands in it may not be replaced, pruned or merged.",
        hint="Append to it, or leave it alone; a material edit gets its line by itself.",
    )
