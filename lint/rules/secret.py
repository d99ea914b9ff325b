"""Something looks like a secret.

Private keys, the keys and tokens of well-known services, signed web tokens, passwords in addresses, and
long values that are called a password, key or token. Looked for everywhere, in code and frontmatter too.

## Why it matters

A garden is read by agents, copied to its history and kept in the event log. A secret in it is out, and
can't be called back.

## Bad

```markdown
- The key for the calendar is {secret}
```

## Good

```markdown
- The key for the calendar is in the password manager
```

## How to fix it

Take it out, and replace the secret itself where it is used: this copy has been written down. Neither
message nor key of the finding repeat it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from garden.lint.context import Context
from garden.lint.finding import Hit, Severity
from garden.lint.rule import Rule
from garden.lint.signs import Signs


@dataclass(frozen=True, slots=True)
class _Shape:
    """What a kind of secret looks like; without one of the signs, in lower case, it isn't looked for."""

    what: str
    signs: tuple[str, ...]
    pattern: re.Pattern[str]


def _shape(what: str, signs: str, pattern: str) -> _Shape:
    return _Shape(what, tuple(signs.split(" ")), re.compile(pattern))


# Long random values mix letters and digits; words, even joined by hyphens, hardly do. Looking ahead has a
# bound, and a value begins where none is open, so that no text makes the search slow.
_MIXED = r"(?=[\w+/.~-]{0,100}[0-9])(?=[\w+/.~-]{0,100}[A-Za-z])"
_BEGIN = r"(?<![\w-])"

_SHAPES = (
    _shape("a private key", "private", r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----"),
    _shape(
        "a garden's access token", "mgt.", rf"{_BEGIN}mgt\.[a-z0-9_-]{{1,64}}\.[0-9a-f]{{12}}\.[\w-]{{43}}"
    ),
    _shape("an AWS access key", "akia asia", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    _shape(
        "a GitHub token",
        "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_",
        r"\bgh[pousr]_[A-Za-z0-9]{36,255}\b|\bgithub_pat_[A-Za-z0-9_]{22,255}\b",
    ),
    _shape("a GitLab token", "glpat-", rf"{_BEGIN}glpat-[\w-]{{20,}}"),
    _shape("a Slack token", "xox", rf"{_BEGIN}xox[abeoprs]-[0-9A-Za-z-]{{10,}}"),
    _shape("an API key", "sk-", rf"{_BEGIN}sk-{_MIXED}[A-Za-z0-9_-]{{20,}}"),
    _shape("a Google API key", "aiza", r"\bAIza[\w-]{35}"),
    _shape("a Stripe key", "k_live k_test", r"\b[rs]k_(?:live|test)_[0-9A-Za-z]{16,}"),
    _shape(
        "a package registry token",
        "npm_ pypi-",
        rf"{_BEGIN}npm_[A-Za-z0-9]{{36}}\b|{_BEGIN}pypi-[\w-]{{50,}}",
    ),
    _shape("a SendGrid key", "sg.", rf"{_BEGIN}SG\.[\w-]{{16,}}\.[\w-]{{16,}}"),
    _shape("a Hugging Face token", "hf_", r"\bhf_[A-Za-z0-9]{30,}\b"),
    _shape("a signed web token", "eyj", rf"{_BEGIN}eyJ[\w-]{{10,}}\.eyJ[\w-]{{10,}}\.[\w-]{{10,}}"),
    _shape("a bearer token", "bearer", rf"\b[Bb]earer[ \t]{{1,4}}{_MIXED}[\w+/.~-]{{20,}}"),
    _shape(
        "a password in an address", "://", r"\b[a-z][a-z0-9+.-]{1,20}://[^\s:/@]{1,64}:[^\s:/@]{3,128}@\w"
    ),
    _shape(
        "a password or key",
        "passwor passwd passphrase api key api_key api-key apikey secret token",
        r"(?i:\b(?:password|passwd|passphrase|passwort|api[ _-]?key|secret(?:[ _-]?key)?"
        r"|(?:access|auth)[ _-]?token|token)\b)"
        rf"""["'`]?[ \t]{{0,4}}[:=][ \t]{{0,4}}["'`]?{_MIXED}[^\s"'`()<>]{{12,}}""",
    ),
)

_SIGNS = Signs(sign for shape in _SHAPES for sign in shape.signs)


def check(context: Context) -> Iterator[Hit]:
    """Find what looks like a secret, each stretch of text once."""
    end = 0
    for start, stop, what in sorted(_found(context)):
        if start >= end:
            yield Hit(start, f"This looks like {what}.", what)
            end = stop


def _found(context: Context) -> Iterator[tuple[int, int, str]]:
    there = _SIGNS.found_in(context.text)
    for shape in _SHAPES if there else ():
        if not there.isdisjoint(shape.signs):
            for match in shape.pattern.finditer(context.text):
                yield *match.span(), shape.what


RULE = Rule("MG701", "secret", Severity.STYLE, __doc__, check)
