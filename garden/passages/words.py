"""The words of a text for search: stems as hashes, and n-grams where a script has no spaces.

A word in several parts, such as `well-being`, counts as its parts and as one; of `l'ami` only the long part
counts. All forms of a letter are one, except where a language has it as a letter of its own.
"""

import re
from collections.abc import Collection
from functools import lru_cache
from itertools import chain, pairwise, repeat
from struct import pack
from typing import NamedTuple
from unicodedata import normalize
from zlib import crc32

from garden.passages.languages import FALLBACK, stem_of, stop_words

_WORDS_KEPT_MAX = 65_536
_KEPT_CHARACTERS_MAX = 40
# Thai, Lao, Burmese, Khmer, kana, Han and Hangul: no spaces, or words that grow at their end.
_UNSPACED = (
    "\u0e01-\u0e4e\u0e81-\u0ece\u1000-\u109f\u1780-\u17d3\u3005-\u3007\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff66-\uff9f\U00020000-\U000323af"
)
_MARKS = "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0963\u0966-\u0dff"
_LETTERS = rf"(?:[^\W_{_UNSPACED}]++[{_MARKS}]*+)++"
_WHOLE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?![0-9])|[0-9]+(?:[.,:][0-9]+)+"
_WORD = re.compile(rf"{_WHOLE}|[{_UNSPACED}]+|{_LETTERS}(?:['\u2019\-\u2010\u2011]{_LETTERS})*")
_IS_WHOLE, _IS_UNSPACED = re.compile(_WHOLE), re.compile(f"[{_UNSPACED}]+")
_HAN, _HIRAGANA = (
    re.compile("[\u3400-\u9fff\uf900-\ufaff\U00020000-\U000323af]"),
    re.compile("[\u3041-\u309f]+"),
)
_SPLIT, _APOSTROPHE = re.compile(r"['\u2019\-\u2010\u2011]"), re.compile("['\u2019]")


class QueryWord(NamedTuple):
    """A word of a query with its hashes in all languages; a stop word says little about what is sought."""

    text: str
    hashes: frozenset[int]
    is_stop: bool


def word_hashes(text: str, language: str) -> bytes:
    """The hashes of a text's words in order, four bytes each, the lowest first."""
    words = _WORD.findall(text)
    # Long runs of an unspaced script do not come again.
    hashes_of = _hashes if max(map(len, words), default=0) <= _KEPT_CHARACTERS_MAX else _hashes.__wrapped__
    hashes = [*chain.from_iterable(map(hashes_of, words, repeat(language)))]
    return pack(f"<{len(hashes)}I", *hashes)


def query_words(query: str, languages: Collection[str]) -> tuple[QueryWord, ...]:
    """The words of a query, in order, for passages in these languages."""
    spoken = tuple(languages) or (FALLBACK,)
    groups = [_parts(_folded(word)) for word in _WORD.findall(query)]
    stops = stop_words([form for forms, _ in groups for form in forms], spoken)
    return tuple(
        QueryWord(
            form,
            frozenset(_hash(each, language) for each in (form, *whole) for language in spoken),
            form in stops or _HIRAGANA.fullmatch(form) is not None,
        )
        for forms, whole in groups
        for form in forms
    )


def matched_words(text: str, language: str, words: Collection[QueryWord]) -> tuple[str, ...]:
    """The words of a passage, as it has them, that match words of a query; n-grams as they match."""
    sought = frozenset[int]().union(*(word.hashes for word in words))
    found = [
        match
        for word in _WORD.findall(text)
        for match in (_parts(_folded(word))[0] if _IS_UNSPACED.match(word) else (word,))
        if not sought.isdisjoint(_hashes(match, language))
    ]
    return tuple(dict.fromkeys(found))


@lru_cache(_WORDS_KEPT_MAX)
def _hashes(word: str, language: str) -> tuple[int, ...]:
    folded = _folded(word)
    forms, whole = _parts(folded)
    single = _HAN.findall(folded) if len(folded) > 1 else ()
    return tuple(_hash(form, language) for form in (*forms, *whole, *single))


@lru_cache(_WORDS_KEPT_MAX)
def _hash(form: str, language: str) -> int:
    return plain_hash(stem_of(form, language))


def plain_hash(form: str) -> int:
    """The hash of a word without another form, such as a date."""
    return crc32(form.encode())


def _folded(word: str) -> str:
    return word.casefold() if word.isascii() else normalize("NFKC", normalize("NFKC", word).casefold())


def _parts(folded: str) -> tuple[list[str], tuple[str, ...]]:
    """The parts of a word, without letters that stand alone, and the whole if it has several."""
    if _IS_UNSPACED.match(folded):
        return [first + second for first, second in pairwise(folded)] or [folded], ()
    parts = [folded] if _IS_WHOLE.fullmatch(folded) else _SPLIT.split(folded)
    long = [part for part in parts if len(part) > 1 or part.isdigit()] or parts
    # An apostrophe joins two words, or a word and its ending.
    return long, () if len(parts) == 1 or _APOSTROPHE.search(folded) else ("".join(parts),)
