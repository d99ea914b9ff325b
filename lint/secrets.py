"""The forms of secrets: private keys, tokens of well-known services, and values that look like passwords."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from garden.lint.signs import Signs

PRIVATE_KEY = "a private key"


class Secret(NamedTuple):
    """Text that looks like a secret. A `certain` one has a form that nothing else has."""

    start: int
    end: int
    what: str
    certain: bool


@dataclass(frozen=True, slots=True)
class _Shape:
    """The pattern of one kind of secret; searched only if one of its signs occurs."""

    what: str
    signs: frozenset[str]
    pattern: re.Pattern[str]
    certain: bool


def _shape(what: str, keywords: str, pattern: str, *, certain: bool = True) -> _Shape:
    return _Shape(what, frozenset(map(re.escape, keywords.split(","))), re.compile(pattern), certain)


# Long random values mix letters and digits; words, even joined by hyphens, rarely do. The lookahead is
# bounded, and a value begins at a word boundary, so that no text makes the search slow.
_MIXED = r"(?=[\w+/.~-]{0,100}[0-9])(?=[\w+/.~-]{0,100}[A-Za-z])"
_BEGIN = r"(?<![\w-])"

_SHAPES = (
    _shape(PRIVATE_KEY, "private", r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----"),
    _shape(
        "a garden's access token", "mgt.", rf"{_BEGIN}mgt\.[a-z0-9_-]{{1,64}}\.[0-9a-f]{{12}}\.[\w-]{{43}}"
    ),
    _shape("an AWS access key", "akia,asia", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    _shape(
        "a GitHub token",
        "ghp_,gho_,ghu_,ghs_,ghr_,github_pat_",
        r"\bgh[pousr]_[A-Za-z0-9]{36,255}\b|\bgithub_pat_[A-Za-z0-9_]{22,255}\b",
    ),
    _shape("a GitLab token", "glpat-", rf"{_BEGIN}glpat-[\w-]{{20,}}"),
    _shape("a Slack token", "xox", rf"{_BEGIN}xox[abeoprs]-[0-9A-Za-z-]{{10,}}"),
    _shape("an API key", "sk-", rf"{_BEGIN}sk-{_MIXED}[A-Za-z0-9_-]{{20,}}"),
    _shape("a Google API key", "aiza", r"\bAIza[\w-]{35}"),
    _shape("a Stripe key", "k_live,k_test", r"\b[rs]k_(?:live|test)_[0-9A-Za-z]{16,}"),
    _shape(
        "a package registry token",
        "npm_,pypi-",
        rf"{_BEGIN}npm_[A-Za-z0-9]{{36}}\b|{_BEGIN}pypi-[\w-]{{50,}}",
    ),
    _shape("a SendGrid key", "sg.", rf"{_BEGIN}SG\.[\w-]{{16,}}\.[\w-]{{16,}}"),
    _shape("a Hugging Face token", "hf_", r"\bhf_[A-Za-z0-9]{30,}\b"),
    _shape("a signed web token", "eyj", rf"{_BEGIN}eyJ[\w-]{{10,}}\.eyJ[\w-]{{10,}}\.[\w-]{{10,}}"),
    _shape("a bearer token", "bearer", rf"\b[Bb]earer[ \t]{{1,4}}{_MIXED}[\w+/.~-]{{20,}}", certain=False),
    _shape(
        "a password in an address",
        "://",
        r"\b[a-z][a-z0-9+.-]{1,20}://[^\s:/@]{1,64}:[^\s:/@]{3,128}@\w",
        certain=False,
    ),
    _shape(
        "a password or key",
        "passwor,passwd,passphrase,api key,api_key,api-key,apikey,secret,token",
        r"(?i:\b(?:password|passwd|passphrase|passwort|api[ _-]?key|secret(?:[ _-]?key)?"
        r"|(?:access|auth)[ _-]?token|token)\b)"
        rf"""["'`]?[ \t]{{0,4}}[:=][ \t]{{0,4}}["'`]?{_MIXED}[^\s"'`()<>]{{12,}}""",
        certain=False,
    ),
)

SIGNS = frozenset(sign for shape in _SHAPES for sign in shape.signs)
_SIGNS = Signs(SIGNS)
_SIGNS_OF_CERTAIN = Signs(sign for shape in _SHAPES if shape.certain for sign in shape.signs)


def as_seen(text: str) -> str:
    """A text without invisible and full-width characters, which would hide the form of a secret."""
    plain = unicodedata.normalize("NFKC", text)
    return plain.translate({ord(each): None for each in set(plain) if unicodedata.category(each) == "Cf"})


def may_hold_certain_secret(text: str) -> bool:
    """Whether a text has a sign of a certain secret: a cheap test before `secrets_in`."""
    return bool(_SIGNS_OF_CERTAIN.found_in(text))


def may_hold_secret(text: str) -> bool:
    """Whether a text has a sign of any secret, so that `secrets_in` is worth its time."""
    return bool(_SIGNS.found_in(text))


def secrets_in(text: str, signs: frozenset[str] | None = None) -> Iterator[Secret]:
    """Find text that looks like a secret, one form after the other; `signs` are the signs known to occur."""
    found = _SIGNS.found_in(text) if signs is None else signs
    for shape in _SHAPES if found else ():
        if found & shape.signs:
            for match in shape.pattern.finditer(text):
                yield Secret(*match.span(), shape.what, shape.certain)
