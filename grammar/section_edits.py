"""Replaces and appends to the body of one section."""

from garden.grammar.body import fill_body, trim_words
from garden.grammar.document import Document, Section
from garden.grammar.items import is_bullet_lines, item_spans
from garden.grammar.refusals import InvalidInputError
from garden.grammar.text_checks import (
    has_open_end,
    refuse_anchor,
    refuse_empty,
    refuse_headings,
    refuse_open_end,
    refuse_structure,
)
from garden.grammar.values import Span


def replace_section(document: Document, section: Section, text: str) -> str:
    """Return a section's body with new words."""
    words = trim_words(text, document.newline)
    refuse_anchor(words)
    refuse_structure(words)
    return new_body(document, section, words)


def append_to_section(document: Document, section: Section, text: str) -> str:
    """Return a section's body with words appended."""
    words = _words_to_append(document, text)
    above = section.layout.words
    return _with_more_words(document, section, above, join_below(above, words, document.newline))


def append_entry(document: Document, section: Section, text: str) -> str:
    """Return a section's body with an entry at its end, after a blank line."""
    words = _words_to_append(document, text)
    above = section.layout.words
    gap = document.newline * 2 if above else ""
    return _with_more_words(document, section, above, above + gap + words)


def _words_to_append(document: Document, text: str) -> str:
    refuse_empty(text, "The text to append")
    words = trim_words(text, document.newline)
    refuse_anchor(words)
    refuse_headings(words)
    return words


def _with_more_words(document: Document, section: Section, above: str, joined: str) -> str:
    refuse_headings(joined)
    if has_open_end(joined) and has_open_end(above):
        raise InvalidInputError(
            f"The section {section.name!r} ends inside a code fence or an HTML comment, which would swallow "
            "the new words.",
            hint="Replace the section with a text that closes the fence or comment.",
        )
    refuse_open_end(joined)
    return new_body(document, section, joined)


def join_below(above: str, words: str, newline: str) -> str:
    """Put words below others: a list item directly below the last item, anything else after a blank line."""
    if not above:
        return words
    return above + (newline if _continues_list(above, words) else newline * 2) + words


def _continues_list(above: str, words: str) -> bool:
    if is_bullet_lines(above) and is_bullet_lines(words):
        return words[0] == "-" and above[-1] not in "\r\n"
    new, old = item_spans(words), item_spans(above)
    if not new or new[0].start or not old or old[-1].end < len(above):
        return False
    loose = len(old) > 1 and old[-2].end != old[-1].start
    return not loose and _marker(words, new[0]) == _marker(above, old[-1])


def _marker(text: str, item: Span) -> str:
    """Return the mark that distinguishes lists: the bullet, or the character after the number."""
    return item.of(text).lstrip(" \t0123456789")[:1]


def new_body(document: Document, section: Section, words: str) -> str:
    """Return a section's body with other words in the same layout."""
    followed = section.content is not document.contents[-1]
    ended = document.contents[-1].text[-1:] in ("\n", "\r")
    return fill_body(section.layout, words, document.newline, followed=followed, ended=ended)
