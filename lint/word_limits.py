"""How many words a section has, and how many it may have."""

from typing import NamedTuple

from garden.lint.section_context import SectionContext
from garden.lint.word_count import count_words, may_exceed

NOTE_WORDS = 200
CAP_WORDS = 400


class WordCount(NamedTuple):
    """The words of a section, and how many are recommended and allowed; None is no limit."""

    words: int
    note: int | None
    cap: int | None


_NOT_LONG = WordCount(0, None, None)


def count_if_long(section: SectionContext) -> WordCount:
    """Count the words of a section that may have more than are recommended or allowed.

    Where the kind declares limits, every word of the section counts. In any other section that is no log only
    prose counts: neither list items nor code.
    """
    declared = section.declaration
    is_log = declared is not None and declared.shape == "log"
    if section.declarations.kind is None or section.name is None or is_log:
        return _NOT_LONG
    note, cap = (declared.note_words, declared.cap_words) if declared else (None, None)
    has_own_limits = bool(note or cap)
    if not has_own_limits:
        note, cap = NOTE_WORDS, CAP_WORDS
    if not may_exceed(section.content.body, min(note or cap or 0, cap or note or 0)):
        return _NOT_LONG
    return WordCount(count_words(section.content.body if has_own_limits else _prose(section)), note, cap)


def _prose(section: SectionContext) -> str:
    """Return the body without list items and without code."""
    items = [item.span for item in section.content.items]
    code = [block.span for block in section.verbatim if block.is_code]
    pieces, position = [], section.content.head_end
    for span in sorted(span for span in [*items, *code] if span.start >= position):
        pieces.append(section.text[position : span.start])
        position = max(position, span.end)
    return "\n".join([*pieces, section.text[position:]])
