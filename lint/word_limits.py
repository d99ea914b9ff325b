"""How many words a section has, and how many it may have."""

from collections.abc import Iterator
from typing import NamedTuple

from garden.grammar.document import Section
from garden.lint.context import LintContext
from garden.lint.word_count import count_words, may_exceed

NOTE_WORDS = 200
CAP_WORDS = 400


class WordCount(NamedTuple):
    """The words of a section that has more than are recommended; None is no limit."""

    section: Section
    words: int
    note: int | None
    cap: int | None


def long_sections(context: LintContext) -> Iterator[WordCount]:
    """Yield the sections with more words than are recommended or allowed.

    Where the kind declares limits, every word of the section counts. In any other section that is no log only
    prose counts: neither list items nor code.
    """
    logs = {section.anchor for section in context.declarations.values() if section.shape == "log"}
    for section in context.document.sections if context.kind else ():
        declared = context.declarations.get(section.anchor) if section.anchor else None
        note, cap = (declared.note_words, declared.cap_words) if declared else (None, None)
        has_own_limits = bool(note or cap)
        if not has_own_limits:
            note, cap = NOTE_WORDS, CAP_WORDS
        least = min(limit for limit in (note, cap) if limit)
        if section.anchor in logs or not may_exceed(section.body, least):
            continue
        words = count_words(section.body if has_own_limits else _prose(context, section))
        if words > least:
            yield WordCount(section, words, note, cap)


def _prose(context: LintContext, section: Section) -> str:
    """Return the body without list items and without code."""
    items = [item.span for item in section.items]
    code = [block.span for block in context.verbatim if block.is_code]
    gone = sorted(
        span for span in [*items, *code] if section.body_span.start <= span.start < section.span.end
    )
    pieces, position = [], section.body_span.start
    for span in gone:
        pieces.append(context.text[position : span.start])
        position = max(position, span.end)
    return "\n".join([*pieces, context.text[position : section.span.end]])
