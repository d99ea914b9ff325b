"""Languages: their stemmers and common words, and which one a text is written in."""

import re
import tomllib
from collections import Counter
from collections.abc import Collection, Mapping
from functools import lru_cache
from importlib.resources import files
from itertools import chain
from types import MappingProxyType
from typing import NamedTuple
from unicodedata import normalize

from Stemmer import Stemmer

FALLBACK = "en"
JUDGED_CHARACTERS = 4000
_COMMON_WORDS_MIN = 3
_SHARE_MIN = 5
_WORDS_KEPT_MAX = 16_384
_LETTERS = re.compile(r"[^\W\d_]+")
_CODE = re.compile(r"[a-z]{2,3}")
_PLAIN = {"ø": "o", "æ": "ae", "œ": "oe", "đ": "d", "ł": "l", "\u0131": "i", "ð": "d", "þ": "th"}
_ACCENTED_END = "\u0590"


class Language(NamedTuple):
    """A language: its Snowball stemmer and its common words.

    `letters` with accents are its own, `forms` are read as others, and the `script` alone may tell it.
    """

    stemmer: str | None = None
    words: frozenset[str] = frozenset()
    letters: str = ""
    script: str | None = None
    forms: Mapping[str, str] = MappingProxyType({})


@lru_cache(1)
def languages() -> Mapping[str, Language]:
    """The known languages by code."""
    table = tomllib.loads(files("garden.passages").joinpath("languages.toml").read_text("utf-8"))
    return {
        code: Language(
            **{
                **each,
                "words": frozenset(each.get("words", "").split()),
                "forms": dict(pair.split() for pair in each.get("forms", "").split(",") if pair),
            }
        )
        for code, each in table.items()
    }


@lru_cache(256)
def language_code(value: str | None) -> str | None:
    """The code of a language that a person named, as `de`, `de-AT` or `German`; None if it is none."""
    name = (value or "").strip().casefold().replace("_", "-")
    by_name = {each.stemmer: code for code, each in languages().items()}
    code = by_name.get(name, name.partition("-")[0])
    return code if _CODE.fullmatch(code) else None


@lru_cache(256)
def detected_language(text: str) -> str:
    """The language of a text by its script and its common words; English where they do not decide."""
    for code, each in () if text.isascii() else languages().items():
        if each.script and len(re.findall(f"[{each.script}]", text)) * _SHARE_MIN > len(text):
            return code
    counts = Counter(chain.from_iterable(map(_languages_with, _LETTERS.findall(text.casefold()))))
    best = max(counts, key=counts.__getitem__, default=FALLBACK)
    return best if counts[best] >= max(_COMMON_WORDS_MIN, counts[FALLBACK] + 1) else FALLBACK


@lru_cache(_WORDS_KEPT_MAX)
def _languages_with(word: str) -> tuple[str, ...]:
    return tuple(code for code, each in languages().items() if word in each.words)


def stop_words(forms: Collection[str], spoken: Collection[str]) -> frozenset[str]:
    """The common words of the language, out of those spoken, that these words have most of."""
    common = [languages()[code].words for code in spoken if code in languages()]
    counts = [sum(form in words for form in forms) for words in common]
    most = [words for words, count in zip(common, counts, strict=True) if count == max(counts)]
    return frozenset[str]().union(*most)


def stem_of(word: str, language: str) -> str:
    """The stem of a folded word, without the accents that do not make another letter of it."""
    known = languages().get(language) or Language()
    stem = _stemmer(known.stemmer).stemWord(known.forms.get(word, word)) if known.stemmer else word
    if stem.isascii():
        return stem
    return "".join(each if each in known.letters else _without_accent(each) for each in stem)


def _without_accent(letter: str) -> str:
    is_accented = letter < _ACCENTED_END or "\u1e00" <= letter < "\u2000"
    return _PLAIN.get(letter) or normalize("NFD", letter)[0] if is_accented else letter


@lru_cache
def _stemmer(name: str) -> Stemmer:
    # Its own cache is not safe in threads.
    return Stemmer(name, 0)
