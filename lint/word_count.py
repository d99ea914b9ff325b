"""Counts words, also in scripts without spaces between words.

Text between spaces is one word if it holds a letter or a digit: a list marker or a dash is none, a link with
its address is one. In Chinese and Japanese two characters count as one word; in Thai, Lao, Burmese and Khmer,
which have longer words, five do.
"""

import re

_WORD = re.compile(r"(?<!\S)(?:[^\w\s]|_)*+[^\W_]")
# One or several characters of such a script that count as one word.
_UNSPACED = (
    re.compile(
        "[\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]{1,2}"
    ),
    re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]{1,5}"),
)


def count_words(text: str) -> int:
    """Count the words of a text."""
    count = 0
    if not text.isascii():
        for characters in _UNSPACED:
            text, words = characters.subn(" ", text)
            count += words
    return count + len(_WORD.findall(text))


def may_exceed(text: str, words: int) -> bool:
    """Whether a text may hold more words than this: a cheap test before exact counting."""
    # A word has at least one character, and in ASCII it is a whole part between spaces.
    return len(text) > words and (not text.isascii() or len(text.split()) > words)
