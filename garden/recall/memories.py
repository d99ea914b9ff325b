"""Memories in a document: what they are called, which of them say the same, and the document without one."""

import re
from collections import Counter
from collections.abc import Collection
from itertools import islice
from typing import NamedTuple
from unicodedata import combining, normalize

from garden.grammar.attributes import read_attributes
from garden.grammar.document import SECTION_LEVEL, Document, SectionContent
from garden.grammar.edits import ReplaceSection, WriteFile
from garden.grammar.lines import flat
from garden.grammar.passages import words_of
from garden.passages.extraction import kept_pieces, passages_in
from garden.passages.naming import Naming

# One text may have such a word more than the other. "A" is none: few friends are fewer than a few.
_EMPTY = frozenset({
    "the", "he", "she", "they", "we", "i", "is", "are", "am", "to", "of", "that", "her", "his", "their", "my",
    "our", "der", "das", "er", "ich", "wir", "le", "les", "il", "elle",
})  # fmt: skip
_BULLET = r"[ \t]*(?:(?:[-+*]|[0-9]{1,9}[.)])[ \t]*)?"
_DIGIT = re.compile("[0-9]")
# Every sign that is not ordinary punctuation, as in ~~struck out~~.
_SIGN = re.compile(r"[^\w\s.,;:!\u3001\u3002'\"()\[\]*_`#\u2010-\u2026-]")


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
    folded = text.casefold()
    if not text.isascii():
        folded = "".join(each for each in normalize("NFKD", folded) if not combining(each))
    return all(map(folded.__contains__, words))


def full_words(text: str) -> list[str]:
    """The words of a memory that are not empty, as they are compared."""
    return [word.text for word in words_of(read_attributes(text).words) if word.text not in _EMPTY]


def is_same(first: str, second: str) -> bool:
    """Whether two memories say the same in the same words, but for attributes, form and empty words.

    Another number, name, negation or tense makes another memory: nothing that may contradict is the same.
    """
    texts = [read_attributes(text).words for text in (first, second)]
    signs = [[sign for word in text.casefold().split() for sign in _signs(word)] for text in texts]
    words = [[word.text for word in words_of(text)] for text in texts]
    full = [[word for word in each if word not in _EMPTY] for each in words]
    if signs[0] != signs[1] or full[0] != full[1]:
        return False
    # "He left" and "she left" differ, though both words are empty.
    runs = zip(*map(_empty_runs, words), strict=True)
    return all(first <= second or second <= first for first, second in runs)


def _empty_runs(words: list[str]) -> list[Counter[str]]:
    """The empty words before each full word, and after the last."""
    runs = [Counter[str]()]
    for word in words:
        if word in _EMPTY:
            runs[-1][word] += 1
        else:
            runs.append(Counter())
    return runs


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
