"""Memories in a document: what they are called, which of them say the same, and the document without one."""

import re
from collections import Counter
from collections.abc import Collection
from itertools import islice
from typing import NamedTuple
from unicodedata import normalize

from garden.grammar.attributes import read_attributes
from garden.grammar.document import SECTION_LEVEL, Document, SectionContent
from garden.grammar.edits import ReplaceSection, WriteFile
from garden.grammar.lines import flat
from garden.passages.extraction import kept_pieces, passages_in
from garden.passages.naming import Naming

# The one word that may stand in one text alone. Many articles of other languages are pronouns as well.
_ARTICLE = "the"
# So may the person at the start: "She wants to sail" is "Wants to sail".
_PERSONS = frozenset({"he", "she", "i", "ich"})
_WORD = re.compile(r"[^\W_]+")
_BULLET = r"[ \t]*(?:(?:[-+*]|[0-9]{1,9}[.)])[ \t]*)?"
_DIGIT = re.compile("[0-9]")
# Every sign that is not ordinary punctuation, as in ~~struck out~~.
_SIGN = re.compile(r"[^\w\s.,;:!\u3001\u3002'\"()\[\]*_`\u2010-\u2026-]")


class NamedPassage(NamedTuple):
    """The text of a passage, its name in the section and the section.

    It is the `nth` with its text in the piece of the section that begins at `start`.
    """

    name: str
    text: str
    content: SectionContent
    start: int
    nth: int


def named_passages(
    document: Document, anchor: str, naming: Naming, words: Collection[str] = ()
) -> list[NamedPassage]:
    """The passages of a section, or of all that print the same anchor, in order.

    With words, those in pieces that hold all of them: a piece is read at ten times the cost of a look at it.
    """
    found: list[NamedPassage] = []
    count: Counter[str] = Counter()
    for content in (each for each in document.contents if each.section_name == anchor):
        end = content.head_end
        for piece, place in kept_pieces(content, None):
            start, end = end, end + len(piece)
            here: Counter[str] = Counter()
            for passage in passages_in(piece, place) if not words or _holds_all(piece, words) else ():
                text, nth = passage.text, here[passage.text]
                count[text] += 1
                here[text] += 1
                number = f"~{count[text]}" if count[text] > 1 else ""
                found.append(NamedPassage(naming.name(text) + number, text, content, start, nth))
    return found


def _holds_all(text: str, words: Collection[str]) -> bool:
    return all(map(_folded(text).__contains__, words))


def _folded(text: str) -> str:
    """A text without its case; accents stay, since they may make another word."""
    return normalize("NFC", text).lower()


def _words(text: str) -> list[str]:
    words = _WORD.findall(_folded(read_attributes(text).words))
    return [word for word in words if word != _ARTICLE]


def full_words(text: str) -> list[str]:
    """The words that every memory which says the same has."""
    words = _words(text)
    return words[1:] if words and words[0] in _PERSONS else words


def is_same(first: str, second: str) -> bool:
    """Whether two memories say the same in the same words, but for attributes, form, article and person.

    Any other word or accent makes another memory, and so does another sign: nothing that may contradict, or
    add anything, is the same.
    """
    texts = [_folded(read_attributes(text).words) for text in (first, second)]
    signs = [[sign for word in text.split() for sign in _signs(word)] for text in texts]
    if signs[0] != signs[1] or full_words(first) != full_words(second):
        return False
    # "He left" and "she left" differ.
    words = _words(first), _words(second)
    return words[0] == words[1] or len(words[0]) != len(words[1])


def _signs(word: str) -> list[str]:
    """A number with its signs, or the signs of another word."""
    return [word.strip(".,;:!()'\"*_`")] if _DIGIT.search(word) else _SIGN.findall(word)


def without(document: Document, target: NamedPassage) -> ReplaceSection | WriteFile:
    """The edit that removes a passage: a list item with what is nested in it, or an entry or paragraph."""
    content, words = target.content, target.content.layout.words
    lines = r"[ \t]*\n[ \t]*".join(re.escape(each.strip(" \t")) for each in target.text.split("\n"))
    # The blank lines below go too, if others stand above.
    rest = r"[ \t]*$(?(1)(?:[ \t]*\n)*|\n?)"
    pattern = re.compile(rf"^((?<=\n\n)|(?<=\n \n))?{_BULLET}{lines}{rest}", re.MULTILINE)
    found = islice(pattern.finditer(flat(content.text), target.start), target.nth, None)
    start, end = next((each.span() for each in found), (0, 0))
    if content.level == SECTION_LEVEL:
        first = content.text.index(words, content.head_end)
        cut = words[: max(start - first, 0)] + words[max(end - first, 0) :]
        return ReplaceSection(content.name, cut)
    own = content.text[:start] + content.text[end:]
    return WriteFile(document.text.replace(content.text, own, 1))
