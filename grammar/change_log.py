"""The Change Log: the section that records each edit of its document in one line."""

import re

from garden.grammar.canonical import canonical
from garden.grammar.document import Document, Section, SectionContent
from garden.grammar.kinds.declaration import Kind
from garden.grammar.refusals import ChangeLogIsAppendOnlyError
from garden.grammar.section_edits import join_below, new_body
from garden.grammar.text_checks import refuse_anchor, refuse_open_end

USUAL_ANCHOR_ID = "change_log"
# A section without an anchor is named by its heading, which may be long.
_NAME_CHARACTERS_MAX = 100
_LONG_NAME = "a long heading"
_EVENT = re.compile(r"\b(evt)\s*:", re.IGNORECASE)


def log_entry(
    at: str, section: str, op: str, rationale: str, event_id: str, override: str | None = None
) -> str:
    """Format a Change Log line; `at` is the formatted time, as in `2026-11-18 08:25Z`."""
    parts = [
        at,
        # Never the beginning of a heading: of a passage that is erased, that part would stay.
        _plain(section) if len(section) <= _NAME_CHARACTERS_MAX else _LONG_NAME,
        op,
        f"{_plain(rationale)} (evt:{event_id})",
        *([f"override: {_plain(override)}"] if override else []),
    ]
    return "- " + " · ".join(parts)


def _plain(words: str) -> str:
    """Join free words into one line without the marks that separate the line's fields."""
    plain = " ".join(words.split()).replace("·", "-")
    return _EVENT.sub(r"\1 ", plain)


def change_logs(document: Document, kind: Kind | None) -> list[Section]:
    """List the sections that the kind declares as Change Log; without a kind, those with the usual anchor."""
    if kind is None:
        return [
            section
            for section in document.sections
            if section.anchor and section.anchor.id == USUAL_ANCHOR_ID
        ]
    numbers = [number for anchor in kind.log_anchors for number in document.numbers_with(anchor)]
    return [document.section(number) for number in sorted(numbers)]


def find_change_log(document: Document, kind: Kind | None) -> Section | None:
    """Return the Change Log if there is exactly one."""
    found = change_logs(document, kind)
    return found[0] if len(found) == 1 else None


def is_extended(log: SectionContent, later: SectionContent) -> bool:
    """Whether a later Change Log begins with the words of this one."""
    words, new = log.layout.words, later.layout.words
    # The usual case needs no canonical form: the same words, and then the end of a line.
    is_plain = new.startswith(words) and new[len(words) : len(words) + 1] in "\r\n"
    return not words or is_plain or canonical(new).startswith(canonical(words))


def body_with_entry(document: Document, log: Section, entry: str) -> str:
    """Return the Change Log's body with one more line."""
    refuse_anchor(entry)
    words = join_below(log.layout.words, entry, document.newline)
    refuse_open_end(words)
    return new_body(document, log, words)


def change_log_refusal() -> ChangeLogIsAppendOnlyError:
    """Return the refusal for an edit that would remove something from the Change Log."""
    return ChangeLogIsAppendOnlyError(
        "The Change Log only grows: its lines can't be replaced, pruned or merged.",
        hint="Append to it, or leave it alone; every material edit adds its own line.",
    )
