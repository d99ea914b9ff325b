"""Replacing and appending to the body of one section."""

from garden.grammar.body import layout_of, trimmed, with_words
from garden.grammar.document import Document, Section
from garden.grammar.items import item_spans
from garden.grammar.new_text import (
    refuse_anchor,
    refuse_empty,
    refuse_headings,
    refuse_open_end,
    swallows_what_follows,
)
from garden.grammar.refusals import InvalidInputError
from garden.grammar.values import Span


def replaced(document: Document, section: Section, text: str) -> str:
    """Give the document's text with other words in a section."""
    words = trimmed(text, document.newline)
    refuse_anchor(words)
    refuse_headings(words)
    refuse_open_end(words)
    return with_body_words(document, section, words)


def appended(document: Document, section: Section, text: str) -> str:
    """Give the document's text with more words at the end of a section."""
    refuse_empty(text, "The text to append")
    words = trimmed(text, document.newline)
    refuse_anchor(words)
    refuse_headings(words)
    above = layout_of(section.body).words
    joined = join_below(above, words, document.newline)
    refuse_headings(joined)
    if swallows_what_follows(joined) and swallows_what_follows(above):
        raise InvalidInputError(
            f"The section {section.name!r} ends inside a code fence or an HTML comment, which would swallow "
            "the new words.",
            hint="Replace the section with a text that closes what is open.",
        )
    refuse_open_end(joined)
    return with_body_words(document, section, joined)


def join_below(above: str, words: str, newline: str) -> str:
    """Put words below other words: a list item right below the last item, all else after a blank line."""
    if not above:
        return words
    return above + (newline if _goes_on_with_the_list(above, words) else newline * 2) + words


def _goes_on_with_the_list(above: str, words: str) -> bool:
    new, old = item_spans(words), item_spans(above)
    if not new or new[0].start or not old or old[-1].end < len(above):
        return False
    loose = len(old) > 1 and old[-2].end != old[-1].start
    return not loose and _marker(words, new[0]) == _marker(above, old[-1])


def _marker(text: str, item: Span) -> str:
    """Give what tells lists apart: the bullet, or the mark after the number."""
    return item.of(text).lstrip(" \t0123456789")[:1]


def with_body_words(document: Document, section: Section, words: str) -> str:
    """Give the document's text with a section's body laid out around these words."""
    start, end = section.body_span
    return document.text[:start] + body_around(document, section, words) + document.text[end:]


def body_around(document: Document, section: Section, words: str) -> str:
    """Lay a section's body out around other words."""
    followed = section.span.end < len(document.text)
    ended = document.text.endswith(("\n", "\r"))
    return with_words(section.body, words, document.newline, followed=followed, ended=ended)
