"""Counting words, in scripts that put spaces between them and in scripts that don't.

Between spaces, whatever holds a letter or a digit is one word, so a list marker or a dash is none and a
link with its address is one. Chinese and Japanese run on without spaces: there, two characters of a run
count as one word. Thai, Lao, Burmese and Khmer do too, with longer words: there, five characters do.
"""

import re

_LETTER = re.compile(r"[^\W_]")
_RUNS = (
    (
        re.compile(
            "[\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+"
        ),
        2,
    ),
    (re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]+"), 5),
)


def count_words(text: str) -> int:
    """Count the words of a text."""
    count = 0
    if not text.isascii():
        for run, characters in _RUNS:
            count += sum(-(-len(match) // characters) for match in run.findall(text))
            text = run.sub(" ", text)
    return count + sum(1 for part in text.split() if _LETTER.search(part))


def may_exceed(text: str, words: int) -> bool:
    """Tell, cheaply, whether a text might hold more words than this; exact counting is for those only."""
    # No word is shorter than a character, and in ASCII none is shorter than a part between spaces.
    return len(text) > words and (not text.isascii() or len(text.split()) > words)
